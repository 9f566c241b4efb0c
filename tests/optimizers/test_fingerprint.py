"""A fingerprint sees every bit of a tree, and nothing else."""

import jax
import jax.numpy as jnp
import pytest

from phijax._precision import precision_scope
from phijax.optimizers.fingerprint import fingerprint


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_any_bit_of_any_leaf_is_seen_and_a_copy_is_the_same(precision):
    with precision_scope(precision):
        tree = {"x": jnp.linspace(0, 1, 7), "k": jnp.arange(3), "on": jnp.array([True, False]), "z": jnp.ones(2) * 1j}
        mark = int(fingerprint(tree))
        assert int(fingerprint(jax.tree.map(jnp.array, tree))) == mark
        others = [
            tree | {"x": tree["x"].at[3].set(jnp.nextafter(tree["x"][3], 2.0))},
            tree | {"x": -tree["x"]},
            tree | {"x": tree["x"][::-1]},
            tree | {"k": tree["k"].at[0].set(1)},
            tree | {"on": ~tree["on"]},
            tree | {"z": tree["z"].conj()},
        ]
        assert len({mark, *(int(fingerprint(other)) for other in others)}) == 7


def test_two_leaves_that_change_places_and_keys_are_seen():
    a, b = jnp.ones(3), jnp.zeros(3)
    assert int(fingerprint((a, b))) != int(fingerprint((b, a)))
    assert int(fingerprint(jax.random.key(0))) != int(fingerprint(jax.random.key(1)))
    assert int(fingerprint(())) == 0
