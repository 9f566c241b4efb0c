"""Random Fourier features: the embedding in numpy, the law of the frequencies."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.networks import MLP, FourierEmbedding, FourierFeatures

KEY = jax.random.key(4)


def test_embedding_is_cosines_then_sines_of_two_pi_x_b():
    with precision_scope("float64"):
        b = np.array([[0.25, 1.0, -2.0], [0.0, 0.5, 1.5]])
        x = np.array([1.0, 0.5])
        phase = 2 * np.pi * np.array([0.25, 1.25, -1.25])
        embedded = FourierEmbedding(jnp.asarray(b))(jnp.asarray(x))
        np.testing.assert_allclose(embedded, np.concatenate([np.cos(phase), np.sin(phase)]), atol=1e-14)


def test_frequencies_are_normal_with_the_scale_as_deviation():
    network = FourierFeatures(MLP(width=2, depth=0), features=4000, scale=3.0)(KEY, 2, 1)
    b = np.asarray(network.layers[0].inner.frequencies)
    assert b.shape == (2, 4000)
    assert np.std(b) == pytest.approx(3.0, rel=0.03)
    assert np.mean(b**4) == pytest.approx(3 * 81.0, rel=0.1)


def test_network_follows_the_embedding_and_any_function_serves():
    asked = []

    def factory(key, in_size, out_size):
        asked.append((in_size, out_size))
        return lambda x, *, key=None: x[:out_size]

    network = FourierFeatures(factory, features=3)(KEY, 2, 1)
    x = jnp.array([0.1, 0.2])
    np.testing.assert_array_equal(network(x), network.layers[0](x)[:1])
    assert asked == [(6, 1)]


def test_embedding_and_network_have_keys_of_their_own():
    frequency_key, network_key = jax.random.split(KEY)
    network = FourierFeatures(MLP(width=3, depth=1), features=2)(KEY, 1, 1)
    b = network.layers[0].inner.frequencies
    np.testing.assert_array_equal(b, jax.random.normal(frequency_key, (1, 2)))
    plain = MLP(width=3, depth=1)(network_key, 4, 1)
    np.testing.assert_array_equal(network.layers[1].layers[0].weight, plain.layers[0].weight)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_embedding_is_of_the_ambient_precision(precision):
    with precision_scope(precision):
        network = FourierFeatures(MLP(width=3, depth=1), features=2, scale=0.5)(KEY, 1, 1)
        assert {leaf.dtype.name for leaf in jax.tree.leaves(network)} == {precision}


def test_wrong_options_are_refused_by_name_in_the_embedding():
    with pytest.raises(ValueError, match="FourierFeatures: scale=0 must be a finite number above 0"):
        FourierFeatures(scale=0)
    with pytest.raises(ValueError, match="FourierFeatures: features=0 must be a whole number"):
        FourierFeatures(features=0)
    with pytest.raises(ValueError, match=r"FourierFeatures: network=3 must be a specification such as MLP\(\)"):
        FourierFeatures(network=3)
