"""Rows in blocks, one after another: so much memory at a time, and what a block needs stays near the processor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float


def is_traced(array: Any) -> bool:
    """Whether the array is of a function that is being compiled, where its values are not known."""
    return isinstance(array, Tracer)


def in_blocks(function: Callable[[Any], Any], rows: Float[Array, "n c"], size: int) -> Any:
    """`function` of `size` rows at a time, whose arrays of one entry a row are joined; of NumPy for NumPy."""
    n = len(rows)
    if n <= size:
        return function(rows)
    if isinstance(rows, np.ndarray):
        parts = [function(rows[start : start + size]) for start in range(0, n, size)]
        return jax.tree.map(lambda *each: np.concatenate(each), *parts)
    padded = jnp.pad(rows, ((0, -n % size), (0, 0)), mode="edge").reshape(-1, size, rows.shape[1])
    return jax.tree.map(lambda joined: joined.reshape(-1)[:n], jax.lax.map(function, padded))
