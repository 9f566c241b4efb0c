"""The cases of the accuracy benchmark: built-in problems with constants, and the errors that are asked for.

Goals are relative L2 errors, the worst field's, or by unknown parameter, within one and within ten minutes on two CPU cores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Goal = float | Mapping[str, float]
ONE_MINUTE, TEN_MINUTES = 60, 600


@dataclass(frozen=True)
class AccuracyCase:
    """problem: a built-in one's name. constants: of its declaration. goals: by budget in seconds.

    of: the fields and parameters that count, all fields unless said.
    """

    problem: str
    goals: Mapping[int, Goal]
    constants: Mapping[str, Any] = field(default_factory=dict)
    of: tuple[str, ...] = ()


def _goals(one_minute: Goal, ten_minutes: Goal) -> dict[int, Goal]:
    return {ONE_MINUTE: one_minute, TEN_MINUTES: ten_minutes}


CASES: dict[str, AccuracyCase] = {
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
        "burgers_inverse",
        _goals({"lambda1": 5e-4, "lambda2": 5e-3}, {"lambda1": 1e-4, "lambda2": 1e-3}),
        of=("lambda1", "lambda2"),
    ),
    "burgers_inverse-noise": AccuracyCase(
        "burgers_inverse",
        _goals({"lambda1": 2e-3, "lambda2": 2e-2}, {"lambda1": 2e-3, "lambda2": 2e-2}),
        {"noise": 0.01},
        of=("lambda1", "lambda2"),
    ),
}

# What `solve` is given: nothing, or one optimizer alone.
METHODS: dict[str, dict[str, Any]] = {
    "solve": {},
    "adam": {"optimizer": {"kind": "Adam"}},
    "lbfgs": {"optimizer": {"kind": "LBFGS"}, "precision": "float64"},
    "soap": {"optimizer": {"kind": "SOAP"}},
    "levenberg_marquardt": {"optimizer": {"kind": "LevenbergMarquardt"}},
    "gauss_newton": {"optimizer": {"kind": "GaussNewton", "refresh": 3}},
    "ssbroyden": {"optimizer": {"kind": "SSBroyden"}},
    "spring": {"optimizer": {"kind": "SPRING"}},
}


def cases_of(names: list[str]) -> dict[str, AccuracyCase]:
    """The cases of those names, and all cases of the problems of those names; all cases where there is no name.

    ValueError, with the nearest name, where there is none such.
    """
    from phijax.formulation.faults import nearest

    if not names:
        return dict(CASES)
    found: dict[str, AccuracyCase] = {}
    for name in names:
        own = {key: case for key, case in CASES.items() if name in (key, case.problem)}
        if not own:
            raise ValueError(f"{name!r} is no case of the accuracy benchmark; {nearest(name, CASES)}.")
        found |= {name: CASES[name]} if name in CASES and CASES[name].constants else own
    return found
