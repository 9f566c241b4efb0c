"""ModifiedMLP: the paper's recurrence in numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.networks import ModifiedMLP, count_parameters

KEY = jax.random.key(2)


def test_value_is_that_of_the_gated_recurrence():
    with precision_scope("float64"):
        network = ModifiedMLP(width=6, depth=3)(KEY, 2, 2)

        def sigma(layer, x):
            return np.tanh(x @ np.asarray(layer.layers[0].weight) + np.asarray(layer.layers[0].bias))

        x = np.array([0.4, -0.9])
        u, v = (sigma(encoder, x) for encoder in network.encoders)
        h = sigma(network.first, x)
        for layer in network.gated:
            z = sigma(layer, h)
            h = (1 - z) * u + z * v
        expected = h @ np.asarray(network.last.weight) + np.asarray(network.last.bias)
        np.testing.assert_allclose(network(jnp.asarray(x)), expected, rtol=1e-14)
        assert len(network.gated) == 2


def test_all_layers_have_different_weights():
    network = ModifiedMLP(width=4, depth=3)(KEY, 4, 4)
    weights = [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(network) if leaf.ndim == 2]
    assert len(weights) == len(set(weights)) == 6
    assert count_parameters(network) == 6 * (4 * 4 + 4)


def test_wrong_options_are_refused_by_name_in_the_gated_network():
    with pytest.raises(ValueError, match="ModifiedMLP: depth=1 must be a whole number of at least 2"):
        ModifiedMLP(depth=1)
    with pytest.raises(ValueError, match="ModifiedMLP: width=0 must be"):
        ModifiedMLP(width=0)
    with pytest.raises(ValueError, match=r"ModifiedMLP: activation='gelo' is not known. Did you mean 'gelu'\?"):
        ModifiedMLP(activation="gelo")
