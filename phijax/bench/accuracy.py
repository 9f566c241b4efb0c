"""What error is reached in what time: one run of one case, as a plain record, and what records say together."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from phijax.bench.accuracy_cases import DEFAULT, METHODS, AccuracyCase, Goal, case_named

if TYPE_CHECKING:
    from phijax.evaluation import Solution

# Seconds of a budget that are left for importing, evaluating and writing.
RESERVE = 9.0
LEAST_SECONDS = 3.0
CURVE_POINTS = 60
OVER = 1.05  # times the budget: a run that took longer is marked


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

    def picture(self, results: Path) -> Path | None:
        """Where its solution is drawn: of the first seed by default settings, since the others look alike."""
        return self.path(results).with_suffix(".png") if (self.method, self.seed) == (DEFAULT, 0) else None


def solved(run: Run) -> Solution:
    """Solves a case within its budget."""
    import phijax as phi
    from phijax import problems

    case = case_named(run.case)
    problem = problems.get(case.problem).problem(**case.constants)
    seconds = max(run.budget - RESERVE, LEAST_SECONDS)
    return phi.solve(problem, seed=run.seed, max_seconds=seconds, progress=False, **METHODS[run.method])


def record_of(run: Run, solution: Solution) -> dict[str, Any]:
    """What was reached, in JSON's types. The wall time of the process is its caller's to add."""
    from phijax.evaluation.environment import environment

    found, choice = environment(solution.precision), solution.choice
    return {
        **asdict(run),
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


def reached(case: AccuracyCase, goal: Goal, record: Mapping[str, Any]) -> dict[str, float]:
    """The errors that count: one under "" for the worst field, or one a name. Infinite where a run has failed."""
    errors = {} if has_failed(record) else record["errors"]

    def error(name: str) -> float:
        value = errors.get(name)
        return math.inf if value is None or math.isnan(value) else value

    if isinstance(goal, Mapping):
        return {name: error(name) for name in goal}
    return {"": max((error(name) for name in case.of or tuple(errors)), default=math.inf)}


def has_failed(record: Mapping[str, Any]) -> bool:
    """Whether a run came to no solution."""
    return record["status"] in ("diverged", "failed")


@dataclass(frozen=True)
class Row:
    """What the seeds of a case, a method and a budget have reached.

    median, worst: by what counts. errors: medians of every field and parameter. wall: the longest, in seconds.
    """

    case: str
    method: str
    budget: int
    seeds: int
    failed: int
    median: dict[str, float]
    worst: dict[str, float]
    errors: dict[str, float]
    wall: float
    goal: Goal

    @property
    def goals(self) -> Mapping[str, float]:
        """The goal by what counts."""
        return self.goal if isinstance(self.goal, Mapping) else {"": self.goal}

    @property
    def time(self) -> str:
        """The longest wall time in whole seconds, and whether it is over the budget."""
        return f"{self.wall:.0f}{' (over)' if self.wall > OVER * self.budget else ''}"

    @property
    def met(self) -> bool:
        """Whether the medians are within the goal."""
        return all(self.median[name] <= goal for name, goal in self.goals.items())


def rows_of(records: Iterable[Mapping[str, Any]], cases: Mapping[str, AccuracyCase]) -> list[Row]:
    """One row for each case, budget and method, in the order of the cases."""
    together: dict[tuple[str, int, str], list[Mapping[str, Any]]] = {}
    for record in records:
        together.setdefault((record["case"], record["budget"], record["method"]), []).append(record)
    order = list(cases)
    keys = sorted(together, key=lambda key: (order.index(key[0]), *key[1:]))
    return [_row(cases[key[0]], together[key]) for key in keys]


def _row(case: AccuracyCase, records: Sequence[Mapping[str, Any]]) -> Row:
    first = records[0]
    goal = case.goal(first["budget"])
    numbers = [reached(case, goal, record) for record in records]
    whole = [record for record in records if not has_failed(record)]
    names = dict.fromkeys(name for record in whole for name in record["errors"])
    every = dict.fromkeys(names, 0.0)
    by_name = [reached(case, every, record) for record in records]
    return Row(
        case=first["case"],
        method=first["method"],
        budget=first["budget"],
        seeds=len(records),
        failed=len(records) - len(whole),
        median={key: median(number[key] for number in numbers) for key in numbers[0]},
        worst={key: max(number[key] for number in numbers) for key in numbers[0]},
        errors={name: median(errors[name] for errors in by_name) for name in names},
        wall=max(record.get("wall", math.nan) for record in records),
        goal=goal,
    )


def read_records(results: Path, cases: Iterable[str]) -> list[dict[str, Any]]:
    """The records of these cases under a folder, seed by seed."""
    found = [json.loads(path.read_text(encoding="utf-8")) for case in cases for path in (results / case).glob("*.json")]
    return sorted(found, key=lambda record: (record["budget"], record["method"], record["seed"]))
