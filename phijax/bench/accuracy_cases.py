"""The cases of the accuracy benchmark: problems with constants, and the errors that are asked for in a time.

Errors are relative, in L2 the worst field's, or by field and by unknown parameter, on two CPU cores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from phijax import problems
from phijax.formulation.faults import nearest
from phijax.problems import Info

Goal = float | Mapping[str, float]
ONE_MINUTE, TWO_MINUTES, TEN_MINUTES = 60, 120, 600


@dataclass(frozen=True)
class AccuracyCase:
    """problem: its name. goals: by budget in seconds. constants: of its declaration, where they are not the defaults.

    of: the fields that count where a goal is one number, all fields unless said.
    """

    problem: str
    goals: Mapping[int, Goal]
    constants: Mapping[str, Any] = field(default_factory=dict)
    of: tuple[str, ...] = ()

    @property
    def info(self) -> Info:
        """What is said of its problem; with other constants, no published or classical figure is the same problem's."""
        info = problems.get(self.problem).INFO
        return replace(info, published=None, classical=None) if self.constants else info

    def goal(self, budget: int) -> Goal:
        """Of the longest time that is not longer than the budget, or of the shortest."""
        within = [seconds for seconds in self.goals if seconds <= budget]
        return self.goals[max(within) if within else min(self.goals)]


def _goals(one_minute: Goal, ten_minutes: Goal) -> dict[int, Goal]:
    return {ONE_MINUTE: one_minute, TEN_MINUTES: ten_minutes}


# What is asked for within one minute and within ten.
GOALS: dict[str, AccuracyCase] = {
    "poisson_2d": AccuracyCase("poisson_2d", _goals(1e-9, 1e-10)),
    "poisson_2d-f4": AccuracyCase("poisson_2d", _goals(5e-7, 1e-8), {"f": 4}),
    "helmholtz": AccuracyCase("helmholtz", _goals(5e-7, 5e-9)),
    "burgers": AccuracyCase("burgers", _goals(5e-6, 3e-7)),
    "allen_cahn": AccuracyCase("allen_cahn", _goals(2e-4, 2e-5)),
    "schrodinger": AccuracyCase("schrodinger", _goals(1e-4, 1e-5)),
    "kdv": AccuracyCase("kdv", _goals(3e-4, 2e-5)),
    "convection": AccuracyCase("convection", _goals(1e-5, 1e-7)),
    "wave_1d": AccuracyCase("wave_1d", _goals(3e-5, 1e-6)),
    "kovasznay": AccuracyCase("kovasznay", _goals(2e-7, 1e-8)),
    "cavity": AccuracyCase("cavity", _goals(2e-3, 3e-4), of=("u", "v")),
    "poisson_10d": AccuracyCase("poisson_10d", _goals(3e-4, 1e-5)),
    "burgers_inverse": AccuracyCase(
        "burgers_inverse", _goals({"lambda1": 5e-4, "lambda2": 5e-3}, {"lambda1": 1e-4, "lambda2": 1e-3})
    ),
    "burgers_inverse-noise": AccuracyCase(
        "burgers_inverse",
        _goals({"lambda1": 2e-3, "lambda2": 2e-2}, {"lambda1": 2e-3, "lambda2": 2e-2}),
        {"noise": 0.01},
    ),
}

DEFAULT = "solve"  # by what `solve` chooses
# What `solve` is given: nothing, or one optimizer alone.
METHODS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "adam": {"optimizer": {"kind": "Adam"}},
    "lbfgs": {"optimizer": {"kind": "LBFGS"}, "precision": "float64"},
    "soap": {"optimizer": {"kind": "SOAP"}},
    "levenberg_marquardt": {"optimizer": {"kind": "LevenbergMarquardt"}},
    "gauss_newton": {"optimizer": {"kind": "GaussNewton", "refresh": 3}},
    "ssbroyden": {"optimizer": {"kind": "SSBroyden"}},
    "spring": {"optimizer": {"kind": "SPRING"}},
}


def case_named(name: str) -> AccuracyCase:
    """One case: its goals are those of `GOALS`, and in two minutes the target that its problem states.

    Raises KeyError where there is no such case, ProblemError where its problem cannot be used.
    """
    row = GOALS.get(name)
    if row is not None and row.constants:
        return row
    target = {TWO_MINUTES: problems.get(name).INFO.target}
    return AccuracyCase(name, target) if row is None else AccuracyCase(name, dict(row.goals) | target, of=row.of)


def case_names() -> list[str]:
    """Every problem, those of other packages too, and after each its cases with constants of their own."""
    found = dict.fromkeys(problems.names()) | dict.fromkeys(GOALS)
    return sorted(found, key=lambda name: (_problem_of(name), name))


def select(names: Sequence[str], among: Sequence[str]) -> list[str]:
    """The cases of those names, and all cases of the problems of those names; all of them where there is no name.

    ValueError, with the nearest name, where there is none such.
    """
    if not names:
        return list(among)
    found: dict[str, None] = {}
    for name in names:
        own = [case for case in among if name in (case, _problem_of(case))]
        if not own:
            raise ValueError(f"{name!r} is no case of the accuracy benchmark; {nearest(name, among)}.")
        found |= dict.fromkeys(own)
    return list(found)


def _problem_of(case: str) -> str:
    return GOALS[case].problem if case in GOALS else case
