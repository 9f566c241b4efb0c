"""Damped normal equations on host and device, against a dense solve of the definition."""

import jax.numpy as jnp
import numpy as np
import pytest

from phijax._devices import ONE_DEVICE
from phijax._precision import precision_scope
from phijax.optimizers.normal import NormalEquations, _Device

BACKENDS = [NormalEquations, lambda jacobian: _Device(jacobian, ONE_DEVICE)]  # here the first is host BLAS


@pytest.fixture(autouse=True)
def double():
    with precision_scope("float64"):
        yield


def definition(jacobian, v, damping):
    gram = jacobian.T @ jacobian
    return np.linalg.solve(gram + damping * np.diag(gram).mean() * np.eye(len(gram)), -jacobian.T @ v)


@pytest.mark.parametrize("shape", [(30, 8), (8, 30), (12, 12)])
@pytest.mark.parametrize("backend", BACKENDS)
def test_solution_is_that_of_the_definition_for_more_and_for_fewer_rows_than_parameters(shape, backend):
    rng = np.random.default_rng(3)
    jacobian, v, w = rng.standard_normal(shape), rng.standard_normal(shape[0]), rng.standard_normal(shape[0])
    normal = backend(jnp.asarray(jacobian))
    for damping in (1e-1, 1e-4):
        solve = normal.factor(damping)
        np.testing.assert_allclose(solve(jnp.asarray(v)), definition(jacobian, v, damping), rtol=1e-8)
        np.testing.assert_allclose(solve(jnp.asarray(w)), definition(jacobian, w, damping), rtol=1e-8)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_matrix_that_is_not_positive_definite_gives_no_factor(backend):
    jacobian = jnp.concatenate([jnp.ones((9, 2)), -jnp.ones((9, 1))], axis=1)
    assert backend(jacobian).factor(-1e-3) is None
    v = jnp.arange(9.0)
    damped = backend(jacobian).factor(1e-3)(v)
    np.testing.assert_allclose(damped, definition(np.asarray(jacobian), np.asarray(v), 1e-3), rtol=1e-8)


def test_float32_stays_float32():
    with precision_scope("float32"):
        jacobian = jnp.ones((5, 3)) + jnp.eye(5, 3)
        assert NormalEquations(jacobian).factor(0.1)(jnp.ones(5)).dtype == jnp.float32
