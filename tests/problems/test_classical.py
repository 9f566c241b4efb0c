"""Classical solvers reach the errors that the problems state beside the networks'."""

import pytest

from phijax import problems
from phijax.problems.references.classical import solvers

QUICK = [
    "biharmonic", "convection", "fokker_planck", "heat_1d", "heat_4d", "heat_multiscale", "heat_parametric", "helmholtz",
    "lotka_volterra", "poisson_1d", "poisson_2d", "poisson_5d", "poisson_multiscale", "rod_interface", "van_der_pol",
    "volterra", "wave_1d",
]  # fmt: skip
ROUNDING = 1e-13
NONE = {"beltrami", "poisson_inverse"}


@pytest.mark.parametrize("name", QUICK)
def test_a_classical_solver_reaches_its_stated_error(name):
    error, method = solvers()[name]()
    stated, seconds, told = problems.get(name).INFO.classical
    assert error < max(2 * stated, ROUNDING)
    assert seconds > 0
    assert told == method


def test_every_problem_has_a_classical_figure_or_is_known_to_have_none():
    stated = {name for name in problems.names() if problems.get(name).INFO.classical is not None}
    assert set(solvers()) == stated == set(problems.names()) - NONE
