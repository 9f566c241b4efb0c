"""Product: regions over disjoint coordinates, taken together; boxes are products of intervals."""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from jaxtyping import Array, Bool, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import is_space, namespace, symbols
from phijax.geometry.fixed import Fixed
from phijax.geometry.image import Image, grid_over
from phijax.geometry.interval import Interval
from phijax.geometry.placement import Coordinates, Placement, Rule, space_zeros
from phijax.geometry.predicate import evaluate
from phijax.geometry.region import Region
from phijax.geometry.thinned import Thinned
from phijax.geometry.unresolved import Unresolved


@dataclass(frozen=True)
class Product(Region):
    """The Cartesian product of two or more simple regions. Made by `*`, which also flattens."""

    parts: tuple[Region, ...]

    def __post_init__(self) -> None:
        check_disjoint(self.parts)
        object.__setattr__(self, "parts", tuple(factor for part in self.parts for factor in part.factors))

    @property
    def depends(self) -> frozenset[Symbol]:
        return frozenset().union(*(factor.depends for factor in self.factors)) - set(self.coordinates)

    @property
    def factors(self) -> tuple[Region, ...]:
        return self.parts

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return tuple(symbol for factor in self.factors for symbol in factor.coordinates)

    @property
    def dimension(self) -> int:
        return sum(factor.dimension for factor in self.factors)

    @property
    def cube_dimension(self) -> int | None:
        sizes = [factor.cube_dimension for factor in self.factors]
        return None if None in sizes else sum(sizes)  # type: ignore[arg-type]

    @property
    def cover(self) -> Region:
        return self if self.cube_dimension is not None else Product(tuple(factor.cover for factor in self.factors))

    @property
    def measure(self) -> float:
        return math.prod(factor.measure for factor in self.factors)

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        ranges: dict[Symbol, tuple[float, float]] = {}
        for factor in self._in_turn():
            ranges |= factor.bounds_over(ranges) if isinstance(factor, Image) and factor.depends else factor.bounds
        return {symbol: ranges[symbol] for symbol in self.coordinates}

    def _in_turn(self) -> list[Region]:
        """The factors, those that move after what they move with."""
        waiting, done = list(self.factors), []
        while waiting:
            owed = {symbol for factor in waiting for symbol in factor.coordinates}
            ready = [factor for factor in waiting if not factor.depends & owed]
            if not ready:
                raise ValueError(
                    f"{' and '.join(map(str, waiting))} move with each other; let one of them stand still."
                )
            done += ready
            waiting = [factor for factor in waiting if factor not in ready]
        return done

    @property
    def fixed(self) -> dict[Symbol, Expr]:
        return {symbol: value for factor in self.factors for symbol, value in factor.fixed.items()}

    @property
    def periodic(self) -> frozenset[Symbol]:
        return frozenset().union(*(factor.periodic for factor in self.factors))

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        return tuple(symbol for factor in self.factors for symbol in factor.normal_coordinates)

    @property
    def constant_normal(self) -> dict[Symbol, int]:
        return {symbol: sign for factor in self.factors for symbol, sign in factor.constant_normal.items()}

    @property
    def face_name(self) -> str | None:
        return next((factor.face_name for factor in self.factors if factor.face_name), None)

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        own, coordinates, normals = self._split(unit), {}, {}
        for factor in self._in_turn():
            moves = isinstance(factor, Image) and factor.depends
            part = factor.place(own[factor], coordinates) if moves else factor.place(own[factor])  # type: ignore[call-arg]
            coordinates |= part.coordinates
            normals |= part.normals or {}
        coordinates = {name: coordinates[name] for name in self.names}
        if not self.has_normals:
            return Placement(coordinates)
        zeros = space_zeros(self.coordinates, next(iter(coordinates.values())))
        return Placement(coordinates, zeros | normals)

    def _split(self, unit: Float[Array, "n c"]) -> dict[Region, Float[Array, "n k"]]:
        """The share of the cube that serves each factor."""
        edges = np.cumsum([factor.cover.cube_dimension or 0 for factor in self.factors])[:-1]
        return dict(zip(self.factors, namespace(unit).split(unit, edges, axis=1), strict=True))

    def density(self, placement: Placement) -> Float[Array, "n"]:
        return functools.reduce(operator.mul, (factor.density(placement) for factor in self.factors))

    def accept(self, unit: Float[Array, "n c"], placement: Placement) -> Bool[Array, "n"]:
        each = self._split(unit)
        return functools.reduce(operator.and_, (factor.accept(own, placement) for factor, own in each.items()))

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """Exact where nothing moves: outside, distances to factors are legs of a right angle; inside, the nearest edge counts."""
        each = [factor.distance(points) for factor in self.factors]
        xp = namespace(each[0])
        distances = xp.stack(each)
        outside = xp.sqrt(xp.sum(xp.maximum(distances, 0) ** 2, axis=0))
        return xp.where(outside > 0, outside, xp.max(distances, axis=0))

    def quadrature(self, points_per_axis: int) -> Rule:
        """The tensor product of the factors' rules."""
        moving = [factor for factor in self.factors if isinstance(factor, Image) and factor.depends]
        rules = [
            (f.base if isinstance(f, Image) and f in moving else f).quadrature(points_per_axis) for f in self.factors
        ]
        index = np.meshgrid(*(np.arange(len(rule.weights)) for rule in rules), indexing="ij")
        chosen = [each.ravel() for each in index]
        weights = np.prod([rule.weights[i] for rule, i in zip(rules, chosen, strict=True)], axis=0)
        columns, normals = {}, {}
        for rule, i in zip(rules, chosen, strict=True):
            columns |= {name: column[i] for name, column in rule.coordinates.items()}
            normals |= {name: column[i] for name, column in (rule.normals or {}).items()}
        for factor in self._in_turn():
            if factor in moving:
                own = Placement(columns, normals if factor.has_normals else None)
                moved = factor.carried(own, columns)  # type: ignore[attr-defined]
                weights = weights * factor.stretch(moved, columns)  # type: ignore[attr-defined]
                columns, normals = columns | moved.coordinates, normals | (moved.normals or {})
        if not self.has_normals:
            return Rule(columns, weights)
        zeros = {s.name: np.zeros(len(weights)) for s in self.coordinates if is_space(s)}
        return Rule(columns, weights, zeros | normals)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        owner = next(factor for factor in self.factors if symbol in factor.coordinates)
        others = [factor for factor in self.factors if factor is not owner]
        if isinstance(owner, Image) and owner.depends:
            return _across(owner, symbol, value, others)
        sliced = owner.slice_at(symbol, value)
        return product(*(sliced if f is owner else _at(f, symbol, value) for f in self.factors))

    def faces(self) -> tuple[tuple[str, Region], ...]:
        found = []
        bare = [without_normal(factor) for factor in self.factors]
        if any(factor.has_normals for factor in bare):  # a curved wall: its own edge would need another normal
            return ()
        for i, factor in enumerate(bare):
            found += [(name, product(*bare[:i], face, *bare[i + 1 :])) for name, face in factor.faces()]
        return tuple(found)

    def body(self, tex: bool = False) -> str:
        from phijax.geometry.combination import Combination

        each = [(factor.body(tex), isinstance(factor, Combination)) for factor in self.factors]
        return (r" \times " if tex else " x ").join(f"({body})" if joined else body for body, joined in each)


