"""One precision in all of a run: a leaf of another one is refused, never cast behind the user's back."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.tree_util import keystr, tree_flatten_with_path

_CURES = {
    "float64": "Make it inside the run (in the factory or the DataModule), give NumPy arrays, or use float32.",
    "float32": "Make it in float32, or ask for precision='float64'.",
}


def check_precision_of(tree: Any, precision: str, what: str) -> None:
    """TypeError that names the first floating leaf of `tree` that is not of `precision`.

    In float32 narrower types (bfloat16) are the user's choice; in float64 every floating leaf is float64.
    """
    for path, leaf in tree_flatten_with_path(tree)[0]:
        dtype = getattr(leaf, "dtype", None)
        if dtype is None or not jnp.issubdtype(dtype, jnp.inexact):
            continue
        wide = jnp.finfo(dtype).dtype == jnp.float64
        if wide != (precision == "float64"):
            raise TypeError(f"{what}{keystr(path)} is {dtype} in a {precision} run. {_CURES[precision]}")


def strong(leaf: Any) -> jax.Array:
    """`leaf` as an array whose dtype is its own: a weak type would change within a compiled loop."""
    array = jnp.asarray(leaf)
    return jax.lax.convert_element_type(array, array.dtype) if getattr(array, "weak_type", False) else array


def at_precision(leaf: Any) -> jax.Array:
    """`leaf` as an array, a floating or complex one at least as wide as the ambient precision."""
    array = strong(leaf)
    if not jnp.issubdtype(array.dtype, jnp.inexact) or jnp.zeros(()).dtype != jnp.float64:
        return array
    return array.astype(jnp.promote_types(array.dtype, jnp.float64))


def like(new: jax.Array, old: jax.Array) -> jax.Array:
    """`new`, also a plain number, in the dtype of `old`; keys pass unchanged."""
    new = new if hasattr(new, "dtype") else jnp.asarray(new)
    if new.dtype == old.dtype and not getattr(new, "weak_type", False):
        return new
    return jax.lax.convert_element_type(new, old.dtype)


def precision_of(tree: Any) -> str:
    """float64 where any leaf is, else float32."""
    dtypes = [leaf.dtype for leaf in jax.tree.leaves(tree) if hasattr(leaf, "dtype")]
    wide = any(jnp.issubdtype(d, jnp.inexact) and jnp.finfo(d).dtype == jnp.float64 for d in dtypes)
    return "float64" if wide else "float32"
