"""What error is reached in what time: one run of one case, as a plain record, and what records say together."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from phijax.bench.accuracy_cases import CASES, METHODS, AccuracyCase, Goal

# Seconds of a budget that are left for importing, evaluating and writing.
RESERVE = 9.0
LEAST_SECONDS = 3.0
CURVE_POINTS = 60


@dataclass(frozen=True)
class Run:
    """One run of the benchmark: a case, a method, a budget in seconds of the whole process, and a seed."""

    case: str
    method: str
    budget: int
    seed: int

    def path(self, results: Path) -> Path:
        """Where its record lies."""
        return results / self.case / f"{self.method}-{self.budget}s-seed{self.seed}.json"


def measure(run: Run) -> dict[str, Any]:
    """Solves a case and tells, in JSON's types, what was reached. The wall time of the process is its caller's to add."""
    import phijax as phi
    from phijax import problems
    from phijax.evaluation.environment import environment

    case = CASES[run.case]
    problem = problems.get(case.problem).problem(**case.constants)
    seconds = max(run.budget - RESERVE, LEAST_SECONDS)
    solution = phi.solve(problem, seed=run.seed, max_seconds=seconds, progress=False, **METHODS[run.method])
    found, choice = environment(solution.precision), solution.choice
    return {
        "case": run.case,
        "method": run.method,
        "budget": run.budget,
        "seed": run.seed,
        "errors": errors_of(solution),
        "status": solution.status,
        "stop_reason": solution.stop_reason,
        "steps": solution.steps,
        "seconds": {name: round(value, 2) for name, value in solution.summary()["seconds"].items()},
        "choice": list(choice.reasons) if choice is not None else [],
        "curve": curve_of(solution),
        "versions": {name: found["versions"][name] for name in ("phijax", "python", "jax", "numpy", "scipy")},
        "cpus": found["cpus"],
        "platform": found["platform"],
    }


def errors_of(solution: Any) -> dict[str, float]:
    """Relative errors: in L2 of the fields, of the value of the unknown parameters."""
    errors = {name: error["relative_l2"] for name, error in solution.errors().items()}
    for name, value in solution.parameters.items():
        known = solution.problem.reference.parameter(name)
        if known is not None:
            errors[name] = abs(value - known) / abs(known)
    return errors


def curve_of(solution: Any) -> list[list[float]]:
    """[seconds of training, weighted loss], at most `CURVE_POINTS` of them."""
    records = solution.history.records
    every = max(1, math.ceil(len(records) / CURVE_POINTS))
    return [[round(record["seconds"], 2), float(f"{record['total']:.3g}")] for record in records[::every]]


def reached(case: AccuracyCase, record: Mapping[str, Any]) -> dict[str, float]:
    """The errors that count: one under "" for the worst field, or one a parameter. Infinite where a run has failed."""
    goal = next(iter(case.goals.values()))
    errors, failed = record.get("errors", {}), record.get("status") in ("diverged", "failed")
    if isinstance(goal, Mapping):
        return {name: math.inf if failed else errors[name] for name in goal}
    names = case.of or tuple(errors)
    return {"": math.inf if failed else max(errors[name] for name in names)}


@dataclass(frozen=True)
class Row:
    """What the seeds of a case, a method and a budget have reached. median, worst: by what counts; wall: the longest."""

    case: str
    method: str
    budget: int
    seeds: int
    median: dict[str, float]
    worst: dict[str, float]
    wall: float
    goal: Goal

    @property
    def met(self) -> bool:
        """Whether the medians are within the goal."""
        goals = self.goal if isinstance(self.goal, Mapping) else {"": self.goal}
        return all(self.median[name] <= goals[name] for name in goals)


def rows_of(records: Iterable[Mapping[str, Any]]) -> list[Row]:
    """One row for each case, budget and method, in the order of the cases."""
    together: dict[tuple[str, int, str], list[Mapping[str, Any]]] = {}
    for record in records:
        together.setdefault((record["case"], record["budget"], record["method"]), []).append(record)
    rows = []
    for (name, budget, method), own in together.items():
        case = CASES[name]
        numbers = [reached(case, record) for record in own]
        rows.append(
            Row(
                name,
                method,
                budget,
                len(own),
                {key: median(number[key] for number in numbers) for key in numbers[0]},
                {key: max(number[key] for number in numbers) for key in numbers[0]},
                max(record.get("wall", math.nan) for record in own),
                _goal_of(case, budget),
            )
        )
    order = list(CASES)
    return sorted(rows, key=lambda row: (order.index(row.case), row.budget, row.method))


def _goal_of(case: AccuracyCase, budget: int) -> Goal:
    """Of the longest budget that is not longer, or of the shortest one."""
    within = [seconds for seconds in case.goals if seconds <= budget]
    return case.goals[max(within) if within else min(case.goals)]


def read_records(results: Path) -> list[dict[str, Any]]:
    """All records under a folder whose cases are known."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*/*.json"))]
    return [record for record in found if record["case"] in CASES]
