"""Random features: drawn at the asked scale, frozen but for the coefficients, and refused by name where they do not fit."""

import jax
import numpy as np
import pytest

from phijax.networks import RandomFeatures, count_parameters, network_from_config


def test_weights_have_the_scale_of_each_input_and_only_coefficients_are_trained():
    network = RandomFeatures(features=4000, scale=(0.5, 8.0))(jax.random.key(0), 2, 3)
    weight = np.asarray(network.layers[0].inner.layers[0].weight)
    np.testing.assert_allclose(weight.std(axis=1), [0.5, 8.0], rtol=0.05)
    assert count_parameters(network) == 4000 * 3 + 3
    np.testing.assert_array_equal(network(np.ones(2, np.float32)), np.zeros(3))  # the coefficients begin at zero


def test_the_configuration_gives_the_specification_back():
    for features in (RandomFeatures(300, 2.0), RandomFeatures(300, (1.0, 16.0), "tanh")):
        read = network_from_config(features.to_config())
        assert read.to_config() == features.to_config()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": 0}, "features=0 must be a whole number of at least 1"),
        ({"scale": 0.0}, "scale=0.0 must be a finite number above 0"),
        ({"scale": (1.0, float("nan"))}, "scale=nan must be a finite number above 0"),
        ({"activation": "sine"}, "Did you mean 'sin'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        RandomFeatures(**options)


def test_scales_that_are_not_one_for_each_input_are_refused():
    with pytest.raises(ValueError, match="has 2 numbers for 3 inputs"):
        RandomFeatures(scale=(1.0, 2.0))(jax.random.key(0), 3, 1)


def test_a_scale_may_be_an_array_and_an_empty_one_is_refused():
    assert RandomFeatures(5, scale=np.array([1.0, 2.0])) == RandomFeatures(5, scale=(1.0, 2.0))
    with pytest.raises(ValueError, match="RandomFeatures: scale has no number; give one number, or one for each input"):
        RandomFeatures(5, scale=())
