"""Surface: triangles in space, as of a scanned or a drawn part, with the normal of each."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Float, Int
from sympy import Expr, Symbol

from phijax.geometry._numbers import namespace
from phijax.geometry.meshed import Meshed, checked_axes, checked_table, column_stack, read_only
from phijax.geometry.nearest import Nearest
from phijax.geometry.placement import Coordinates
from phijax.geometry.region import Region
from phijax.geometry.simplices import Simplices


@dataclass(frozen=True, eq=False, repr=False)
class Surface(Meshed):
    """Triangles: `Surface((x, y, z), vertices, triangles)`; vertices (n, 3), triangles (m, 3) of rows of vertices.

    Points are uniform by area; the normal is on the side from which a triangle's corners run counterclockwise.
    Raises ValueError for rows that do not exist and triangles without area.
    """

    axes: Any
    vertices: Any
    triangles: Any

    def __post_init__(self) -> None:
        axes, vertices, triangles = checked_mesh("Surface", self.axes, self.vertices, self.triangles)
        for field, value in (("axes", axes), ("vertices", vertices), ("triangles", triangles)):
            object.__setattr__(self, field, value)

    @functools.cached_property
    def simplices(self) -> Simplices:
        corners = self.vertices[self.triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return Simplices(corners, normals / np.linalg.norm(normals, axis=1, keepdims=True))

    @functools.cached_property
    def _nearest(self) -> Nearest:
        return Nearest(self.simplices.corners)

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """To the nearest triangle, exactly; without sign."""
        column = points[self.names[0]]
        return self._nearest(column_stack(points, self.names, namespace(column))).reshape(column.shape)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        raise ValueError(
            f"{symbol} = {value} on {self.body()}: its slices are no regions here; use boundary(where=...)."
        )

    def body(self, tex: bool = False) -> str:
        words = f"surface of {len(self.triangles)} triangles"
        return rf"\text{{{words}}}" if tex else words


def checked_mesh(
    what: str, coordinates: Any, vertices: Any, triangles: Any
) -> tuple[tuple[Symbol, ...], Float[np.ndarray, "n 3"], Int[np.ndarray, "m 3"]]:
    """Three coordinates, read-only vertices and triangles; ValueError for what makes no surface."""
    axes = checked_axes(coordinates, what, 3)
    table = checked_table(vertices, f"{what}: the vertices", 3)
    rows = checked_table(triangles, f"{what}: the triangles", 3)
    if not len(rows):
        raise ValueError(f"{what}: give at least one triangle.")
    index = rows.astype(np.int32)
    bad = np.any((index != rows) | (index < 0) | (index >= len(table)), axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"{what}: triangle {row} is {rows[row].tolist()}; its numbers are rows of the {len(table)} vertices, from 0."
        )
    areas = Simplices(table[index]).measures
    if not areas.all():
        row = int(np.argmin(areas))
        raise ValueError(f"{what}: triangle {row}, {index[row].tolist()}, has no area; leave it out.")
    return axes, table, read_only(index)
