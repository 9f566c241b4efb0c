"""Random streams of a run: one root key, split once, in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

LARGEST_SEED = 2**32 - 1
_CURE = f"Give an int from 0 to {LARGEST_SEED} or one JAX key, such as jax.random.key(0)."

# Folded into a persistent key where the sources fold the step: no run gets that far, so no key serves twice.
BALANCER_UPDATE = LARGEST_SEED
BALANCER_MODEL = LARGEST_SEED - 1
RESAMPLING_MODEL = LARGEST_SEED - 2
NEXT_PART = LARGEST_SEED - 3


class Streams(NamedTuple):
    """The four streams of `fit`, in the order of the split."""

    model: PRNGKeyArray
    runtime: PRNGKeyArray
    sampling: PRNGKeyArray
    balancer: PRNGKeyArray


def root_key(seed: Any, name: str = "seed") -> PRNGKeyArray:
    """One typed key from an int of 0 to 2^32 - 1, or from one unbatched key, typed or raw uint32.

    An int and `jax.random.key(int)` are the same seed. ValueError or TypeError for anything else.
    """
    if isinstance(seed, (bool, np.bool_)):
        raise TypeError(f"{name}={seed!r} is a bool, not a seed. {_CURE}")
    if isinstance(seed, (int, np.integer)):
        if not 0 <= int(seed) <= LARGEST_SEED:
            raise ValueError(f"{name}={seed} is out of range: larger seeds differ in and out of float64. {_CURE}")
        return jax.random.key(int(seed))
    if isinstance(seed, jax.Array) and jnp.issubdtype(seed.dtype, jax.dtypes.prng_key):
        if seed.shape != ():
            raise ValueError(f"{name} is a batch of keys of shape {seed.shape}; a run takes one key. {_CURE}")
        return seed
    if isinstance(seed, (jax.Array, np.ndarray)) and seed.dtype == np.uint32:
        return _wrapped(seed, name)
    raise TypeError(f"{name}={seed!r} of type {type(seed).__name__} is not a seed. {_CURE}")


def _wrapped(raw: Any, name: str) -> PRNGKeyArray:
    """A typed key of JAX's default implementation from raw key data."""
    expected = jax.random.key_data(jax.random.key(0)).shape
    if raw.shape != expected:
        raise ValueError(
            f"{name} is raw key data of shape {raw.shape}; one key of JAX's default implementation has shape "
            f"{expected}. Wrap a key of another implementation with jax.random.wrap_key_data(data, impl=...)."
        )
    return jax.random.wrap_key_data(jnp.asarray(raw))


def root_keys(seeds: Any) -> dict[int | str, PRNGKeyArray]:
    """{name: key} of at least two different seeds; an int is its own name. ValueError or TypeError for anything else."""
    if isinstance(seeds, str | bytes) or not isinstance(seeds, Iterable):
        raise TypeError(f"seeds={seeds!r} is no list of seeds; write seeds=range(8), or seed= for a single run.")
    given = list(seeds)
    if len(given) < 2:
        raise ValueError(f"seeds={seeds!r}: a spread takes at least two seeds; write seed= for a single run.")
    named: dict[int | str, PRNGKeyArray] = {}
    for position, seed in enumerate(given):
        key = root_key(seed, f"seeds[{position}]")
        words = "-".join(map(str, np.asarray(jax.random.key_data(key)).ravel()))
        name = int(seed) if isinstance(seed, int | np.integer) else f"key {words}"
        if name in named:
            raise ValueError(f"seeds={seeds!r} has {name} twice; both would be the same run.")
        named[name] = key
    return named


def split_root(key: PRNGKeyArray) -> Streams:
    """The four streams: model, runtime, sampling, balancer."""
    return Streams(*jax.random.split(key, 4))


def split_runtime(key: PRNGKeyArray) -> tuple[PRNGKeyArray, PRNGKeyArray, PRNGKeyArray]:
    """The three persistent streams where the model exists already: runtime, sampling, balancer."""
    runtime, sampling, balancer = jax.random.split(key, 3)
    return runtime, sampling, balancer
