"""ResNet and PirateNet: the papers' recurrences in numpy."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.networks import FourierFeatures, PirateNet, ResNet, count_parameters

KEY = jax.random.key(3)


def affine(layer, x):
    return x @ np.asarray(layer.weight) + np.asarray(layer.bias)


def sigma(pair, x):
    return np.tanh(affine(pair.layers[0], x))


def test_value_of_a_residual_network_is_that_of_its_recurrence():
    with precision_scope("float64"):
        network = ResNet(width=5, blocks=2)(KEY, 2, 3)
        x = np.array([0.4, -0.9])
        first, _, *blocks, last = network.layers
        h = np.tanh(affine(first, x))
        for block in blocks:
            one, _, two, _ = block.inner.layers
            h = h + np.tanh(affine(two, np.tanh(affine(one, h))))
        np.testing.assert_allclose(network(jnp.asarray(x)), affine(last, h), rtol=1e-14)
        assert len(blocks) == 2


def test_value_of_an_adaptive_network_is_that_of_the_paper():
    with precision_scope("float64"):
        network = PirateNet(width=4, blocks=2)(KEY, 2, 1)
        shares = [jnp.asarray(0.3), jnp.asarray(-0.7)]
        network = eqx.tree_at(lambda n: [block.share for block in n.blocks], network, shares)
        at = np.array([0.4, -0.9])
        x = affine(network.embedding.layers[0], at)
        u, v = (sigma(encoder, x) for encoder in network.encoders)
        for block in network.blocks:
            f = sigma(block.layers[0], x)
            z = f * u + (1 - f) * v
            g = sigma(block.layers[1], z)
            z = g * u + (1 - g) * v
            share = float(block.share)
            x = share * sigma(block.layers[2], z) + (1 - share) * x
        np.testing.assert_allclose(network(jnp.asarray(at)), affine(network.last, x), rtol=1e-13)


def test_an_adaptive_network_begins_linear_in_its_embedding():
    with precision_scope("float64"):
        network = PirateNet(width=6, blocks=3)(KEY, 2, 1)
        a, b = jnp.array([0.2, -0.5]), jnp.array([0.6, 0.1])
        np.testing.assert_allclose(network(a) + network(b), network(a + b), rtol=1e-13)


def test_fourier_features_of_its_width_are_the_embedding_itself():
    network = FourierFeatures(PirateNet(width=8, blocks=1), features=4)(KEY, 2, 1)
    assert network.layers[1].embedding.layers == ()
    assert count_parameters(network) == 2 * (64 + 8) + 3 * (64 + 8) + 1 + (8 + 1)


def test_all_layers_have_weights_of_their_own():
    for spec, matrices in ((ResNet(width=4, blocks=2), 6), (PirateNet(width=4, blocks=2), 9)):
        weights = [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(spec(KEY, 4, 4)) if leaf.ndim == 2]
        assert len(weights) == len(set(weights)) == matrices


def test_wrong_options_are_refused_by_name_in_residual_networks():
    for kind in (ResNet, PirateNet):
        for options, part in (
            ({"blocks": 0}, "blocks=0"),
            ({"width": 0}, "width=0"),
            ({"activation": "tan"}, "'tanh'"),
        ):
            with pytest.raises(ValueError, match=rf"{kind.__name__}: .*{part}"):
                kind(**options)
