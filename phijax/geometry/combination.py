"""Combination: union, intersection and difference of regions over the same coordinates."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Array, Bool, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import is_space, namespace
from phijax.geometry.boundary import Boundary
from phijax.geometry.lines import along_lines
from phijax.geometry.placement import Coordinates, Placement, Rule
from phijax.geometry.probes import probed
from phijax.geometry.product import product
from phijax.geometry.region import Region
from phijax.geometry.trimmed import Trimmed, trimmed

UNION, INTERSECTION, DIFFERENCE = "union", "intersection", "difference"
_SIGNS = {UNION: "|", INTERSECTION: "&", DIFFERENCE: "-"}
_TEX = {UNION: r"\cup", INTERSECTION: r"\cap", DIFFERENCE: r"\setminus"}
_PROBES = 16384
_EDGE_PROBES = 1024  # of each piece of a boundary
_RULE_POINTS = 4  # a panel, for the measure
# What is kept of the pieces of the first and of the second region: inside the other one or outside of it, and whether
# where the two boundaries coincide with the same outward normal, or with opposite ones. The second gives way to the first.
_KEPT: dict[str, tuple[dict[str, bool], dict[str, bool]]] = {
    UNION: ({"inner": False, "shared": True}, {"inner": False}),
    INTERSECTION: ({"inner": True, "shared": True}, {"inner": True}),
    DIFFERENCE: ({"inner": False, "opposite": True}, {"inner": True, "flipped": True}),
}


@dataclass(frozen=True)
class Combination(Region):
    """`first` and `second` joined by one of "union", "intersection" and "difference"; made by `|`, `&` and `-`."""

    kind: str
    first: Region
    second: Region

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return self.first.coordinates

    @property
    def depends(self) -> frozenset[Symbol]:
        return self.first.depends | self.second.depends

    def each(self, change: Callable[[Region], Region]) -> Region:
        """The same of changed regions."""
        return combined(self.kind, change(self.first), change(self.second))

    @property
    def dimension(self) -> int:
        return self.first.dimension

    @property
    def cube_dimension(self) -> None:
        return None

    @functools.cached_property
    def cover(self) -> Region:
        if self.kind == UNION:
            return Boundary((("first", self.first.cover), ("second", self.second.cover)))
        if self.kind == DIFFERENCE or self.first.measure <= self.second.measure:
            return self.first.cover
        return self.second.cover

    def accept(self, unit: Float[Array, "n c"], placement: Placement) -> Bool[Array, "n"]:
        if self.kind == UNION:
            is_first = self.cover.piece_of(unit) == 0  # type: ignore[attr-defined]
            each = self.cover.accept_by(unit, placement, (self.first, self.second))  # type: ignore[attr-defined]
            return each & (is_first | ~_open(self.first, placement.coordinates))
        if self.kind == DIFFERENCE:
            return self.first.accept(unit, placement) & ~self.second.inside(placement.coordinates, 0.0)
        covering, other = (self.first, self.second) if self.cover == self.first.cover else (self.second, self.first)
        return covering.accept(unit, placement) & _open(other, placement.coordinates)

    @functools.cached_property
    def measure(self) -> float:
        """Exact in the plane, and where one region holds the other or the two are apart; else by lines through them."""
        common = _common(self.first, self.second)
        if common is None:
            common = self._measured_common()
        if self.kind == INTERSECTION:
            return common
        return self.first.measure - common + (self.second.measure if self.kind == UNION else 0.0)

    def _measured_common(self) -> float:
        both = self if self.kind == INTERSECTION else Combination(INTERSECTION, self.first, self.second)
        if both.dimension == 2 and all(is_space(symbol) for symbol in both.coordinates):
            return enclosed(both)
        return float(np.sum(along_lines(both, _RULE_POINTS).weights))

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        one, two = self.first.bounds, self.second.bounds
        if self.kind == DIFFERENCE:
            return one
        low, high = (min, max) if self.kind == UNION else (max, min)
        return {s: (low(one[s][0], two[s][0]), high(one[s][1], two[s][1])) for s in self.coordinates}

    @property
    def periodic(self) -> frozenset[Symbol]:
        return self.first.periodic & self.second.periodic

    @property
    def faults(self) -> tuple[str, ...]:
        found = self.first.faults + self.second.faults
        if not found and not self.depends and self.empty:
            return (f"{self} holds no point; look at where the two regions are.",)
        return found

    @functools.cached_property
    def empty(self) -> bool:
        if self.kind == UNION:
            return self.first.empty and self.second.empty
        return not np.any(probed(self, _PROBES)[1])

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        raise ValueError(f"{self} has no map from a cube: draw its points by acceptance (RegionSampler does).")

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """Right in sign, and no more than the distance."""
        one, two = self.first.distance(points), self.second.distance(points)
        xp = namespace(one)
        if self.kind == UNION:
            return xp.minimum(one, two)
        return xp.maximum(one, two if self.kind == INTERSECTION else -two)

    def inside(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        one = self.first.inside(points, tolerance)
        if self.kind == DIFFERENCE:
            return one & ~_open(self.second, points, tolerance or 0.0)
        two = self.second.inside(points, tolerance)
        return one | two if self.kind == UNION else one & two

    def quadrature(self, points_per_axis: int) -> Rule:
        """Along lines, cut at the edge; its weights sum to the measure to about 1e-4, and less well where the edge has cusps."""
        return along_lines(self, points_per_axis)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        parts = []
        for region in (self.first, self.second):
            try:
                parts.append(region.slice_at(symbol, value))
            except ValueError:
                parts.append(None)
        first, second = parts
        if first is not None and second is not None:
            held = [factor for factor in first.factors if symbol in factor.fixed and factor in second.factors]
            rests = [_without(region, held) for region in (first, second)]
            if not all(rests):
                raise ValueError(f"{symbol} = {value} across {self.body()}: its slices are no regions here.")
            return product(combined(self.kind, *rests), *held)  # type: ignore[arg-type]
        if self.kind == UNION and (first is not None or second is not None):
            return first if first is not None else second  # type: ignore[return-value]
        if self.kind == DIFFERENCE and first is not None:
            return first
        raise ValueError(f"{symbol} = {value} is outside {self.body()}; choose a value in it.")

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return self._faces

    @functools.cached_property
    def _faces(self) -> tuple[tuple[str, Region], ...]:
        found = []
        pairs = zip((self.first, self.second), (self.second, self.first), _KEPT[self.kind], strict=True)
        for region, other, kept in pairs:
            for name, face in region.faces():
                part = trimmed(Trimmed(face, other, **kept))
                found += [] if not part.depends and part.empty else [(name, part)]
        return tuple(found)

    def body(self, tex: bool = False) -> str:
        wrap = lambda region: f"({region.body(tex)})" if isinstance(region, Combination) else region.body(tex)
        return f"{wrap(self.first)} {(_TEX if tex else _SIGNS)[self.kind]} {wrap(self.second)}"


def _open(region: Region, points: Coordinates, tolerance: float = 0.0) -> Bool[Array, "*n"]:
    """Which points lie strictly inside, by more than the tolerance."""
    dtype = next(iter(points.values())).dtype
    return region.inside(points, -tolerance - float(np.finfo(dtype).tiny))


def _without(region: Region, factors: list[Region]) -> Region | None:
    left = [factor for factor in region.factors if factor not in factors]
    return product(*left) if left else None


def _common(first: Region, second: Region) -> float | None:
    """Measure of what two regions share where one holds the other, or they are apart; None where neither is so."""
    pairs = ((first, second), (second, first))
    shares = [_share_inside(region, other) for region, other in pairs]
    if shares == [0.0, 0.0] and not any(_edge_inside(region, other).any() for region, other in pairs):
        return 0.0
    for (region, other), share in zip(pairs, shares, strict=True):
        if share == 1.0 and _edge_inside(region, other, 1e-9).all():
            return region.measure
    return None


def _share_inside(region: Region, other: Region) -> float:
    """The share of one region that is in the other, by evenly spread points."""
    points, own = probed(region, _PROBES)
    both = own & np.asarray(other.inside(points, 0.0))  # type: ignore[arg-type]
    return int(both.sum()) / max(int(own.sum()), 1)


def _edge_inside(region: Region, other: Region, tolerance: float = -1e-9) -> Bool[np.ndarray, "m"]:
    """Which points of the boundary are in the other one, to a tolerance in sizes: slivers show there that no probe meets."""
    size = max(high - low for low, high in other.bounds.values())
    found = [np.zeros(0, bool)]
    for _, face in () if region.depends or other.depends else region.faces():
        points, own = probed(face, _EDGE_PROBES)
        found.append(np.asarray(other.inside(points, tolerance * size))[own])  # type: ignore[arg-type]
    return np.concatenate(found)


def enclosed(region: Region) -> float:
    """Measure of what the boundary of a region encloses: the mean of x.n over the dimension, times its measure."""
    total = 0.0
    for _, face in region.faces():
        rule = face.quadrature(32)
        outward = sum(rule.coordinates[name] * rule.normals[name] for name in region.names)  # type: ignore[index]
        total += float(np.sum(rule.weights * outward))
    return total / region.dimension


def combined(kind: str, first: Region, second: Region) -> Region:
    """The combination of two regions over the same coordinates; never raises for regions, as selections do not."""
    from phijax.geometry.unresolved import Unresolved

    faults = first.faults + second.faults if isinstance(first, Unresolved) or isinstance(second, Unresolved) else ()
    if not faults and set(first.coordinates) != set(second.coordinates):
        faults = (f"the {kind} of {first} and {second}: the two must be over the same coordinates.",)
    whole = [len(r.coordinates) == r.dimension for r in (first, second)]
    if not faults and not all(whole):
        faults = (
            f"the {kind} of {first} and {second}: the two must have an inside. Take pieces of a boundary together by one name, "
            f'as in plate.named(top="edge", bottom="edge").side("edge"), or by plate.boundary(where=...).',
        )
    if faults:
        return Unresolved(first.coordinates, faults)
    return Combination(kind, first, second)
