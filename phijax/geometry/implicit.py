"""Implicit regions: where sympy inequalities hold inside a box, with the boundary that they and the box have."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from jaxtyping import Array, Float
from sympy import Expr, Symbol

from phijax.geometry import _levels, _sweep
from phijax.geometry._numbers import as_float, is_space, namespace, uncurved
from phijax.geometry.ball import Ball
from phijax.geometry.fixed import Fixed
from phijax.geometry.interval import Interval
from phijax.geometry.level_set import LevelSet
from phijax.geometry.placement import Coordinates, Rule
from phijax.geometry.predicate import unknown_node
from phijax.geometry.product import product
from phijax.geometry.region import Region
from phijax.geometry.selection import Selection, restrict
from phijax.symbolic import text


@dataclass(frozen=True)
class Implicit(Selection):
    """The part of a box where inequalities hold; made by `where`, which says more. Its bounds are those of the box."""

    @functools.cached_property
    def _core(self) -> tuple[tuple[Interval, ...], tuple[Region, ...]]:
        """The intervals in space that the inequalities speak of, and all other factors."""
        used = self.where.free_symbols
        cut = [
            f for f in self.base.factors if isinstance(f, Interval) and is_space(f.coordinate) and f.coordinate in used
        ]
        return tuple(cut), tuple(f for f in self.base.factors if f not in cut)

    @property
    def factors(self) -> tuple[Region, ...]:
        cut, rest = self._core
        return (Implicit(product(*cut), self.where), *rest) if rest and cut and not self._moves else (self,)

    @property
    def _moves(self) -> bool:
        return not self.where.free_symbols <= {interval.coordinate for interval in self._core[0]}

    @functools.cached_property
    def _levels(self) -> tuple[_levels.Level, ...]:
        axes = [interval.coordinate for interval in self._core[0]]
        return tuple(_levels.Level(_levels.less_side(c), axes) for c in _levels.inequalities(self.where))

    def _fixed_shape(self, what: str) -> None:
        axes = ", ".join(interval.coordinate.name for interval in self._core[0])
        if self._moves:
            others = ", ".join(sorted(s.name for s in self.where.free_symbols if s.name not in axes.split(", ")))
            raise ValueError(f"{self}: its {what} moves with {others}, and is not traced.")
        if len(self._core[0]) > 3:
            raise ValueError(f"{self}: its {what} is traced in up to three coordinates of space, not in {axes}.")

    @functools.cached_property
    def _core_faces(self) -> tuple[tuple[str, Region], ...]:
        """Pieces over the coordinates of the core alone: of the inequalities first, then what is left of the sides."""
        self._fixed_shape("boundary")
        intervals, _ = self._core
        if len(intervals) == 1:
            return self._ends()
        box, found = product(*intervals), []
        for i, condition in enumerate(_levels.inequalities(self.where)):
            piece = LevelSet(box, self.where, i)
            found += [] if piece.empty else [(text(condition), piece)]
        for i, interval in enumerate(intervals):
            beside = product(*intervals[:i], *intervals[i + 1 :])
            for name, end in interval.faces():
                assert isinstance(end, Fixed)
                part = _part(beside, self.where.subs(end.coordinate, end.value))
                found += [] if part is None else [(name, product(end, part))]
        return tuple(found)

    def _ends(self) -> tuple[tuple[str, Region], ...]:
        (interval,) = self._core[0]
        found = []
        for low, high in self._stretches:
            for value, sign in ((low, -1), (high, 1)):
                name = f"{interval.coordinate} = {value:.6g}"
                found.append((name, Fixed(interval.coordinate, value, sign)))
        return tuple(found)

    @functools.cached_property
    def _stretches(self) -> tuple[tuple[float, float], ...]:
        """Of one coordinate: the intervals where all inequalities hold."""
        (interval,) = self._core[0]
        _, start, end = _levels.stretches(self._levels, *interval.ends, np.zeros((1, 0)))
        return tuple((float(a), float(b)) for a, b in zip(start, end, strict=True))

    @functools.cached_property
    def measure(self) -> float:  # type: ignore[override]
        """By the flux of x through the boundary, to 1e-6 in the plane and 3e-4 in space; where that moves, by acceptance."""
        intervals, rest = self._core
        if self._moves or len(intervals) > 3 or any(interval.periodic for interval in intervals):
            return super().measure
        return self._core_measure * math.prod(factor.measure for factor in rest)

    @functools.cached_property
    def _core_measure(self) -> float:
        intervals = self._core[0]
        if len(intervals) == 1:
            return sum(high - low for low, high in self._stretches)
        middle = np.array([sum(interval.ends) / 2 for interval in intervals])
        total = 0.0
        for _, piece in self._core_faces:
            if isinstance(piece, LevelSet):
                total += piece.flux(middle)
                continue
            ((symbol, sign),) = piece.constant_normal.items()
            i = [interval.coordinate for interval in intervals].index(symbol)
            total += sign * (as_float(piece.fixed[symbol]) - middle[i]) * piece.measure
        return float(total / len(intervals))

    def faces(self) -> tuple[tuple[str, Region], ...]:
        if self.normal_coordinates:
            return ()
        intervals, rest = self._core
        found = [(name, product(piece, *rest)) for name, piece in self._core_faces]
        core = Implicit(product(*intervals), self.where)
        for i, factor in enumerate(rest):
            beside = (*rest[:i], *rest[i + 1 :])
            found += [(name, product(core, face, *beside)) for name, face in factor.faces()]
        return tuple(found)

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:  # type: ignore[override]
        """To the nearest of the traced boundary's pieces, with the sign of the inequalities, which is exact."""
        intervals, rest = self._core
        pieces = [piece.distance(points) for _, piece in self._core_faces]
        core = Selection(product(*intervals), self.where)
        xp = namespace(pieces[0])
        edge = functools.reduce(xp.minimum, pieces)
        distances = xp.stack(
            [xp.where(core.inside(points), -edge, edge), *(factor.distance(points) for factor in rest)]
        )
        outside = xp.sqrt(xp.sum(xp.maximum(distances, 0) ** 2, axis=0))
        return xp.where(outside > 0, outside, xp.max(distances, axis=0))

    def quadrature(self, points_per_axis: int) -> Rule:  # type: ignore[override]
        """Gauss-Legendre along the last coordinate, between the ends that it has at each value of the others.

        The first goes from one turn of the boundary to the next, by x = c + h sin(pi t / 2), which undoes the roots there.
        To rounding for smooth regions of the plane; in space turns are not sought, and it is good to about 1e-3.
        """
        self._fixed_shape("rule")
        intervals, rest = self._core
        core = Implicit(product(*intervals), self.where)
        own = _sweep.rule(core, self._levels, self._core_faces, points_per_axis)
        return _sweep.multiplied(own, product(*rest).quadrature(points_per_axis), self) if rest else own

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        """Of a coordinate of the core, its own implicit region; of others, this one over what is left."""
        part = _part(self.base.slice_at(symbol, value), self.where.subs(symbol, value))
        if part is None:
            raise ValueError(f"at {symbol} = {value} the condition {self.where} holds nowhere.")
        return part


