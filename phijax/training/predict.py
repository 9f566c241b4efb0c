"""Prediction in chunks, so that memory does not grow with the number of points."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from phijax._devices import ONE_DEVICE, Devices
from phijax._precision import precision_scope
from phijax.training.dtypes import precision_of

CHUNK = 16384


@eqx.filter_jit
def _rows(devices: Devices, model: Any, inputs: tuple) -> Any:
    return devices.each(lambda inputs, model: jax.vmap(lambda *row: model(*row))(*inputs), inputs, model)


def predict_rows(model: Any, *inputs: Any, chunk: int = CHUNK, devices: Devices = ONE_DEVICE) -> Any:
    """`model(*row)` for each row of inputs of shape (n, ...), as NumPy arrays of shape (n, ...), in the model's precision.

    Computed `chunk` rows at a time, with one executable, shared out among those of the devices that this process has.
    """
    if not inputs:
        raise ValueError("predict got no inputs; give one array of shape (n, ...) for each argument of the model.")
    counts = {np.shape(value)[0] if np.ndim(value) else -1 for value in inputs}
    if len(counts) != 1 or -1 in counts:
        shapes = ", ".join(str(np.shape(value)) for value in inputs)
        raise ValueError(f"predict got inputs of shapes {shapes}; all need the same first axis, one row a point.")
    n = counts.pop()
    precision = precision_of(eqx.filter(model, eqx.is_array))
    chunk = max(1, min(chunk, n))
    parts, own = [], devices.own
    with precision_scope(precision):
        for begin in range(0, n, chunk):
            rows = tuple(_padded(value[begin : begin + chunk], chunk) for value in map(np.asarray, inputs))
            valid = min(chunk, n - begin)
            parts.append(jax.tree.map(lambda leaf, valid=valid: np.asarray(leaf)[:valid], _rows(own, model, rows)))
        if not parts:
            empty = jax.eval_shape(lambda *rows: _rows(own, model, rows), *(jnp.asarray(value) for value in inputs))
            return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), empty)
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)


def _padded(rows: np.ndarray, chunk: int) -> jax.Array:
    """`rows` as an array of the ambient precision, the last one repeated up to `chunk` rows."""
    missing = chunk - rows.shape[0]
    if missing:
        rows = np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)])
    array = jnp.asarray(rows)
    return array if jnp.issubdtype(array.dtype, jnp.inexact) else array.astype(jnp.zeros(()).dtype)
