"""Product: regions over disjoint coordinates, taken together; boxes are products of intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import is_space, namespace, symbols
from phijax.geometry.interval import Interval
from phijax.geometry.region import Coordinates, Placement, Region, Rule, space_zeros
from phijax.geometry.unresolved import Unresolved


@dataclass(frozen=True)
class Product(Region):
    """The Cartesian product of two or more simple regions. Made by `*`, which also flattens."""

    parts: tuple[Region, ...]

    def __post_init__(self) -> None:
        check_disjoint(self.parts)
        object.__setattr__(self, "parts", tuple(factor for part in self.parts for factor in part.factors))

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
    def measure(self) -> float:
        return math.prod(factor.measure for factor in self.factors)

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        return {symbol: pair for factor in self.factors for symbol, pair in factor.bounds.items()}

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
        edges = np.cumsum([factor.cube_dimension or 0 for factor in self.factors])[:-1]
        coordinates, normals = {}, {}
        for factor, own in zip(self.factors, namespace(unit).split(unit, edges, axis=1), strict=True):
            part = factor.place(own)
            coordinates |= part.coordinates
            normals |= part.normals or {}
        if not self.has_normals:
            return Placement(coordinates)
        zeros = space_zeros(self.coordinates, next(iter(coordinates.values())))
        return Placement(coordinates, zeros | normals)

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """Exact: outside, the distances to the factors are legs of a right angle; inside, the nearest edge counts."""
        distances = jnp.stack([factor.distance(points) for factor in self.factors])
        outside = jnp.sqrt(jnp.sum(jnp.maximum(distances, 0) ** 2, axis=0))
        return jnp.where(outside > 0, outside, jnp.max(distances, axis=0))

    def quadrature(self, points_per_axis: int) -> Rule:
        """The tensor product of the factors' rules."""
        rules = [factor.quadrature(points_per_axis) for factor in self.factors]
        index = np.meshgrid(*(np.arange(len(rule.weights)) for rule in rules), indexing="ij")
        chosen = [each.ravel() for each in index]
        weights = np.prod([rule.weights[i] for rule, i in zip(rules, chosen, strict=True)], axis=0)
        columns, normals = {}, {}
        for rule, i in zip(rules, chosen, strict=True):
            columns |= {name: column[i] for name, column in rule.coordinates.items()}
            normals |= {name: column[i] for name, column in (rule.normals or {}).items()}
        if not self.has_normals:
            return Rule(columns, weights)
        zeros = {s.name: np.zeros(len(weights)) for s in self.coordinates if is_space(s)}
        return Rule(columns, weights, zeros | normals)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        return product(*(f.slice_at(symbol, value) if symbol in f.coordinates else f for f in self.factors))

    def faces(self) -> tuple[tuple[str, Region], ...]:
        found = []
        bare = [without_normal(factor) for factor in self.factors]
        if any(factor.has_normals for factor in bare):  # a curved wall: its own edge would need another normal
            return ()
        for i, factor in enumerate(bare):
            found += [(name, product(*bare[:i], face, *bare[i + 1 :])) for name, face in factor.faces()]
        return tuple(found)

    def body(self, tex: bool = False) -> str:
        return (r" \times " if tex else " x ").join(factor.body(tex) for factor in self.factors)


def without_normal(region: Region) -> Region:
    """The same set of points, no longer a piece of a boundary."""
    from phijax.geometry.fixed import Fixed

    if isinstance(region, Product):
        return Product(tuple(without_normal(factor) for factor in region.factors))
    return Fixed(region.coordinate, region.value) if isinstance(region, Fixed) else region


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
    """The product, distributed over unions and selections; of one region, itself."""
    from phijax.geometry.boundary import Boundary
    from phijax.geometry.selection import Selection

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
    return Product(regions)


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
