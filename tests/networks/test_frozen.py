"""Frozen parts: zero gradient by parameters, unchanged derivative by inputs, not counted, told apart in a mask."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from phijax.networks import MLP, FourierFeatures, count_parameters, frozen, trainable

KEY = jax.random.key(3)


def test_parameters_have_zero_gradient_and_inputs_keep_theirs():
    network = MLP(width=4, depth=1)(KEY, 2, 1)
    held = frozen(network)
    x = jnp.array([0.5, -0.5])
    np.testing.assert_array_equal(held(x), network(x))
    gradients = jax.grad(lambda model: model(x)[0])(held)
    assert all(not np.any(leaf) for leaf in jax.tree.leaves(gradients))
    np.testing.assert_array_equal(jax.jacobian(held)(x), jax.jacobian(network)(x))
    tangent = jax.jvp(lambda model: model(x)[0], (held,), (jax.tree.map(jnp.ones_like, held),))[1]
    assert tangent == 0.0


def test_frozen_parameters_are_not_counted():
    network = MLP(width=4, depth=1)(KEY, 2, 1)
    assert count_parameters(network) == 17
    assert count_parameters({"a": network, "b": frozen(network), "c": jnp.zeros(()), "n": jnp.zeros(3, int)}) == 18


def test_mask_is_true_exactly_at_arrays_that_train():
    model = {"held": frozen(MLP(width=2, depth=0)(KEY, 1, 1)), "free": jnp.ones(2), "steps": jnp.zeros((), int)}
    mask = trainable(model)
    assert jax.tree.leaves(mask["held"]) == [False, False]
    assert mask["free"] is True
    assert mask["steps"] is False
    assert jax.tree.structure(mask) == jax.tree.structure(model)
    trained, rest = eqx.partition(model, mask)
    assert len(jax.tree.leaves(trained)) == 1
    assert len(jax.tree.leaves(rest)) == 3


def test_random_frequencies_are_in_the_tree_and_frozen():
    network = FourierFeatures(MLP(width=3, depth=0), features=5)(KEY, 2, 1)
    gradients = jax.grad(lambda model: model(jnp.ones(2))[0])(network)
    np.testing.assert_array_equal(gradients.layers[0].inner.frequencies, np.zeros((2, 5)))
    assert np.any(gradients.layers[1].layers[0].weight)
    assert count_parameters(network) == 11
