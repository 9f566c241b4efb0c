"""Trimmed: what is left of a piece of a boundary when its region is combined with another one."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Bool, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import evenly_spread, namespace
from phijax.geometry.arcs import cut
from phijax.geometry.lines import along_lines_of_square, masked
from phijax.geometry.placement import Coordinates, Placement, Rule
from phijax.geometry.probes import probed
from phijax.geometry.region import Region
from phijax.geometry.thinned import Thinned
from phijax.geometry.wrapped import Wrapped

_PROBES = 16384
_RULE_POINTS = 4  # a panel, for the measure
_FINER = 8  # points an axis of a rule that is cut, over those of one that is not


@dataclass(frozen=True)
class Trimmed(Wrapped):
    """The part of `base`, a piece of a boundary, that is inside `other` or outside of it; with inner=None, on its boundary.

    Where the boundaries of the two coincide, `shared` says whether a part with the same outward normal is kept, and
    `opposite` whether one with the opposite normal is. flipped: the normal of `base` points into the whole.
    """

    base: Region
    other: Region
    inner: bool | None
    shared: bool = False
    opposite: bool = False
    flipped: bool = False

    @property
    def depends(self) -> frozenset[Symbol]:
        return self.base.depends | self.other.depends

    def each(self, change: Callable[[Region], Region]) -> Region:
        """The same of changed regions."""
        return trimmed(dataclasses.replace(self, base=change(self.base), other=change(self.other)))

    @property
    def cube_dimension(self) -> None:
        return None

    @property
    def cover(self) -> Region:
        return Flipped(self.base.cover) if self.flipped else self.base.cover

    @functools.cached_property
    def acceptance(self) -> float:
        """Share of the cover that is kept, by 16384 evenly spread points."""
        return float(np.mean(probed(self, _PROBES)[1]))

    @functools.cached_property
    def measure(self) -> float:
        if self.depends or self.cover.cube_dimension not in (2, 3):
            return self.acceptance * self.cover.measure
        return float(np.sum(self.quadrature(_RULE_POINTS).weights))

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        """Of the base, as far as they are those of a region that the part is inside of or beside."""
        whole, other = self.base.bounds, self.other.bounds
        if self.inner is False or any(max(whole[s][0], other[s][0]) > min(whole[s][1], other[s][1]) for s in whole):
            return whole
        return {s: (max(low, other[s][0]), min(high, other[s][1])) for s, (low, high) in whole.items()}

    @property
    def constant_normal(self) -> dict[Symbol, int]:
        sign = -1 if self.flipped else 1
        return {symbol: sign * normal for symbol, normal in self.base.constant_normal.items()}

    @property
    def empty(self) -> bool:
        return self.base.empty or self.acceptance == 0

    def accept(self, unit: Float[Array, "n c"], placement: Placement) -> Bool[Array, "n"]:
        return self.base.accept(unit, self._of_base(placement)) & self.keeps(placement)

    def _of_base(self, placement: Placement) -> Placement:
        """Points with the normals that `base` has there."""
        return Placement(placement.coordinates, _turned(placement.normals)) if self.flipped else placement

    def keeps(self, placement: Placement) -> Bool[Array, "n"]:
        """Which of the points of `base`, with the normals of the whole, are kept."""
        columns: Any = placement.coordinates
        if not isinstance(next(iter(columns.values())), np.ndarray):
            return self._keeps(placement)
        # Distances to shapes of many parts are dear, and most points are far from them.
        close: Any = np.logical_and.reduce([_between(columns[s.name], *b) for s, b in self.other.bounds.items()])
        pick = lambda table: table and {name: column[close] for name, column in table.items()}
        kept: Any = np.full(close.shape, self.inner is False)
        kept[close] = self._keeps(Placement(pick(columns), pick(placement.normals))) if close.any() else False
        return kept

    def _keeps(self, placement: Placement) -> Bool[Array, "n"]:
        points = placement.coordinates
        away = self.other.distance(points)
        xp = namespace(away)
        eps = float(np.finfo(away.dtype).eps)
        size = max(1e-300, *(high - low for low, high in self.other.bounds.values()))
        extent = max(size, *(abs(bound) for pair in self.other.bounds.values() for bound in pair))
        plain = away < 0 if self.inner else (away > 0) & (self.inner is not None)
        near = abs(away) <= 32 * eps * extent
        # The two sides of the point, as near as the format can tell them apart from the boundary that they share.
        step, normals = eps**0.5 * size, self._of_base(placement).normals or {}
        aside = lambda sign: {
            name: column + sign * step * normals[name] if name in normals else column for name, column in points.items()
        }
        behind, ahead = (self.other.inside(aside(sign), 0.0) for sign in (-1, 1))
        same, against = behind & ~ahead, ahead & ~behind
        # Where it only touches, as at a corner, both sides are alike.
        neither = (behind & ahead) if self.inner else (~behind & ~ahead) & (self.inner is not None)
        kept = (same & self.shared) | (against & self.opposite) | neither
        return xp.where(near, kept, plain)

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """No more than the distance: exact beside the part that is kept."""
        away = self.other.distance(points)
        beyond = away if self.inner else -away
        return namespace(away).maximum(self.base.distance(points), beyond)

    def inside(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        return Region.inside(self, points, tolerance)

    def quadrature(self, points_per_axis: int) -> Rule:
        """Of a surface, along lines of its map, cut where it ends; else a fine rule less what is not kept, of first order."""
        whole = self.base
        while isinstance(whole, Trimmed):
            whole = whole.base
        face = whole.base if isinstance(whole, Thinned) else whole
        if face.cube_dimension != 2 or self.depends:
            finer = 1 if isinstance(self.base, Trimmed) else _FINER
            rule = self.base.quadrature(finer * points_per_axis)
            rule = rule._replace(normals=_turned(rule.normals)) if self.flipped else rule
            return masked(rule, np.asarray(self.keeps(rule.nodes)))
        unit, weights = along_lines_of_square(lambda unit: self._kept_of(face.place(unit))[1], points_per_axis)
        placed = face.place(unit)
        return self._kept_of(placed)[0].weighted(weights * np.asarray(face.density(placed)))

    def _kept_of(self, placed: Placement) -> tuple[Placement, Bool[np.ndarray, "n"]]:
        """Points of the piece that all trims began with, with the normals of the whole, and which of them are kept."""
        if isinstance(self.base, Trimmed):
            placed, kept = self.base._kept_of(placed)
        else:
            kept = np.ones(len(next(iter(placed.coordinates.values()))), bool)
        own = Placement(placed.coordinates, _turned(placed.normals)) if self.flipped else placed
        return own, kept & np.asarray(self.keeps(own))

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        return self.each(lambda region: region.slice_at(symbol, value))

    def body(self, tex: bool = False) -> str:
        relation = {True: "inside", False: "outside", None: "beside"}[self.inner]
        return f"{self.base.body(tex)} " + (rf"\text{{ {relation} }}" if tex else relation) + f" {self.other.body(tex)}"


@dataclass(frozen=True)
class Flipped(Wrapped):
    """A piece of a boundary with its normal the other way, as that of a hole."""

    base: Region

    @property
    def constant_normal(self) -> dict[Symbol, int]:
        return {symbol: -sign for symbol, sign in self.base.constant_normal.items()}

    @property
    def cover(self) -> Region:
        return self if self.cube_dimension is not None else Flipped(self.base.cover)

    def place(self, unit: Float[Array, "n c"], around: Coordinates | None = None) -> Placement:
        placed = self.base.place(unit)
        return Placement(placed.coordinates, _turned(placed.normals))

    def quadrature(self, points_per_axis: int) -> Rule:
        rule = self.base.quadrature(points_per_axis)
        return Rule(rule.coordinates, rule.weights, _turned(rule.normals))

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        return Flipped(self.base.slice_at(symbol, value))


def _between(column: Float[np.ndarray, "n"], low: float, high: float) -> Bool[np.ndarray, "n"]:
    """Which numbers are within the bounds, with room to spare."""
    room = 1e-6 * max(abs(low), abs(high))
    return (low - room <= column) & (column <= high + room)


def _turned(normals: Any) -> Any:
    return normals and {name: -column for name, column in normals.items()}


def flipped(face: Region) -> Region:
    """A piece with its normal the other way."""
    return face.base if isinstance(face, Flipped) else Flipped(face)


def trimmed(part: Trimmed) -> Region:
    """The part, said plainly where that can be done: all of the piece, or, of a curve that stands still, the arcs that are kept.

    A part that holds nothing is left as it is, and is `empty`.
    """
    if part.depends:
        return part
    face = flipped(part.base) if part.flipped else part.base
    if face.cube_dimension is None:
        return part
    if face.cube_dimension == 1:
        return cut(face, part.keeps) or part
    unit: Any = evenly_spread(_PROBES, face.cube_dimension)
    return face if np.all(part.keeps(face.place(unit))) else part
