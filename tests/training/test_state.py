"""R12, S2: a complete state from one key or three."""

import jax
import jax.numpy as jnp
import optax
import pytest
from training_toy import bits, factory

from phijax.balancing import Static
from phijax.training import initialize_train_state
from phijax.training.state import trainable

KEY = jax.random.key(9)


def make(*args, **kwargs):
    return initialize_train_state(factory(KEY), optax.adam(1e-3), Static({}).initialize(), *args, **kwargs)


def test_r12_one_key_is_split_in_the_order_runtime_sampling_balancer():
    state = make(KEY)
    assert bits([state.rng_key, state.sampling_key, state.balancer_key]) == bits(list(jax.random.split(KEY, 3)))
    assert int(state.step) == 0
    assert state.step.dtype == jnp.int32


def test_r12_explicit_keys_are_used_as_they_are():
    sampling, balancing = jax.random.key(1), jax.random.PRNGKey(2)
    state = make(KEY, sampling_key=sampling, balancer_key=balancing)
    keys = [state.rng_key, state.sampling_key, state.balancer_key]
    assert bits(keys) == bits([KEY, sampling, jax.random.key(2)])


@pytest.mark.parametrize(("given", "missing"), [("sampling_key", "balancer_key"), ("balancer_key", "sampling_key")])
def test_r12_only_one_of_the_two_is_refused(given, missing):
    with pytest.raises(ValueError, match=f"got {given} but no {missing}: give both, or neither"):
        make(KEY, **{given: jax.random.key(1)})


def test_s2_every_leaf_of_a_state_is_an_array():
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(make(KEY)))


def test_a_model_with_nothing_to_train_is_refused():
    with pytest.raises(ValueError, match=r"no array to train.*NumPy arrays and Python numbers count as constants"):
        trainable({"n": jnp.arange(3)})
