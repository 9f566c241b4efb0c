"""Chunked evaluation: any number of points through one executable, in memory that does not grow with their number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from phijax._devices import ONE_DEVICE, Devices
from phijax._precision import precision_scope

CHUNK = 8192
SMALL_CHUNK = 256  # so that one value does not cost a whole chunk

Columns = Mapping[str, np.ndarray]


class ChunkedFunction:
    """`pointwise(model, point) -> {label: scalar}` over rows of a tree of arrays, as NumPy; traced once a chunk size.

    devices: of this process, among which the rows of a chunk are shared out.
    """

    def __init__(
        self, pointwise: Callable[[Any, Any], Mapping[str, Any]], precision: str, devices: Devices = ONE_DEVICE
    ):
        self.precision = precision
        self.traces = 0

        def rows(model: Any, points: Any) -> Mapping[str, Any]:
            self.traces += 1
            return devices.each(lambda points, model: jax.vmap(lambda p: pointwise(model, p))(points), points, model)

        self._rows = eqx.filter_jit(rows)

    def __call__(self, model: Any, rows_between: Callable[[int, int], Any], count: int) -> dict[str, np.ndarray]:
        """{label: (count,)}. rows_between(begin, end) gives a tree of NumPy arrays with those rows."""
        chunk = SMALL_CHUNK if count <= SMALL_CHUNK else CHUNK
        out: dict[str, np.ndarray] = {}
        with precision_scope(self.precision):
            for begin in range(0, max(count, 1), chunk):
                # With no rows at all, one chunk of zeros still says what dtype the values have.
                end = min(begin + chunk, count)
                points = jax.tree.map(lambda leaf: _padded(leaf, chunk), rows_between(begin, end))
                for label, value in self._rows(model, points).items():
                    part = np.asarray(value)
                    if label not in out:
                        out[label] = np.empty(count, part.dtype)
                    out[label][begin:end] = part[: end - begin]
        return out


def _padded(rows: np.ndarray, size: int) -> jax.Array:
    """`rows` in the ambient precision, the last one repeated up to `size`."""
    rows = np.asarray(rows)
    if len(rows) < size:
        filler = rows[-1:] if len(rows) else np.zeros(1, rows.dtype)
        rows = np.concatenate([rows, np.repeat(filler, size - len(rows))])
    array = jnp.asarray(rows)
    return array if jnp.issubdtype(array.dtype, jnp.inexact) else array.astype(jnp.zeros(()).dtype)
