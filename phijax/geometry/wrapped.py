"""Wrapped: a region that says something more of another one, and passes on all the rest."""

from __future__ import annotations

import numpy as np
from jaxtyping import Array, Bool, Float
from sympy import Expr, Symbol

from phijax.geometry.placement import Coordinates, Placement, Rule
from phijax.geometry.region import Region


class Wrapped(Region):
    """What it does not say itself is what `base` says."""

    base: Region

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return self.base.coordinates

    @property
    def depends(self) -> frozenset[Symbol]:
        return self.base.depends

    @property
    def dimension(self) -> int:
        return self.base.dimension

    @property
    def cube_dimension(self) -> int | None:
        return self.base.cube_dimension

    @property
    def breaks(self) -> Float[np.ndarray, "m"]:
        return self.base.breaks

    @property
    def cover(self) -> Region:
        return self if self.cube_dimension is not None else self.base.cover

    @property
    def measure(self) -> float:
        return self.base.measure

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        return self.base.bounds

    @property
    def fixed(self) -> dict[Symbol, Expr]:
        return self.base.fixed

    @property
    def periodic(self) -> frozenset[Symbol]:
        return self.base.periodic

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        return self.base.normal_coordinates

    @property
    def constant_normal(self) -> dict[Symbol, int]:
        return self.base.constant_normal

    @property
    def face_name(self) -> str | None:
        return self.base.face_name

    @property
    def empty(self) -> bool:
        return self.base.empty

    @property
    def faults(self) -> tuple[str, ...]:
        return self.base.faults

    def place(self, unit: Float[Array, "n c"], around: Coordinates | None = None) -> Placement:
        return self.base.place(unit, around) if self.depends else self.base.place(unit)  # type: ignore[call-arg]

    def accept(self, unit: Float[Array, "n c"], placement: Placement) -> Bool[Array, "n"]:
        return self.base.accept(unit, placement)

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        return self.base.distance(points)

    def inside(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        return self.base.inside(points, tolerance)

    def quadrature(self, points_per_axis: int) -> Rule:
        return self.base.quadrature(points_per_axis)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        return self.base.slice_at(symbol, value)

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return self.base.faces()

    def body(self, tex: bool = False) -> str:
        return self.base.body(tex)
