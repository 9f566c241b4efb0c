"""Pick: which of many pieces a number of (0, 1) falls to, at a cost that does not grow with their number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from phijax.geometry._numbers import namespace

_FEW = 16  # pieces that are found by comparing with every edge
_MOST_CELLS = 2**18
_BLOCK = 8  # numbers of a row that compiled code copies as one; longer rows take ten times as long


@dataclass(frozen=True, eq=False)
class Pick:
    """(0, 1) cut in proportion to shares, in their order: `edges` of a dtype, increasing, between pieces that are not empty.

    A guide table (Chen & Asau 1974) holds the first piece of each of many equal cells; what is left in a cell is
    halved, and with a cell or more a piece there is next to nothing left.
    pieces: which share each of the intervals belongs to, since those too small for the dtype have none.
    """

    edges: Float[np.ndarray, "k+1"]
    pieces: Int[np.ndarray, "k"]
    guide: Int[np.ndarray, "cells+1"]

    @classmethod
    def of(cls, shares: Float[np.ndarray, "m"], dtype: Any) -> Pick:
        """Shares of any sum; at least one must be positive."""
        edges = (np.cumsum(shares) / np.sum(shares)).astype(dtype)
        edges[-1] = 1
        pieces = np.flatnonzero(np.diff(edges, prepend=0) > 0)
        edges = np.concatenate([np.zeros(1, dtype), edges[pieces]])
        cells = 2 ** int(np.ceil(np.log2(2 * len(pieces))))
        guide = _guide(edges, cells)
        while np.max(np.diff(guide)) > 1 and cells < min(16 * len(pieces), _MOST_CELLS):
            cells *= 2
            guide = _guide(edges, cells)
        return cls(edges, pieces, guide)

    def row(self, unit: Float[Array, "n"]) -> Int[Array, "n"]:
        """Index among the intervals."""
        xp = namespace(unit)
        if len(self.pieces) == 1:
            return xp.zeros(unit.shape, np.int32)
        if len(self.pieces) <= _FEW:
            return xp.sum(unit[:, None] >= xp.asarray(self.edges[1:-1])[None, :], axis=1)
        cells = len(self.guide) - 1
        cell = xp.clip((unit * cells).astype(np.int32), 0, cells - 1)
        low, high = take(self.guide, cell), take(self.guide[1:], cell)
        for _ in range(int(np.max(np.diff(self.guide))).bit_length()):
            middle = (low + high + 1) // 2
            above = unit >= take(self.edges, middle)
            low, high = xp.where(above, middle, low), xp.where(above, high, middle - 1)
        return low

    @property
    def stretches(self) -> tuple[Float[np.ndarray, "k"], Float[np.ndarray, "k"]]:
        """Start, and one over the width, of each interval."""
        return self.edges[:-1], (1 / np.diff(self.edges)).astype(self.edges.dtype)

    def split(self, unit: Float[Array, "n"]) -> tuple[Int[Array, "n"], Float[Array, "n"]]:
        """The piece, and where in its share of (0, 1) the number lies."""
        row = self.row(unit)
        start, rate = (take(table, row) for table in self.stretches)
        return take(self.pieces, row), stretched(unit, start, rate)


def _guide(edges: Float[np.ndarray, "k+1"], cells: int) -> Int[np.ndarray, "cells+1"]:
    first = np.searchsorted(edges[1:-1], np.arange(cells + 1) / cells, side="right")
    return first.astype(np.int32)


def stretched(unit: Float[Array, "n"], start: Float[Array, "n"], rate: Float[Array, "n"]) -> Float[Array, "n"]:
    """(unit - start) rate, kept inside (0, 1)."""
    half_cell = float(jnp.finfo(unit.dtype).eps) / 4
    return namespace(unit).clip((unit - start) * rate, half_cell, 1 - 2 * half_cell)


def take(table: np.ndarray, index: Any) -> Any:
    """Rows of a table at indices that are known to be in it; of NumPy for NumPy."""
    if isinstance(index, np.ndarray):
        return table[index]
    return jnp.asarray(table).at[index].get(mode="promise_in_bounds")


def take_columns(table: Float[np.ndarray, "k c"], index: Int[Array, "n"]) -> list[Float[Array, "n"]]:
    """The columns of `take`, by blocks that compiled code copies fast."""
    blocks = [take(table[:, i : i + _BLOCK], index) for i in range(0, table.shape[1], _BLOCK)]
    return [block[:, i] for block in blocks for i in range(block.shape[1])]
