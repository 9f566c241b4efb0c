"""The verb `bench accuracy`: runs that are not there yet, one after the other, and a table of all."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phijax.cli.errors import Exit, UsageError
from phijax.cli.process import configure_jax
from phijax.cli.tables import table
from phijax.evaluation.files import jsonable, write_json
from phijax.formulation.faults import nearest

if TYPE_CHECKING:
    from phijax.bench.accuracy import Row, Run
    from phijax.bench.accuracy_cases import AccuracyCase

GRACE = 3.0  # how many times its budget a run may take before it is ended and counted as failed
CURVE_SHOWN = 6  # losses of a run that missed


def accuracy_verb(
    names: Sequence[str],
    *,
    goals: bool,
    budgets: Sequence[int],
    seeds: int,
    methods: Sequence[str],
    results: str,
    page: str | None,
    as_json: bool,
    only_table: bool,
) -> int:
    """Runs what is asked for and has no record yet; prints what the records say. 4 where a goal is missed."""
    from phijax.bench.accuracy import read_records, rows_of
    from phijax.bench.accuracy_cases import GOALS, METHODS, ONE_MINUTE, TEN_MINUTES, TWO_MINUTES, case_names, select

    for method in methods:
        if method not in METHODS:
            raise UsageError(f"--methods {method}: no method is called so; {nearest(method, METHODS)}.")
    budgets = budgets or ([ONE_MINUTE, TEN_MINUTES] if goals else [TWO_MINUTES])
    if seeds < 1 or any(budget < 1 for budget in budgets):
        raise UsageError("--seeds and --budget are whole numbers of at least 1.")
    cases, folder = _cases(select(names, list(GOALS) if goals else case_names())), Path(results)
    if page is not None:
        from phijax.bench.page import write_page

        print(write_page(cases, folder, Path(page)))
        return Exit.OK
    wanted = [] if only_table else list(_runs(list(cases), methods, budgets, seeds))
    for number, run in enumerate(wanted, 1):
        path = run.path(folder)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            record = _measured(run, run.picture(folder))
            write_json(path, record)
            print(f"[{number}/{len(wanted)}] {_line(record)}", file=sys.stderr, flush=True)
    records = [r for r in read_records(folder, cases) if r["method"] in methods and r["budget"] in budgets]
    rows = rows_of(records, cases)
    if as_json:
        print(json.dumps(jsonable([_entry(row, cases[row.case]) for row in rows]), ensure_ascii=False))
    elif rows:
        print(table(_shown(rows, cases), widest=60))
        print(*_misses(rows, records), sep="\n", end="")
    else:
        print(f"no run has been recorded in {folder}.")
    return Exit.OK if all(row.met for row in rows) else Exit.MISSED


def one_verb(case: str, method: str, budget: int, seed: int, picture: str | None) -> int:
    """Makes one run in this process and prints its record as `RESULT {...}`; only then its solution is drawn."""
    configure_jax("float64", cache=False)
    from phijax.bench.accuracy import Run, record_of, solved
    from phijax.bench.pictures import save_small

    run = Run(case, method, budget, seed)
    solution = solved(run)
    print("RESULT " + json.dumps(record_of(run, solution) | {"ended": time.time()}), flush=True)
    if picture is not None:
        figure = solution.plot()
        figure.suptitle("")
        save_small(figure, Path(picture))
    return Exit.OK


def _cases(names: Sequence[str]) -> dict[str, AccuracyCase]:
    """The cases by name; one whose package is broken is told and left out."""
    from phijax.bench.accuracy_cases import case_named
    from phijax.problems import ProblemError

    found = {}
    for name in names:
        try:
            found[name] = case_named(name)
        except ProblemError as error:
            print(f"phijax: warning: {error}", file=sys.stderr)
    return found


def _runs(cases: Sequence[str], methods: Sequence[str], budgets: Sequence[int], seeds: int) -> Iterator[Run]:
    """Short budgets first, and every case for one seed before the next."""
    from phijax.bench.accuracy import Run

    for budget in sorted(budgets):
        for seed in range(seeds):
            for method in methods:
                yield from (Run(case, method, budget, seed) for case in cases)


def _measured(run: Run, picture: Path | None) -> dict[str, Any]:
    """The record of a run in a process of its own, whose wall time is counted from its start to its result."""
    command = [sys.executable, "-m", "phijax", "bench", "one-accuracy-run"]
    command += [run.case, run.method, str(run.budget), str(run.seed)]
    command += [] if picture is None else ["--picture", str(picture)]
    begun = time.time()
    failed: dict[str, Any] = {**asdict(run), "errors": {}, "status": "failed"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=GRACE * run.budget + 60, check=False)
    except subprocess.TimeoutExpired:
        return failed | {"stop_reason": "did not end in time", "wall": round(time.time() - begun, 1), **_commit()}
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    record: dict[str, Any] = (
        json.loads(lines[-1][7:]) if lines else failed | {"stop_reason": done.stderr.strip()[-500:]}
    )
    return record | {"wall": round(record.pop("ended", time.time()) - begun, 1), **_commit()}


def _commit() -> dict[str, Any]:
    """The commit of the package's own folder, None where it is no checkout."""
    import phijax

    folder = Path(phijax.__file__).parent
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=False)
    return {"commit": done.stdout.strip() or None}


