"""MLP: its function against numpy, its shapes, its initial weights, its options."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.networks import ACTIVATIONS, MLP, Dropout, Elementwise, Linear, count_parameters

KEY = jax.random.key(0)
NUMPY_ACTIVATIONS = {
    "tanh": np.tanh,
    "sin": np.sin,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.log(1 + np.exp(x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
    "elu": lambda x: np.where(x > 0, x, np.exp(x) - 1),
    "gelu": lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2))),
}


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_value_is_that_of_numpy_for_every_activation(name):
    with precision_scope("float64"):
        network = MLP(width=5, depth=2, activation=name)(KEY, 3, 2)
        x = np.array([0.3, -1.2, 0.7])
        h = x
        for layer in network.layers:
            is_linear = isinstance(layer, Linear)
            h = h @ np.asarray(layer.weight) + np.asarray(layer.bias) if is_linear else NUMPY_ACTIVATIONS[name](h)
        np.testing.assert_allclose(network(jnp.asarray(x)), h, rtol=1e-14)


def test_layers_are_explicit_and_weights_are_in_by_out():
    network = MLP(width=(7, 5), activation="sin", dropout=0.5)(KEY, 3, 2)
    kinds = [type(layer) for layer in network.layers]
    assert kinds == [Linear, Elementwise, Dropout, Linear, Elementwise, Dropout, Linear]
    assert [layer.weight.shape for layer in network.layers if isinstance(layer, Linear)] == [(3, 7), (7, 5), (5, 2)]


def test_depth_zero_is_a_linear_map():
    network = MLP(width=8, depth=0)(KEY, 3, 2)
    (layer,) = network.layers
    x = jnp.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(network(x), x @ layer.weight + layer.bias)
    np.testing.assert_array_equal(layer.bias, np.zeros(2))


def test_parameters_of_three_hidden_layers_of_twenty():
    assert count_parameters(MLP(width=20, depth=3)(KEY, 2, 1)) == (2 * 20 + 20) + 2 * (20 * 20 + 20) + (20 + 1)


@pytest.mark.parametrize(
    ("activation", "variance"),
    [("tanh", 2 / 500), ("sin", 2 / 500), ("sigmoid", 2 / 500), ("elu", 1 / 300)]
    + [(name, 2 / 300) for name in ("relu", "gelu", "silu", "softplus")],
)
def test_initial_weights_have_the_variance_that_suits_the_activation(activation, variance):
    """Glorot's, LeCun's and He's laws, from 300 inputs to 200 outputs."""
    network = MLP(width=(300, 200), activation=activation)(KEY, 100, 1)
    hidden = network.layers[2].weight
    assert np.std(hidden) == pytest.approx(np.sqrt(variance), rel=0.01)
    assert np.mean(hidden) == pytest.approx(0.0, abs=1e-3)
    # The last layer has no activation behind it, hence Glorot's law.
    assert np.std(network.layers[-1].weight) == pytest.approx(np.sqrt(2 / 201), rel=0.15)


def test_layers_have_different_keys_and_equal_keys_give_equal_bits():
    spec = MLP(width=4, depth=3)
    network, again = spec(KEY, 4, 4), spec(KEY, 4, 4)
    assert eqx.tree_equal(network, again)
    weights = [np.asarray(layer.weight).tobytes() for layer in network.layers if isinstance(layer, Linear)]
    assert len(set(weights)) == 4


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_every_leaf_is_an_array_of_the_ambient_precision(precision):
    with precision_scope(precision):
        network = MLP(width=4, depth=2, dropout=0.2)(KEY, 2, 1)
        assert {leaf.dtype.name for leaf in jax.tree.leaves(network)} == {precision}
        assert network(jnp.ones(2), key=KEY).dtype.name == precision


def test_network_runs_with_rank_promotion_forbidden_and_under_vmap():
    network = MLP(width=4, depth=1)(KEY, 2, 3)
    x = jnp.arange(8.0).reshape(4, 2)
    with jax.numpy_rank_promotion("raise"):
        rows = jax.vmap(network)(x)
    np.testing.assert_allclose(rows, np.stack([network(row) for row in x]), rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "MLP: width=0 must be a whole number of at least 1."),
        ({"width": 2.5}, "MLP: width=2.5 must be a whole number of at least 1."),
        ({"width": True}, "MLP: width=True must be a whole number of at least 1."),
        ({"width": (8, -1)}, "MLP: width of a layer=-1 must be a whole number of at least 1."),
        ({"width": (8, 8), "depth": 3}, "MLP: width=(8, 8) has 2 hidden layers and depth=3 says otherwise"),
        ({"depth": -1}, "MLP: depth=-1 must be a whole number of at least 0."),
        ({"activation": "Tanhh"}, "MLP: activation='Tanhh' is not known. Did you mean 'tanh'? Known: elu, gelu, relu"),
        ({"activation": jnp.tanh}, "is not known"),
        ({"dropout": 1.0}, "MLP: dropout=1.0 must be a finite number from 0 to below 1."),
        ({"dropout": float("nan")}, "MLP: dropout=nan must be a finite number"),
    ],
)
def test_wrong_options_are_refused_by_name(options, message):
    with pytest.raises(ValueError) as refused:
        MLP(**options)
    assert message in str(refused.value)


def test_sizes_without_inputs_or_outputs_are_refused():
    with pytest.raises(ValueError, match="MLP: in_size=0 must be a whole number of at least 1"):
        MLP()(KEY, 0, 1)
    with pytest.raises(ValueError, match="MLP: out_size=0 must be"):
        MLP()(KEY, 1, 0)


def test_specification_prints_what_it_holds_and_compares_by_value():
    assert (
        repr(MLP(width=np.int64(8), depth=2))
        == "MLP(width=8, depth=2, activation='tanh', dropout=0.0, factorized=None)"
    )
    assert MLP(width=[8, 4]) == MLP(width=(8, 4), depth=2)
    assert len({MLP(), MLP(width=64, depth=4), MLP(width=32)}) == 2
