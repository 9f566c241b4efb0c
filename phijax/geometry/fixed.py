"""Fixed: one coordinate at one value, as a slice or as the end of an interval; Point: several of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import as_float, exact, is_space, namespace, symbols
from phijax.geometry.placement import Coordinates, Placement, Rule, space_zeros, written
from phijax.geometry.region import Region


@dataclass(frozen=True)
class Fixed(Region):
    """coordinate = value. `sign`: of the outward normal along the coordinate, 0 for a slice, which has none."""

    coordinate: Symbol
    value: Any
    sign: int = 0

    def __post_init__(self) -> None:
        (symbol,) = symbols(self.coordinate, "Fixed")
        object.__setattr__(self, "value", exact(self.value, f"the value of {symbol}"))
        if self.sign not in (-1, 0, 1):
            raise ValueError(f"Fixed: the sign of the normal along {symbol} is {self.sign!r}; choose -1, 0 or 1.")

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return (self.coordinate,)

    @property
    def dimension(self) -> int:
        return 0

    @property
    def cube_dimension(self) -> int:
        return 0

    @property
    def measure(self) -> float:
        return 1.0

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        return {self.coordinate: (as_float(self.value), as_float(self.value))}

    @property
    def fixed(self) -> dict[Symbol, Expr]:
        return {self.coordinate: self.value}

    @property
    def face_name(self) -> str | None:
        return f"{self.coordinate.name}{'+' if self.sign > 0 else '-'}" if self.sign else None

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        return (self.coordinate,) if self.sign else ()

    @property
    def constant_normal(self) -> dict[Symbol, int]:
        return {self.coordinate: self.sign} if self.sign else {}

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        column = namespace(unit).full(unit.shape[:1], as_float(self.value), unit.dtype)
        if not self.sign:
            return Placement({self.coordinate.name: column})
        normals = space_zeros((self.coordinate,), column)
        return Placement({self.coordinate.name: column}, {name: zero + self.sign for name, zero in normals.items()})

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        return abs(points[self.coordinate.name] - as_float(self.value))

    def quadrature(self, points_per_axis: int) -> Rule:
        name = self.coordinate.name
        normals = {name: np.array([float(self.sign)])} if self.sign and is_space(self.coordinate) else None
        return Rule({name: np.array([as_float(self.value)])}, np.ones(1), normals)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        if as_float(value) != as_float(self.value):
            raise ValueError(f"{symbol} is {self.value} in the whole region, so it can't be {value}.")
        return self

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return ()

    def body(self, tex: bool = False) -> str:
        inside = written(self.value, tex)
        return rf"\{{{inside}\}}" if tex else f"{{{inside}}}"


def Point(values: Mapping[Symbol, Any]) -> Region:
    """One point: `Point({x: 0, y: 1})`."""
    from phijax.geometry.product import product

    if not isinstance(values, Mapping) or not values:
        raise ValueError("Point takes a mapping from coordinates to numbers, as in Point({x: 0, y: 1}).")
    symbols(values, "Point")
    return product(*(Fixed(symbol, value) for symbol, value in values.items()))
