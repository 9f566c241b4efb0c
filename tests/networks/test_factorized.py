"""Random weight factorization: the same function at the start, a scale for each unit, and both are trained."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.networks import MLP, FactorizedLinear, ModifiedMLP, PirateNet, ResNet, count_parameters

KEY = jax.random.key(8)
X = np.array([0.4, -0.9])


def factorized_layers(network):
    leaves = jax.tree.leaves(network, is_leaf=lambda node: isinstance(node, FactorizedLinear))
    return [leaf for leaf in leaves if isinstance(leaf, FactorizedLinear)]


@pytest.mark.parametrize("kind", [MLP, ModifiedMLP, ResNet, PirateNet])
def test_a_factorized_network_begins_as_the_plain_one(kind):
    with precision_scope("float64"):
        plain, network = kind(width=7)(KEY, 2, 2), kind(width=7, factorized=(0.8, 0.3))(KEY, 2, 2)
        np.testing.assert_allclose(network(jnp.asarray(X)), plain(jnp.asarray(X)), rtol=1e-12)
        layers = factorized_layers(network)
        units = sum(layer.bias.size for layer in layers)
        assert count_parameters(network) == count_parameters(plain) + units


def test_scales_are_normal_with_the_mean_and_deviation_asked_for():
    network = MLP(width=4000, depth=1, factorized=(1.0, 0.2))(KEY, 2, 1)
    scale = factorized_layers(network)[0].log_scale
    assert np.mean(scale) == pytest.approx(1.0, abs=4 * 0.2 / np.sqrt(4000))
    assert np.std(scale) == pytest.approx(0.2, rel=0.05)
    assert MLP(factorized=True) == MLP(factorized=(0.5, 0.1))
    assert MLP(factorized=False) == MLP()


def test_gradients_by_scale_and_direction_are_those_of_the_product():
    """By the chain rule: g exp(s) for the direction, sum g W over the inputs for the scale, g by the weight W."""
    with precision_scope("float64"):
        layer = factorized_layers(MLP(width=3, depth=0, factorized=(0.5, 0.4))(KEY, 2, 3))[0]
        x, out = jnp.asarray(X), jnp.array([1.0, -2.0, 0.5])
        slope = jax.grad(lambda layer: out @ layer(x))(layer)
        by_weight, scale = np.outer(X, out), np.exp(np.asarray(layer.log_scale))
        np.testing.assert_allclose(slope.direction, by_weight * scale, rtol=1e-13)
        np.testing.assert_allclose(
            slope.log_scale, (by_weight * np.asarray(layer.direction) * scale).sum(0), rtol=1e-13
        )


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_every_leaf_of_a_factorized_network_is_of_the_ambient_precision(precision):
    with precision_scope(precision):
        assert {leaf.dtype.name for leaf in jax.tree.leaves(MLP(width=4, factorized=True)(KEY, 2, 1))} == {precision}


@pytest.mark.parametrize("kind", [MLP, ModifiedMLP, ResNet, PirateNet])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "factorized=3 must be True, False, or the mean and the deviation"),
        ((1.0,), r"factorized=\(1\.0,\) must be True, False"),
        ((1.0, -0.1), r"deviation of factorized=-0\.1 must be a finite number of at least 0"),
        ((float("inf"), 0.1), "mean of factorized=inf must be a finite number"),
    ],
)
def test_wrong_factorizations_are_refused_by_name(kind, value, message):
    with pytest.raises(ValueError, match=f"{kind.__name__}: {message}"):
        kind(factorized=value)
