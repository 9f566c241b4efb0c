"""Causal weights against the paper's formula in numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.balancing import Causal


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_weights_are_those_of_the_paper(precision):
    at = np.random.default_rng(0).random(200)
    squares = np.random.default_rng(1).random(200)
    causal = Causal(chunks=5, tolerance=3.0)
    chunk = (5 * at).astype(int)
    losses = np.array([squares[chunk == k].mean() for k in range(5)])
    expected = np.array([np.exp(-3.0 * losses[:k].sum()) for k in range(5)])
    with precision_scope(precision):
        found = causal.losses(jnp.asarray(at, precision), jnp.asarray(squares, precision))
        weights = causal.weights(found)
        assert weights.dtype == precision
        rounding = 1e-13 if precision == "float64" else 1e-5
        np.testing.assert_allclose(found, losses, rtol=rounding)
        np.testing.assert_allclose(weights, expected, rtol=rounding)


def test_the_ends_of_time_and_chunks_without_points():
    causal = Causal(chunks=4)
    np.testing.assert_array_equal(causal.chunk(jnp.array([0.0, 0.25, 0.999, 1.0])), [0, 1, 3, 3])
    losses = causal.losses(jnp.array([0.1, 0.9]), jnp.array([2.0, 3.0]))
    np.testing.assert_array_equal(losses, [2.0, 0.0, 0.0, 3.0])
    np.testing.assert_allclose(causal.weights(losses), [1.0, *[np.exp(-2.0)] * 3], rtol=1e-6)


def test_weights_are_constant_under_differentiation():
    slope = jax.grad(lambda scale: jnp.sum(Causal(chunks=2).weights(scale * jnp.ones(2))))(1.0)
    assert slope == 0.0


def test_wrong_options_are_refused_by_name_in_causal_weights():
    for options, part in (({"chunks": 1}, "chunks=1 must be"), ({"tolerance": 0.0}, r"tolerance=0\.0 must be")):
        with pytest.raises(ValueError, match=f"Causal: {part}"):
            Causal(**options)
    assert (Causal.of(True), Causal.of(False), Causal.of(None)) == (Causal(), None, None)
    with pytest.raises(TypeError, match=r"causal=0\.5 must be True, False, or Causal"):
        Causal.of(0.5)
