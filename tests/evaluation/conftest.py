"""Solutions without training: known functions in the networks' place, and small untrained networks."""

from types import SimpleNamespace

import jax
import pytest

from phijax._precision import precision_scope
from phijax.evaluation import Solution
from phijax.lowering import ExactLayout
from phijax.networks import MLP
from phijax.training.compiling import compile


@pytest.fixture
def exact_solution():
    """(problem, {field: expression, parameter: value}) -> a Solution whose fields are those expressions."""

    def make(problem, values, precision="float64", **run):
        with precision_scope(precision):
            layout = ExactLayout(problem, values)
            model = layout.model()
        return Solution(
            SimpleNamespace(layout=layout, problem=problem, module=SimpleNamespace(course=None)),
            model,
            precision=precision,
            **run,
        )

    return make


@pytest.fixture
def untrained_solution():
    """problem -> a Solution whose networks are as they start."""

    def make(problem, network=None, precision="float64", seed=0, **run):
        compiled = compile(problem, network=network or MLP(width=8, depth=2), precision=precision)
        with precision_scope(precision):
            model = compiled.module.factory(jax.random.key(seed))
        return Solution(compiled, model, precision=precision, seed=seed, **run)

    return make
