"""The verb `bench accuracy`: runs that are not there yet, one after the other, and a table of all."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from phijax.cli.errors import Exit, UsageError
from phijax.cli.process import configure_jax
from phijax.cli.tables import table
from phijax.formulation.faults import nearest

GRACE = 3.0  # how many times its budget a run may take before it is ended and counted as failed


def accuracy_verb(
    names: Sequence[str],
    *,
    budgets: Sequence[int],
    seeds: int,
    methods: Sequence[str],
    results: str,
    as_json: bool,
    only_table: bool,
) -> int:
    """Runs what is asked for and has no record yet; prints what the records say. 4 where a goal is missed."""
    from phijax.bench.accuracy import read_records, rows_of
    from phijax.bench.accuracy_cases import METHODS, cases_of

    for method in methods:
        if method not in METHODS:
            raise UsageError(f"--methods {method}: no method is called so; {nearest(method, METHODS)}.")
    if seeds < 1 or any(budget < 1 for budget in budgets):
        raise UsageError("--seeds and --budget are whole numbers of at least 1.")
    cases, folder = list(cases_of(list(names))), Path(results)
    for run in () if only_table else _runs(cases, methods, budgets, seeds):
        path = run.path(folder)
        if not path.exists():
            _write(path, _measured(run))
            print(_line(json.loads(path.read_text(encoding="utf-8"))), file=sys.stderr, flush=True)
    records = [record for record in read_records(folder) if record["case"] in cases]
    rows = [row for row in rows_of(records) if row.method in methods and row.budget in budgets]
    if as_json:
        print(json.dumps([asdict(row) | {"met": row.met} for row in rows]))
    else:
        print(table(_shown(rows)))
    return Exit.OK if all(row.met for row in rows) else Exit.MISSED


def one_verb(case: str, method: str, budget: int, seed: int) -> int:
    """Makes one run in this process and prints its record as `RESULT {...}`."""
    configure_jax("float64", cache=False)
    from phijax.bench.accuracy import Run, measure

    print("RESULT " + json.dumps(measure(Run(case, method, budget, seed))), flush=True)
    return Exit.OK


def _runs(cases: Sequence[str], methods: Sequence[str], budgets: Sequence[int], seeds: int) -> Iterator[Any]:
    """Short budgets first, and every case for one seed before the next."""
    from phijax.bench.accuracy import Run

    for budget in sorted(budgets):
        for seed in range(seeds):
            for method in methods:
                yield from (Run(case, method, budget, seed) for case in cases)


def _measured(run: Any) -> dict[str, Any]:
    """The record of a run in a process of its own, whose wall time is counted from its start to its end."""
    command = [sys.executable, "-m", "phijax", "bench", "one-accuracy-run"]
    command += [run.case, run.method, str(run.budget), str(run.seed)]
    begun = time.monotonic()
    failed = {**asdict(run), "errors": {}, "status": "failed"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=GRACE * run.budget + 60, check=False)
    except subprocess.TimeoutExpired:
        return failed | {"stop_reason": "did not end in time", "wall": round(time.monotonic() - begun, 1), **_commit()}
    wall = round(time.monotonic() - begun, 1)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    record = json.loads(lines[-1][7:]) if lines else failed | {"stop_reason": done.stderr.strip()[-500:]}
    return record | {"wall": wall, **_commit()}


def _commit() -> dict[str, Any]:
    """The commit of the package's own folder, None where it is no checkout."""
    import phijax

    folder = Path(phijax.__file__).parent
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=False)
    return {"commit": done.stdout.strip() or None}


def _write(path: Path, record: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _line(record: dict[str, Any]) -> str:
    errors = ", ".join(f"{name} {error:.1e}" for name, error in record["errors"].items()) or record["stop_reason"]
    return f"{record['case']} {record['method']} {record['budget']} s seed {record['seed']}: {errors} in {record['wall']} s"


def _shown(rows: Sequence[Any]) -> list[tuple[str, ...]]:
    shown: list[tuple[str, ...]] = [("case", "method", "budget", "seeds", "median", "worst", "goal", "", "wall")]
    for row in rows:
        goals = row.goal if isinstance(row.goal, dict) else {"": row.goal}
        for position, (name, goal) in enumerate(goals.items()):
            head = (row.case, row.method, f"{row.budget} s", str(row.seeds)) if position == 0 else ("", "", "", "")
            met = "met" if row.median[name] <= goal else "missed"
            numbers = (f"{row.median[name]:.1e}", f"{row.worst[name]:.1e}", f"{goal:.0e}")
            median = f"{name} {numbers[0]}".strip()
            shown.append((*head, median, *numbers[1:], met, f"{row.wall:.0f} s" if position == 0 else ""))
    return shown