def _part(base: Region, condition: Any) -> Region | None:
    """The part of a box where the condition holds, cut exactly where that can be done; None where it is empty."""
    part = restrict(base, condition)
    if not isinstance(part, Selection):
        return part
    found = Implicit(part.base, part.where)
    cut, _ = found._core
    if len(cut) != 1 or found._moves:
        return None if found.empty else found
    if len(found._stretches) != 1:
        return found if found._stretches else None
    inner = Interval(cut[0].coordinate, *next(iter(found._stretches)))
    return product(*(inner if factor == cut[0] else factor for factor in part.base.factors))


def where(region: Region, *conditions: Any) -> Region:
    """The part of a region where inequalities hold: `where(box, x**2 + y**2 < 1)`, several one by one or joined by &.

    region: a box or a ball, of other coordinates too; those of an inequality count, and the rest is multiplied.
    Half-lines such as x > 0 are cut exactly. Points are the box's that pass, and inside is exactly where all hold.
    The boundary has one piece for each inequality, named as it is written, on g = 0 to rounding and with the normal
    grad g / |grad g|, and the sides of the box as far as they are left. It is traced on a grid of 256 cells an axis in the
    plane, 32 in space: what is smaller than a cell is lost. The measure is by that boundary, to 1e-6 and 3e-4.
    Raises ValueError for other conditions and regions, and where no point is left.
    """
    joined: list[Any] = []
    for condition in conditions or (sympy.true,):
        if not isinstance(condition, sympy.logic.boolalg.Boolean):
            raise ValueError(f"where: {condition!r} is no condition; write one such as {region.names[0]} > 0.")
        joined += _levels.inequalities(condition)
    if region.faults:
        return region
    base = _boxed(region, joined)
    uncurved(base.coordinates, "where")
    known = {symbol.name: symbol for symbol in base.coordinates}
    joined = [c.subs({s: known.get(s.name, s) for s in c.free_symbols}) for c in joined]
    for condition in joined:
        strange = sorted(s.name for s in condition.free_symbols if s not in base.coordinates)
        node = unknown_node(condition)
        if strange or node is not None:
            what = f"uses {strange[0]}, which is no coordinate of {region}" if strange else f"holds {node}"
            raise ValueError(f"where: {condition} {what}; give inequalities between its coordinates.")
        if condition not in (sympy.true, sympy.false):
            _levels.less_side(condition)
    part = _part(base, sympy.And(*joined))
    if part is None:
        raise ValueError(
            f"where: {', '.join(map(str, conditions))} holds nowhere in {region}, or in less than can be found."
        )
    return part


def _boxed(region: Region, joined: list[Any]) -> Region:
    """The box around a region, whose own inequalities are added to `joined`."""
    if isinstance(region, Selection):
        joined += _levels.inequalities(region.where)
        return _boxed(region.base, joined)
    boxes = []
    for factor in region.factors:
        if isinstance(factor, Ball):
            offsets = [s - c for s, c in zip(factor.coordinates, factor.center, strict=True)]
            joined.append(sum(offset**2 for offset in offsets) < factor.radius**2)
            ends = zip(factor.coordinates, factor.center, strict=True)
            boxes += [Interval(s, c - factor.radius, c + factor.radius) for s, c in ends]
        elif isinstance(factor, Interval | Fixed):
            boxes.append(factor)
        else:
            raise ValueError(f"where: {factor} is no box and no ball; give the box around it and intersect the two.")
    return product(*boxes)
