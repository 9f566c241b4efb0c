"""Selection: the part of a region where a condition holds, cut exactly out of boxes, else taken by acceptance."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from jaxtyping import Array, Bool, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import as_float
from phijax.geometry.arcs import cut
from phijax.geometry.interval import Interval
from phijax.geometry.placement import Coordinates, Placement, Rule, written
from phijax.geometry.predicate import holds
from phijax.geometry.probes import probed
from phijax.geometry.product import product
from phijax.geometry.region import Region
from phijax.geometry.wrapped import Wrapped

_PROBES = 16384  # points from which the measure of a part is estimated


@dataclass(frozen=True)
class Selection(Wrapped):
    """The part of `base` where `where` holds.

    Of a curve that stands still, also times other regions, it is cut exactly. Else its points are those of `base` that
    pass, and its measure is an estimate.
    """

    base: Region
    where: Any

    @functools.cached_property
    def _cut(self) -> Region | None:
        """The same without a condition, None where it can't be said so."""
        factors = self.base.factors
        judged = [factor for factor in factors if self.where.free_symbols & set(factor.coordinates)]
        if len(judged) != 1 or judged[0].cube_dimension != 1 or self.base.depends:
            return None
        part = cut(judged[0], lambda placement: holds(self.where, placement.coordinates))
        return None if part is None else product(*(part if factor is judged[0] else factor for factor in factors))

    @property
    def cube_dimension(self) -> int | None:
        return None if self._cut is None else self._cut.cube_dimension

    @property
    def cover(self) -> Region:
        return self.base.cover if self._cut is None else self._cut.cover

    @functools.cached_property
    def acceptance(self) -> float:
        """Share of `base` that is selected, by 16384 evenly spread points; of NumPy alone, since declarations ask for it."""
        return float(np.mean(probed(self, _PROBES)[1]))

    @property
    def measure(self) -> float:
        return self.acceptance * self.cover.measure if self._cut is None else self._cut.measure

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        return self.base.bounds if self._cut is None else self._cut.bounds

    @property
    def breaks(self) -> Float[np.ndarray, "m"]:
        return self._plain("corners").breaks

    @property
    def empty(self) -> bool:
        return self._cut is None and self.acceptance == 0

    @property
    def faults(self) -> tuple[str, ...]:
        if not self.empty:
            return ()
        return (f"where={self.where} selects no point of {self.base}, or a part too thin to find; mend the condition.",)

    def accept(self, unit: Float[Array, "n c"], placement: Placement) -> Bool[Array, "n"]:
        if self._cut is not None:
            return self._cut.accept(unit, placement)
        return self.base.accept(unit, placement) & holds(self.where, placement.coordinates)

    def inside(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        return self.base.inside(points, tolerance) & holds(self.where, points)

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        return self._plain("map").place(unit)

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        return self._plain("distance").distance(points)

    def quadrature(self, points_per_axis: int) -> Rule:
        return self._plain("rule").quadrature(points_per_axis)

    def _plain(self, what: str) -> Region:
        if self._cut is None:
            raise ValueError(f"{self} is a part chosen by a condition: it has no {what}; sample it instead.")
        return self._cut

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        part = restrict(self.base.slice_at(symbol, value), self.where)
        if part is None:
            raise ValueError(f"at {symbol} = {value} the condition {self.where} holds nowhere.")
        return part

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return ()

    def body(self, tex: bool = False) -> str:
        condition = written(self.where, tex)
        return self.base.body(tex) + (r" \text{ where } " if tex else " where ") + condition


def restrict(region: Region, where: Any) -> Region | None:
    """The part of a piece where the condition holds, cut exactly where that can be done; None where it is empty."""
    if isinstance(region, Selection):
        return restrict(region.base, sympy.And(region.where, where))
    left = _decide_equalities(sympy.sympify(where), region.fixed).subs(region.fixed)
    if left == sympy.true:
        return region
    if left == sympy.false:
        return None
    factors, uncut = {s: factor for factor in region.factors for s in factor.coordinates}, []
    for condition in sympy.And.make_args(left):
        half_line = _half_line(condition)
        factor = factors.get(half_line[0]) if half_line else None
        if half_line is None or not isinstance(factor, Interval):
            uncut.append(condition)
            continue
        clipped = _clip(factor, *half_line[1:])
        if clipped is None:
            return None
        factors[half_line[0]] = clipped
    kept = [factors[f.coordinate] if isinstance(f, Interval) else f for f in region.factors]
    part = product(*kept)
    return Selection(part, sympy.And(*uncut)) if uncut else part


def _decide_equalities(where: Any, fixed: Mapping[Symbol, Expr]) -> Any:
    """Equalities between known numbers, judged as doubles: 1/10 and 0.1 are one value here."""

    def decide(node: Any) -> Any:
        left, right = (as_float(side.subs(fixed)) for side in node.args)
        equal = abs(left - right) <= 4 * np.finfo(float).eps * max(abs(left), abs(right))
        return sympy.true if equal == isinstance(node, sympy.Eq) else sympy.false

    return where.replace(lambda n: isinstance(n, sympy.Eq | sympy.Ne) and n.free_symbols <= set(fixed), decide)


def _half_line(condition: Any) -> tuple[Symbol, bool, Expr] | None:
    """(symbol, whether the bound is a lower one, bound) of an inequality that is linear in one symbol."""
    if not isinstance(condition, sympy.Gt | sympy.Ge | sympy.Lt | sympy.Le) or len(condition.free_symbols) != 1:
        return None
    symbol: Any = next(iter(condition.free_symbols))
    difference = sympy.expand(condition.gts - condition.lts)  # type: ignore[operator]
    slope = difference.coeff(symbol)
    rest = sympy.expand(difference - slope * symbol)
    if slope.free_symbols or rest.free_symbols or slope == 0:
        return None
    return symbol, as_float(slope) > 0, -rest / slope


def _clip(interval: Interval, is_lower: bool, bound: Expr) -> Interval | None:
    """The interval on one side of the bound; itself where the bound is outside; None where nothing is left."""
    lower, upper = interval.ends
    if as_float(bound) <= lower:
        return interval if is_lower else None
    if as_float(bound) >= upper:
        return None if is_lower else interval
    low, high = (bound, interval.upper) if is_lower else (interval.lower, bound)
    return Interval(interval.coordinate, low, high)