def without_normal(region: Region) -> Region:
    """The same set of points, no longer a piece of a boundary."""
    if isinstance(region, Product | Thinned):
        return product(*(without_normal(factor) for factor in region.factors))
    if isinstance(region, Image) and region.has_normals:
        return Image(without_normal(region.base), region.matrix, region.shift)
    return Fixed(region.coordinate, region.value) if isinstance(region, Fixed) else region


def _at(factor: Region, symbol: Symbol, value: Expr) -> Region:
    """A factor where a coordinate of another one has a value."""
    from phijax.geometry.motions import image

    if not isinstance(factor, Image) or symbol not in factor.depends:
        return factor
    matrix = tuple(tuple(entry.subs(symbol, value) for entry in row) for row in factor.matrix)
    determinant: Any = sympy.Matrix(matrix).det()
    if sympy.simplify(determinant) == 0:
        raise ValueError(f"at {symbol} = {value}, {factor.body()} has no extent.")
    return image(factor.base, matrix, tuple(entry.subs(symbol, value) for entry in factor.shift))


def _check_extents(whole: Product) -> None:
    """ValueError where a moving factor turns inside out, as an interval whose upper end passes the lower one."""
    known = {s: pair for f in whole.factors if not f.depends for s, pair in f.bounds.items()}
    for factor in whole.factors:
        if not isinstance(factor, Image) or not factor.depends <= set(known):
            continue
        around: Any = grid_over({symbol: known[symbol] for symbol in factor.depends})
        size = np.broadcast_to(evaluate(factor.determinant, around, np), next(iter(around.values())).shape)
        bad = ~(size >= 0) if np.mean(size > 0) > 0.5 else ~(size <= 0)
        if bad.any() or not size.any():
            row = int(np.argmax(bad))
            place = ", ".join(f"{name} = {column[row]:.4g}" for name, column in around.items())
            raise ValueError(f"{factor.body()} has no extent, or a negative one, at {place}; mend its bounds.")


