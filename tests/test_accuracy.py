"""Built-in problems by default settings against their stated targets: `pytest -m slow tests/test_accuracy.py`."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import phijax as phi
import phijax.problems
from phijax.problems.references import cavity as cavity_reference

SECONDS = 120
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", phijax.problems.built_in())
def test_default_settings_reach_the_target_in_two_minutes(name, seed):
    file = phijax.problems.get(name)
    solution = phi.solve(file.problem(), seed=seed, max_seconds=SECONDS, progress=False)
    reached = {field: error["relative_l2"] for field, error in solution.errors().items()}
    known = solution.problem.reference
    for parameter, value in solution.parameters.items():
        true = known.parameter(parameter)
        reached[parameter] = abs(value - true) / abs(true)
    target = file.INFO.target
    wanted = target if isinstance(target, dict) else dict.fromkeys(solution.errors(), target)
    assert {of: error for of, error in reached.items() if of in wanted and error > wanted[of]} == {}


@pytest.mark.slow
def test_the_users_file_of_the_cavity_agrees_with_a_galerkin_solution():
    specification = importlib.util.spec_from_file_location("cavity_example", EXAMPLES / "cavity.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    solution = phi.solve(module.cavity(), seed=0, max_seconds=SECONDS, progress=False)
    x, y = np.meshgrid(np.linspace(0, 1, 81), np.linspace(0, 1, 81))
    exact = cavity_reference.reference().solver(x=x.ravel(), y=y.ravel())
    for name in ("u", "v"):
        error = solution[name](x=x, y=y).ravel() - exact[name]
        assert np.linalg.norm(error) <= 1e-2 * np.linalg.norm(exact[name])
