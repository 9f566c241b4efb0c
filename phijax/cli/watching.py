"""`phijax watch`: follows the records of a run that goes on in another process."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from phijax._numbers import is_whole
from phijax.cli.errors import Exit
from phijax.cli.tables import table
from phijax.evaluation import RunDirectory
from phijax.evaluation.run_directory import SUMMARY, is_summary
from phijax.training.metrics import METRICS_FILE

PAUSE = 0.5  # seconds between looks
MOST_TERMS = 12  # of a panel

Line = dict[str, Any]


def watch_verb(run_dir: str, pause: float = PAUSE) -> int:
    """Shows each record as it comes: a panel on a terminal, else a line. Ends with the run; by Ctrl-C, code 130."""
    run = RunDirectory.open(run_dir)
    lines = follow(run.path, pause)
    told = _watch_panel(run, lines) if sys.stdout.isatty() else _watch_lines(lines)
    summary = _summary(run.path) or {}
    end = f"{summary.get('status', 'ended')} at step {summary.get('steps')}: {summary.get('stop_reason', '')}"
    if end != told:
        print(end, flush=True)
    return Exit.OK


def follow(folder: Path, pause: float = PAUSE) -> Iterator[Line | None]:
    """Records and events of a run from its first to its last, None at each look that finds nothing new.

    A line that is still being written waits for its end. Where a resume has cut the file back, reading begins anew, and
    what was told already is not told again.
    """
    path, begun = folder / METRICS_FILE, 0
    told: dict[Any, int] = {}  # the last step, by seed where there are several
    while True:
        over = _is_over(folder, path)  # looked at first, so that no record after the last look is missed
        size = path.stat().st_size if path.exists() else 0
        begun = 0 if size < begun else begun
        found = False
        for line, end in _whole_lines(path, begun) if size > begun else ():
            begun = end
            last = told.get(line.get("seed"), -1)
            if line["step"] > last or "event" in line:
                told[line.get("seed")] = max(last, line["step"])
                found = True
                yield line
        if over:
            return
        if not found:
            yield None
            time.sleep(pause)


def _whole_lines(path: Path, begin: int) -> Iterator[tuple[Line, int]]:
    with path.open("rb") as file:
        file.seek(begin)
        for text in file:
            if not text.endswith(b"\n"):
                return
            begin += len(text)
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                continue  # cut by a run that was killed
            if isinstance(line, dict) and is_whole(line.get("step"), least=0):
                yield line, begin


def _summary(folder: Path) -> Line | None:
    """The summary of a run that has come to an end, None before."""
    try:
        found = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if is_summary(found) else None


def _is_over(folder: Path, metrics: Path) -> bool:
    """Whether a summary was written after the last record: one that is older is of a run that was gone on with."""
    if _summary(folder) is None:
        return False
    try:
        return (folder / SUMMARY).stat().st_mtime_ns >= metrics.stat().st_mtime_ns
    except OSError:
        return True


def _watch_lines(lines: Iterator[Line | None]) -> str:
    """A line a record under a head that names the columns. Gives the last event as it was told."""
    head: list[str] = []
    told = ""
    for line in lines:
        if line is None:
            continue
        if "event" in line:
            whose = f"seed {line['seed']}: " if "seed" in line else ""
            told = f"{whose}{line['event']} at step {line['step']}: {line.get('reason', '')}".rstrip(": ")
            print(told, flush=True)
            continue
        entries = _entries(line)
        if list(entries) != head:
            head = list(entries)
            print("  ".join(name.rjust(max(len(name), 10)) for name in head), flush=True)
        print("  ".join(value.rjust(max(len(name), 10)) for name, value in entries.items()), flush=True)
    return told


def _entries(line: Line) -> dict[str, str]:
    entries = {"seed": str(line["seed"])} if "seed" in line else {}
    entries |= {"step": str(line["step"]), "total": _number(line.get("total"))}
    entries |= {term: _number(value) for term, value in line.get("losses", {}).items()}
    entries |= {name: _number(value) for name, value in line.get("parameters", {}).items()}
    return entries | {"seconds": f"{line.get('seconds') or 0:.1f}"}


def _number(value: Any) -> str:
    return f"{value:.3e}" if isinstance(value, int | float) else "-" if value is None else str(value)


def _watch_panel(run: RunDirectory, lines: Iterator[Line | None]) -> str:
    """A panel that changes with each record, and the last one at the end, where no event is told."""
    from rich.console import Console
    from rich.live import Live

    config = run.config
    last, events = None, []
    with Live(console=Console(), refresh_per_second=4, transient=True) as live:
        for line in lines:
            if line is not None and "event" in line:
                events.append(line)
            elif line is not None:
                last = line
            live.update(panel(run.path, config, last, events))
    if last is not None:
        print("\n".join(f"{name}  {value}" for name, value in _entries(last).items()))
    return ""


def panel(folder: Path, config: Line, last: Line | None, events: list[Line]) -> Any:
    """What is known of a run, as a rich panel."""
    from rich.panel import Panel
    from rich.text import Text

    whose = f"seed {last['seed']} of {config['seeds']}" if last and "seed" in last else f"seed {config.get('seed')}"
    title = f"{config.get('problem', folder.name)}, {whose}"
    if last is None:
        return Panel(Text("no record yet: it is compiling, or was stopped before its first step"), title=title)
    most, step, seconds = config.get("max_steps"), last["step"], last.get("seconds") or 0.0
    place = f"step {step}" + (f" of {most}" if most else "")
    rate = f", {step / seconds:.1f} steps a second" if seconds > 0 and step > 0 else ""
    left = f", {(most - step) * seconds / step:.0f} s to its last step" if most and seconds > 0 and step > 0 else ""
    stage = 1 + sum(event["event"] == "stage" for event in events)
    rows = [("term", "loss", "weight", "weighted")]
    for term, loss in list(last.get("losses", {}).items())[:MOST_TERMS]:
        weight, weighted = (last.get(part, {}).get(term) for part in ("weights", "weighted"))
        rows.append((term, _number(loss), _number(weight), _number(weighted)))
    rows.append(("total", "", "", _number(last.get("total"))))
    unknown = "\n".join(f"{name} = {_number(value)}" for name, value in last.get("parameters", {}).items())
    body = f"{place}, stage {stage}, {seconds:.0f} s{rate}{left}\n\n{table(rows)}" + (
        f"\n\n{unknown}" if unknown else ""
    )
    return Panel(Text(body), title=title, subtitle=str(folder))
