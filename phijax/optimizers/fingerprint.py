"""Fingerprint: one number by which a tree of arrays is known again."""

from __future__ import annotations

import functools
import operator
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, UInt32

ODD = (0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35)  # multipliers that spread a bit over the word


@jax.jit
def fingerprint(tree: Any) -> UInt32[Array, ""]:
    """A hash of every bit of the arrays of `tree`, in their order. Two trees share one by a chance of 2^-32."""
    leaves = enumerate(jax.tree.leaves(tree), start=1)
    return functools.reduce(operator.add, (_hash(leaf) * jnp.uint32(2 * n + 1) for n, leaf in leaves), jnp.uint32(0))


def _hash(leaf: Any) -> UInt32[Array, ""]:
    words = _words(jnp.asarray(leaf))
    words = words ^ (jnp.arange(1, words.size + 1, dtype=jnp.uint32) * jnp.uint32(ODD[0]))
    words = (words ^ (words >> 16)) * jnp.uint32(ODD[1])
    words = (words ^ (words >> 13)) * jnp.uint32(ODD[2])
    return jnp.sum(words ^ (words >> 16), dtype=jnp.uint32)


def _words(leaf: Array) -> UInt32[Array, " n"]:
    """The bits of an array as whole words."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    if jnp.iscomplexobj(leaf):
        leaf = jnp.stack([leaf.real, leaf.imag])
    if leaf.dtype.itemsize < 4:
        leaf = leaf.astype(jnp.float32 if jnp.issubdtype(leaf.dtype, jnp.floating) else jnp.uint32)
    return jax.lax.bitcast_convert_type(leaf, jnp.uint32).ravel()
