"""R1, R3: what a seed may be, and how it is split."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.training.keys import root_key, split_root, split_runtime

IMPLEMENTATIONS = ("threefry2x32", "rbg", "unsafe_rbg")


def same(a, b):
    return a.dtype == b.dtype and bool(jnp.all(jax.random.key_data(a) == jax.random.key_data(b)))


@pytest.mark.parametrize("seed", [0, 42, 2**31, 2**32 - 1])
def test_r1_an_int_is_the_key_of_that_int_in_every_precision(seed):
    for precision in ("float32", "float64"):
        with precision_scope(precision):
            assert same(root_key(seed), jax.random.key(seed))
            assert same(root_key(np.uint32(seed)), jax.random.key(seed))
    with precision_scope("float64"):
        wide = root_key(seed)
    assert same(wide, root_key(seed))


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_r1_a_typed_key_of_any_implementation_passes_unchanged(implementation):
    key = jax.random.key(3, impl=implementation)
    assert same(root_key(key), key)


def test_r1_raw_key_data_is_wrapped():
    assert same(root_key(jax.random.PRNGKey(7)), jax.random.key(7))
    assert same(root_key(np.asarray(jax.random.PRNGKey(7))), jax.random.key(7))


def test_r1_raw_key_data_follows_the_default_implementation():
    with jax.default_prng_impl("rbg"):
        assert same(root_key(jax.random.PRNGKey(7)), jax.random.key(7))
        with pytest.raises(ValueError, match=r"shape \(2,\).*has shape \(4,\).*wrap_key_data"):
            root_key(np.zeros(2, np.uint32))


@pytest.mark.parametrize(
    ("seed", "error", "message"),
    [
        (True, TypeError, "bool, not a seed.*int from 0 to 4294967295"),
        (np.bool_(True), TypeError, "bool, not a seed"),
        (1.0, TypeError, "type float is not a seed.*jax.random.key"),
        (np.float64(1.0), TypeError, "is not a seed"),
        ("42", TypeError, "seed='42' of type str is not a seed"),
        (-1, ValueError, "seed=-1 is out of range"),
        (2**32, ValueError, "seed=4294967296 is out of range.*in and out of float64"),
        (None, TypeError, "NoneType is not a seed"),
        (np.zeros(2, np.int32), TypeError, "is not a seed"),
        (np.zeros((3, 2), np.uint32), ValueError, r"raw key data of shape \(3, 2\)"),
    ],
)
def test_r1_anything_else_is_refused_with_the_cure(seed, error, message):
    with pytest.raises(error, match=message):
        root_key(seed)


def test_r1_a_batch_of_keys_is_refused():
    with pytest.raises(ValueError, match=r"batch of keys of shape \(2,\)"):
        root_key(jax.random.split(jax.random.key(0)))


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
def test_r3_the_root_is_split_once_into_model_runtime_sampling_balancer(implementation):
    root = jax.random.key(5, impl=implementation)
    streams = split_root(root)
    assert streams._fields == ("model", "runtime", "sampling", "balancer")
    assert all(same(stream, key) for stream, key in zip(streams, jax.random.split(root, 4), strict=True))


def test_r12_one_runtime_key_is_split_into_runtime_sampling_balancer():
    key = jax.random.key(5)
    assert all(same(a, b) for a, b in zip(split_runtime(key), jax.random.split(key, 3), strict=True))
