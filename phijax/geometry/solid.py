"""Solid: what a closed surface of triangles bounds; its points are accepted from columns that hold it tightly."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from jaxtyping import Array, Bool, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import namespace
from phijax.geometry.boxes import Boxes
from phijax.geometry.columns import Columns
from phijax.geometry.meshed import Meshed, column_stack, read_only
from phijax.geometry.placement import Coordinates, Placement, Rule
from phijax.geometry.region import Region
from phijax.geometry.simplices import Simplices
from phijax.geometry.surface import Surface, checked_mesh
from phijax.geometry.winding import open_edges, outward, signed_volume, told_open


@dataclass(frozen=True, eq=False, repr=False)
class Solid(Meshed):
    """What closed triangles bound: `Solid((x, y, z), vertices, triangles)`; vertices (n, 3), triangles (m, 3) of rows.

    Triangles may turn either way: they are turned outward, and into the hollows of nested shells. Its boundary is
    "surface". Points on the surface itself may count as inside or not; give `contains` a tolerance to decide it.
    Raises ValueError for a surface that is open, with the number of its open edges and a place.
    """

    axes: Any
    vertices: Any
    triangles: Any

    def __post_init__(self) -> None:
        axes, vertices, triangles = checked_mesh("Solid", self.axes, self.vertices, self.triangles)
        found = open_edges(triangles)
        if len(found):
            raise ValueError(
                f"Solid: the surface is not closed: {told_open(vertices, found)}; mend it, or use phi.Surface."
            )
        turned = read_only(outward(vertices, triangles))
        for field, value in (("axes", axes), ("vertices", vertices), ("triangles", turned)):
            object.__setattr__(self, field, value)

    @functools.cached_property
    def _surface(self) -> Surface:
        return Surface(self.axes, self.vertices, self.triangles)

    @property
    def simplices(self) -> Simplices:
        return self._surface.simplices

    @property
    def dimension(self) -> int:
        return 3

    @property
    def cube_dimension(self) -> None:
        return None

    @functools.cached_property
    def measure(self) -> float:
        return signed_volume(self.simplices.corners)

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        return ()

    @functools.cached_property
    def _columns(self) -> Columns:
        return Columns.of(self.simplices.corners)

    @functools.cached_property
    def cover(self) -> Boxes:
        return Boxes(self.axes, *self._columns.boxes())

    def place(self, unit: Float[Array, "n c"]) -> NoReturn:
        raise ValueError(f"{self} has no map from a cube; sample it instead.")

    def accept(self, unit: Float[Array, "n c"], placement: Placement) -> Bool[Array, "n"]:
        return self.inside(placement.coordinates)

    def inside(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        if tolerance:
            return self.distance(points) <= tolerance
        column = points[self.names[0]]
        return self._columns.enclose(column_stack(points, self.names, namespace(column))).reshape(column.shape)

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """Exact: to the nearest triangle. In compiled code every triangle is looked at."""
        away = self._surface.distance(points)
        return namespace(away).where(self.inside(points), -away, away)

    def quadrature(self, points_per_axis: int) -> Rule:
        """A tetrahedron from the middle of the vertices to each triangle, with a negative weight where it turns inward.

        Of a solid that is not seen whole from its middle, some nodes are outside.
        """
        corners = self.simplices.corners
        middle = self.vertices.mean(axis=0)
        apex = np.broadcast_to(middle, (len(corners), 1, 3))
        nodes, weights, index = Simplices(np.concatenate([apex, corners], axis=1)).quadrature(points_per_axis)
        signs = np.sign(np.linalg.det(corners - middle))
        return Rule(self._named(nodes.T), weights * signs[index])

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        raise ValueError(
            f"{symbol} = {value} in {self.body()}: slices of solids are no regions here yet; give the slice as a phi.Polygon."
        )

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return (("surface", self._surface),)

    def body(self, tex: bool = False) -> str:
        words = f"solid of {len(self.triangles)} triangles"
        return rf"\text{{{words}}}" if tex else words