def _line(record: Mapping[str, Any]) -> str:
    errors = ", ".join(f"{name} {error:.1e}" for name, error in record["errors"].items()) or record["stop_reason"]
    return f"{record['case']} {record['method']} {record['budget']} s seed {record['seed']}: {errors} in {record['wall']} s"


def _entry(row: Row, case: AccuracyCase) -> dict[str, Any]:
    return asdict(row) | {"met": row.met, "published": case.info.published, "classical": case.info.classical}


def _shown(rows: Sequence[Row], cases: Mapping[str, AccuracyCase]) -> list[tuple[str, ...]]:
    from phijax.bench.comparison import errors_text

    head = ("case", "method", "budget", "seeds", "failed", "median", "worst", "goal", "", "seconds")
    shown: list[tuple[str, ...]] = [(*head, "classical", "its time", "best published")]
    for row in rows:
        info = cases[row.case].info
        published = f"{errors_text(info.published[0])}, {info.published[1]}" if info.published else ""
        classical = (errors_text(info.classical[0]), f"{info.classical[1]:g} s") if info.classical else ("", "")
        run = (row.case, row.method, f"{row.budget} s", str(row.seeds), str(row.failed or ""))
        for position, (name, goal) in enumerate(row.goals.items()):
            first = position == 0
            met = "met" if row.median[name] <= goal else "missed"
            numbers = (f"{name} {row.median[name]:.1e}".strip(), f"{row.worst[name]:.1e}", f"{goal:.0e}", met)
            beside = (row.time, *classical, published) if first else ("", "", "", "")
            shown.append((*(run if first else ("",) * len(run)), *numbers, *beside))
    return shown


def _misses(rows: Sequence[Row], records: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What each run of a missed goal ended with, and how its loss fell."""
    for row in rows:
        if row.met:
            continue
        yield f"\n{row.case}, {row.method}, {row.budget} s missed its goal:"
        for record in records:
            if (record["case"], record["method"], record["budget"]) == (row.case, row.method, row.budget):
                yield f"  seed {record['seed']}: {record['status']}. {record['stop_reason']}"
                curve = record.get("curve") or []
                shown = curve[:: max(1, -(-len(curve) // CURVE_SHOWN))] + curve[-1:]
                losses = [f"{loss:.1e} at {seconds:.0f} s" for seconds, loss in shown if loss is not None]
                yield f"    loss {', '.join(losses) or 'unknown'}"
    yield ""
