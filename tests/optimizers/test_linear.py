"""Linear least squares against numpy, to rounding, where normal equations would lose half of the digits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax.optimizers import LeastSquaresSystem, LinearLeastSquares

COUNT, ROWS = 12, 40


def monomials(x):
    return jnp.stack([x**k for k in range(COUNT)])


def system(power=1, bent=0.0):
    def pointwise(params, x):
        return {"": jnp.sum(monomials(x) * (params**power + bent * params**2)) - jnp.exp(x)}

    return LeastSquaresSystem({"fit": pointwise}, jnp.ones(COUNT))


def solved(power=1, points=None, bent=0.0):
    points = jnp.linspace(0, 1, ROWS) if points is None else points
    own, solver = system(power, bent), LinearLeastSquares()
    theta, weights = jnp.zeros(COUNT) + 0.5, {"fit": 1.0}
    theta, state, first = solver.step(own, theta, solver.init(theta), {"fit": points}, weights)
    same, _, second = solver.step(own, theta, state, {"fit": points[::2]}, weights)
    np.testing.assert_array_equal(same, theta)
    return theta, first, second


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def test_an_ill_conditioned_fit_agrees_with_numpy_to_rounding():
    theta, first, second = solved()
    x = np.linspace(0, 1, ROWS)
    matrix = np.stack([x**k for k in range(COUNT)], axis=1)  # condition number 4e9
    expected, *_ = np.linalg.lstsq(matrix, np.exp(x), rcond=1e-15)
    assert np.abs(matrix @ np.asarray(theta) - np.exp(x)).max() < 2e-15
    np.testing.assert_allclose(matrix @ np.asarray(theta), matrix @ expected, atol=2e-15)
    assert first.stop is None
    assert second.stop.startswith("The linear problem is solved: the loss fell from")
    assert f"{COUNT} directions were told apart" in second.stop


def test_directions_that_the_points_do_not_tell_apart_stay_as_they_are():
    theta, _, second = solved(points=jnp.tile(jnp.asarray([0.0, 0.5]), 20))
    np.testing.assert_allclose(monomials(0.5) @ theta, np.exp(0.5), rtol=1e-14)
    assert "2 directions were told apart" in second.stop


def test_a_residual_that_is_not_linear_is_refused():
    with pytest.raises(ValueError, match=r"not linear in the parameters: a loss of .* take GaussNewton"):
        solved(power=3)


@pytest.mark.parametrize("bent", [1e-2, 1e-4])
def test_a_residual_that_is_all_but_linear_is_refused_too(bent):
    with pytest.raises(ValueError, match="the residual is not linear in the parameters"):
        solved(bent=bent)


def test_the_cutoff_is_checked():
    with pytest.raises(ValueError, match="cutoff=1 must be a finite number from 0 to below 1"):
        LinearLeastSquares(cutoff=1)
