"""Arcs: parts of a curve, cut exactly and made uniform by arc length."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Bool, Float
from sympy import Symbol

from phijax.geometry._numbers import namespace
from phijax.geometry.region import Coordinates, Placement, Region, Rule
from phijax.geometry.wrapped import Wrapped

_SAMPLES = 8192  # places of a curve at which a cut is looked for
_HALVINGS = 44  # of the piece between two of them
_CELLS = 4096  # by which a curve is made uniform
_MANY = 1024  # parts, so short that a low rule does in each


@dataclass(frozen=True, eq=False)
class Arcs(Wrapped):
    """The parts of `base`, a curve with a map from (0, 1), whose parameters are in given cells.

    low, high: ends of the cells, (k,), in (0, 1). lengths: of the parts that they make, (k,).
    """

    base: Region
    low: Any
    high: Any
    lengths: Any

    def __post_init__(self) -> None:
        for name in ("low", "high", "lengths"):
            column = np.array(getattr(self, name), np.float64)
            column.setflags(write=False)
            object.__setattr__(self, name, column)

    def _value(self) -> tuple:
        return self.base, self.low.tobytes(), self.high.tobytes(), self.lengths.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Arcs) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash(self._value())

    @property
    def measure(self) -> float:
        return float(self.lengths.sum())

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        ends = np.concatenate([self.low, (self.low + self.high) / 2, self.high])
        unit: Any = np.clip(ends, 1e-12, 1 - 1e-12)[:, None]
        columns = self.base.place(unit).coordinates
        return {s: (float(columns[s.name].min()), float(columns[s.name].max())) for s in self.coordinates}

    @property
    def breaks(self) -> Float[np.ndarray, "m"]:
        """Where the map is not smooth, in (0, 1)."""
        return np.cumsum(_at_breaks(self)[2])[:-1] / self.measure

    def place(self, unit: Float[Array, "n c"], around: Coordinates | None = None) -> Placement:
        return self.base.place(self._parameters(unit))

    def _parameters(self, unit: Float[Array, "n c"]) -> Float[Array, "n 1"]:
        xp, dtype = namespace(unit), unit.dtype
        shares = np.concatenate([[0.0], np.cumsum(self.lengths) / self.measure])
        first = unit[:, 0]
        cell = xp.clip(xp.searchsorted(xp.asarray(shares[1:-1], dtype), first, side="right"), 0, len(self.low) - 1)
        pick = lambda table: xp.asarray(table, dtype)[cell]
        inner = (first - pick(shares[:-1])) / pick(np.diff(shares))
        half_cell = float(np.finfo(dtype).eps) / 4
        parameters = pick(self.low) + pick(self.high - self.low) * xp.clip(inner, half_cell, 1 - 2 * half_cell)
        return xp.clip(parameters, half_cell, 1 - 2 * half_cell)[:, None]

    def inside(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        return Region.inside(self, points, tolerance)

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """To the curve, or where its nearest point is cut off to the nearest of many nodes."""
        unit: Any = ((np.arange(_CELLS) + 0.5) / _CELLS)[:, None]
        nodes = self.place(unit).coordinates
        xp = namespace(points[self.names[0]])
        columns = [points[name] for name in self.names]
        square = sum(
            (column[..., None] - xp.reshape(xp.asarray(nodes[name], column.dtype), (1,) * column.ndim + (-1,))) ** 2
            for name, column in zip(self.names, columns, strict=True)
        )
        away = xp.sqrt(xp.min(square, axis=-1))
        step = self.measure / _CELLS
        return xp.where(away < 2 * step, xp.minimum(self.base.distance(points), away), away)

    def quadrature(self, points_per_axis: int) -> Rule:
        """Gauss-Legendre in each smooth part; of many short ones, in which the map is as good as straight, with two points."""
        low, high, lengths = _at_breaks(self)
        nodes, weights = np.polynomial.legendre.leggauss(
            points_per_axis if len(low) < _MANY else min(points_per_axis, 2)
        )
        unit: Any = (low[:, None] + (high - low)[:, None] * (1 + nodes) / 2).reshape(-1, 1)
        return self.base.place(unit).weighted((lengths[:, None] * weights / 2).ravel())

    def body(self, tex: bool = False) -> str:
        return self.base.body(tex) + (r" \text{ in part}" if tex else " in part")


def _at_breaks(arcs: Arcs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cells, cut where the map of the curve has a corner."""
    corners = arcs.base.breaks
    parts = []
    for low, high, length in zip(arcs.low, arcs.high, arcs.lengths, strict=True):
        edges = np.concatenate([[low], corners[(corners > low) & (corners < high)], [high]])
        parts += [(a, b, length * (b - a) / (high - low)) for a, b in itertools.pairwise(edges)]
    low, high, lengths = np.array(parts).T
    return low, high, lengths


def cut(curve: Region, keep: Callable[[Placement], Any]) -> Region | None:
    """The parts of a curve whose points are kept; itself where all are, None where none is."""
    parameters = (np.arange(_SAMPLES) + 0.5) / _SAMPLES

    def at(u: Any) -> Bool[np.ndarray, "n"]:
        return np.asarray(keep(curve.place(u[:, None])))

    kept = at(parameters)
    if kept.all():
        return curve
    if not kept.any():
        return None
    change = np.flatnonzero(kept[1:] != kept[:-1])
    left, right, sign = parameters[change], parameters[change + 1], kept[change]
    for _ in range(_HALVINGS):
        middle = (left + right) / 2
        same = at(middle) == sign if len(change) else np.zeros(0, bool)
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    edges = np.concatenate([[0.0], (left + right) / 2, [1.0]])
    held = np.concatenate([kept[:1], ~sign])
    low, high = edges[:-1][held], edges[1:][held]
    return Arcs(curve, low, high, (high - low) * curve.measure)


def by_arc_length(curve: Region, stretch: Callable[[Placement], Any]) -> Arcs:
    """A curve whose map has a speed of `stretch`, up to a factor, made uniform: its cells have the lengths that they have."""
    edges = np.arange(_CELLS + 1) / _CELLS
    nodes, weights = np.polynomial.legendre.leggauss(3)
    unit: Any = (edges[:-1, None] + (1 + nodes) / (2 * _CELLS)).reshape(-1, 1)
    lengths = np.asarray(stretch(curve.place(unit))).reshape(_CELLS, 3) @ (weights / 2)
    return Arcs(curve, edges[:-1], edges[1:], lengths / _CELLS)