def _across(owner: Image, symbol: Symbol, value: Expr, others: list[Region]) -> Region:
    """The part of {symbol = value} that a moving interval passes over."""
    from phijax.geometry.selection import restrict

    if len(owner.coordinates) > 1:
        raise ValueError(f"{symbol} = {value} across {owner.body()}, which moves; use phi.where on a box.")
    low, high = (owner.matrix[0][0] * end + owner.shift[0] for end in (owner.base.lower, owner.base.upper))  # type: ignore[attr-defined]
    part = restrict(product(Fixed(symbol, value), *others), sympy.And(low <= value, value <= high))
    if part is None or part.empty:
        raise ValueError(f"{symbol} = {value} is outside {owner.body()}; choose a value in it.")
    return part


def check_disjoint(factors: tuple[Region, ...]) -> None:
    seen: dict[str, Region] = {}
    for factor in factors:
        for name in factor.names:
            if name in seen:
                raise ValueError(
                    f"the product of {seen[name]} and {factor} has the coordinate {name!r} twice; "
                    f"regions that are multiplied must have different coordinates."
                )
            seen[name] = factor


def product(*regions: Region) -> Region:
    """The product, distributed over unions and selections, and over all that moves; of one region, itself."""
    from phijax.geometry.boundary import Boundary
    from phijax.geometry.combination import Combination
    from phijax.geometry.named import Named
    from phijax.geometry.selection import Selection
    from phijax.geometry.trimmed import Trimmed

    check_disjoint(regions)
    if len(regions) == 1:
        return regions[0]
    faults = tuple(fault for region in regions for fault in region.faults if isinstance(region, Unresolved))
    if faults:
        return Unresolved(tuple(s for region in regions for s in region.coordinates), faults)
    for i, region in enumerate(regions):
        around = lambda piece, i=i: product(*regions[:i], piece, *regions[i + 1 :])
        if isinstance(region, Boundary):
            return Boundary(tuple((name, around(piece)) for name, piece in region.pieces))
        if isinstance(region, Selection):
            return type(region)(around(region.base), region.where)  # an implicit region stays one
        if isinstance(region, Named):
            return Named(around(region.base), region.labels)
        if isinstance(region, Combination | Trimmed) and region.depends:
            return region.each(around)
    whole = Product(regions)
    if not any(factor.depends for factor in whole.factors):
        return whole
    _check_extents(whole)
    return whole if whole.depends else Thinned(whole)


def Box(*sides: tuple[Symbol, Any, Any]) -> Region:
    """The product of intervals, one `(coordinate, lower, upper)` an axis: `Box((x, 0, 1), (y, 0, 1), (z, 0, 1))`."""
    return _box("Box", sides)


def Rectangle(*sides: tuple[Symbol, Any, Any]) -> Region:
    """The box over two coordinates: `Rectangle((x, 0, 2), (y, 0, 1))`."""
    if len(sides) != 2:
        raise ValueError(f"Rectangle: give two sides, not {len(sides)}; in other dimensions use phi.Box.")
    return _box("Rectangle", sides)


def _box(shape: str, sides: tuple) -> Region:
    for side in sides:
        if not isinstance(side, tuple | list) or len(side) != 3:
            raise ValueError(f"{shape}: each side is (coordinate, lower, upper), as in (x, 0, 1); got {side!r}.")
    if not sides:
        raise ValueError(f"{shape}: give at least one side, as in (x, 0, 1).")
    symbols([side[0] for side in sides], shape)
    return product(*(Interval(*side) for side in sides))
