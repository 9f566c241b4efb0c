"""SIREN: the paper's function in numpy, and its initial weights."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.networks import SIREN, Linear

KEY = jax.random.key(6)


def linear_layers(network):
    return [layer for layer in network.layers if isinstance(layer, Linear)]


def test_value_is_that_of_sines_of_w0_times_each_layer():
    with precision_scope("float64"):
        network = SIREN(width=5, depth=3, w0=7.0)(KEY, 2, 2)
        x = np.array([0.4, -0.9])
        *hidden, last = linear_layers(network)
        h = x
        for layer in hidden:
            h = np.sin(7.0 * (h @ np.asarray(layer.weight) + np.asarray(layer.bias)))
        expected = h @ np.asarray(last.weight) + np.asarray(last.bias)
        np.testing.assert_allclose(network(jnp.asarray(x)), expected, rtol=1e-13)
        assert len(hidden) == 3


def test_initial_weights_are_uniform_within_the_bounds_of_the_paper():
    first, second, last = linear_layers(SIREN(width=200, depth=2, w0=30.0)(KEY, 3, 40))
    for weight, bound in (
        (first.weight, 1 / 3),
        (second.weight, np.sqrt(6 / 200) / 30),
        (last.weight, np.sqrt(6 / 200) / 30),
    ):
        assert np.max(np.abs(weight)) <= bound * (1 + 1e-6)
        assert np.std(weight) == pytest.approx(bound / np.sqrt(3), rel=0.03)
    assert np.std(first.bias) == pytest.approx(3**-0.5 / np.sqrt(3), rel=0.15)
    np.testing.assert_array_equal(last.bias, 0)


def test_sines_have_inputs_of_a_variance_near_one_however_deep():
    """For weights alone, since biases add phases: v = 1 after the first layer, then 1 - exp(-2 v), towards 0.797."""
    with precision_scope("float64"):
        layers = linear_layers(SIREN(width=400, depth=6, w0=30.0)(KEY, 1, 1))
        h = np.sin(30 * (np.linspace(-1, 1, 200)[:, None] @ np.asarray(layers[0].weight) + np.asarray(layers[0].bias)))
        variance = 1.0
        for layer in layers[1:-1]:
            z = 30 * h @ np.asarray(layer.weight)
            assert np.var(z) == pytest.approx(variance, rel=0.08)
            h, variance = np.sin(z), 1 - np.exp(-2 * variance)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_every_weight_of_a_siren_is_of_the_ambient_precision(precision):
    with precision_scope(precision):
        assert {leaf.dtype.name for leaf in jax.tree.leaves(SIREN(width=4)(KEY, 2, 1))} == {precision}


def test_wrong_options_are_refused_by_name_in_a_siren():
    for options, part in (({"w0": 0}, "w0=0 must be"), ({"depth": 0}, "depth=0 must"), ({"width": 1.5}, r"width=1\.5")):
        with pytest.raises(ValueError, match=f"SIREN: {part}"):
            SIREN(**options)
