"""Dropout: only with a key, by its probability, the same for all derivatives at a point."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.networks import MLP, Dropout

KEY = jax.random.key(1)


def test_without_a_key_nothing_is_dropped():
    dropped = MLP(width=6, depth=2, dropout=0.5)(KEY, 2, 1)
    plain = MLP(width=6, depth=2)(KEY, 2, 1)
    x = jnp.array([0.2, -0.4])
    np.testing.assert_array_equal(dropped(x), plain(x))


def test_with_a_key_entries_are_zero_at_the_rate_and_scaled_otherwise():
    x = jnp.full(20_000, 3.0)
    y = np.asarray(Dropout(0.25)(x, key=KEY))
    assert set(np.unique(y)) == {0.0, 4.0}
    assert np.mean(y == 0.0) == pytest.approx(0.25, abs=0.01)
    assert np.mean(y) == pytest.approx(3.0, abs=0.05)


def test_key_decides_the_mask_and_layers_draw_apart():
    network = MLP(width=32, depth=2, dropout=0.5)(KEY, 2, 1)
    x = jnp.array([0.2, -0.4])
    keys = jax.random.split(KEY)
    np.testing.assert_array_equal(network(x, key=keys[0]), network(x, key=keys[0]))
    assert network(x, key=keys[0]) != network(x, key=keys[1])
    masks = [np.asarray(Dropout(0.5)(jnp.ones(32), key=jax.random.fold_in(KEY, i))) for i in (2, 5)]
    assert (masks[0] != masks[1]).any()


def test_derivative_is_that_of_the_network_with_the_same_mask():
    with precision_scope("float64"):
        network = MLP(width=16, depth=2, dropout=0.5)(KEY, 1, 1)
        value = lambda x: network(x[None], key=KEY)[0]
        slope = (value(jnp.asarray(0.3 + 1e-6)) - value(jnp.asarray(0.3 - 1e-6))) / 2e-6
        np.testing.assert_allclose(jax.grad(value)(jnp.asarray(0.3)), slope, rtol=1e-8)
