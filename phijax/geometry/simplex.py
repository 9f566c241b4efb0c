"""Simplex: the segment, triangle, tetrahedron of any dimension; its facets, and the exact distance to both."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Float
from sympy import Expr

from phijax.geometry._numbers import as_float, namespace, symbols
from phijax.geometry.fixed import Fixed
from phijax.geometry.interval import Interval
from phijax.geometry.meshed import Meshed, checked_table, column_stack
from phijax.geometry.placement import Coordinates
from phijax.geometry.product import product
from phijax.geometry.region import Region
from phijax.geometry.simplices import Simplices

_EXACT = 8  # coordinates up to which all faces, of which there are 2^(d + 1), are looked at


class _Corners(Meshed):
    """What a simplex and its facets share: the corners, and the distance to what they span."""

    vertices: Any

    def _rows(self, points: Coordinates) -> tuple[Any, Float[Array, "n d"], tuple[int, ...]]:
        column = points[self.names[0]]
        xp = namespace(column)
        return xp, column_stack(points, self.names, xp), column.shape

    def _away(self, xp: Any, rows: Float[Array, "n d"]) -> Float[Array, "n"]:
        """To the nearest point: the least of the distances to the faces on which the point's foot lies."""
        best = xp.full(len(rows), np.inf, rows.dtype)
        for size in range(1, len(self.vertices) + 1):
            for chosen in itertools.combinations(self.vertices, size):
                offset = rows - xp.asarray(chosen[0], rows.dtype)[None]
                if size > 1:
                    steps = np.array(chosen[1:]) - chosen[0]
                    shares = offset @ xp.asarray(np.linalg.pinv(steps), rows.dtype)
                    offset = offset - shares @ xp.asarray(steps, rows.dtype)
                    over = xp.all(shares >= 0, axis=1) & (xp.sum(shares, axis=1) <= 1)
                    best = xp.where(over, xp.minimum(best, xp.linalg.norm(offset, axis=1)), best)
                else:
                    best = xp.minimum(best, xp.linalg.norm(offset, axis=1))
        return best

    def _written(self, kind: str, tex: bool) -> str:
        words = f"{kind} " + " ".join(f"({', '.join(f'{c:.6g}' for c in corner)})" for corner in self.vertices)
        return rf"\text{{{words}}}" if tex else words


@dataclass(frozen=True, eq=False, repr=False)
class Simplex(_Corners):
    """What d + 1 corners over d coordinates span: `Simplex((x, y, z), corners)`, corners of shape (d + 1, d).

    Its boundary is "face 0", ..., "face d"; face i is opposite corner i.
    Raises ValueError for another number of corners, and for corners that span no volume.
    """

    axes: Any
    vertices: Any

    def __post_init__(self) -> None:
        axes = symbols(self.axes, "Simplex")
        vertices = checked_table(self.vertices, "Simplex: the corners", len(axes))
        if len(vertices) != len(axes) + 1:
            raise ValueError(f"Simplex: {len(axes)} coordinates take {len(axes) + 1} corners, not {len(vertices)}.")
        steps = vertices[1:] - vertices[0]
        if np.linalg.matrix_rank(steps / max(float(np.abs(steps).max()), 1e-300), tol=1e-13) < len(axes):
            raise ValueError("Simplex: the corners lie in one plane and span no volume; move one out of it.")
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "vertices", vertices)

    @functools.cached_property
    def simplices(self) -> Simplices:
        return Simplices(self.vertices[None])

    @functools.cached_property
    def _planes(self) -> tuple[Float[np.ndarray, "d d+1"], Float[np.ndarray, " d+1"]]:
        """Outward unit normals of the faces, and their offsets."""
        shares = np.linalg.inv(np.column_stack([self.vertices, np.ones(len(self.vertices))]))
        length = np.linalg.norm(shares[:-1], axis=0)
        return -shares[:-1] / length, shares[-1] / length

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """Exact up to eight coordinates; over more, outside, to the plane of the furthest face, which is less."""
        xp, rows, shape = self._rows(points)
        normals, offsets = (xp.asarray(table, rows.dtype) for table in self._planes)
        planes = xp.max(rows @ normals - offsets[None], axis=1)
        if len(self.axes) <= _EXACT:
            planes = xp.where(planes > 0, self._away(xp, rows), planes)
        return planes.reshape(shape)

    def slice_at(self, symbol: Any, value: Expr) -> Region:
        """An interval of a triangle and a polygon of a tetrahedron; of more dimensions it is refused."""
        axis, level = self.axes.index(symbol), as_float(value)
        others = tuple(a for a in self.axes if a != symbol)
        low, high = self.bounds[symbol]
        if not low < level < high:
            raise ValueError(
                f"{symbol} = {value} does not cut {self.body()}; choose a value between {low:.6g} and {high:.6g}."
            )
        ends = [np.array(pair) for pair in itertools.combinations(self.vertices, 2)]
        cut = [
            a + (level - a[axis]) / (b - a)[axis] * (b - a)
            for a, b in ends
            if (a[axis] - level) * (b[axis] - level) < 0
        ]
        cut += [v for v in self.vertices if v[axis] == level]
        corners = np.delete(np.array(cut), axis, axis=1)
        if not others:
            return Fixed(symbol, value)
        if len(others) == 1:
            return product(Fixed(symbol, value), Interval(others[0], corners.min(), corners.max()))
        if len(others) == 2:
            import shapely

            from phijax.geometry.polygon import Polygon

            around = shapely.get_coordinates(shapely.MultiPoint(corners).convex_hull)
            return product(Fixed(symbol, value), Polygon(others, around))
        raise ValueError(
            f"{symbol} = {value} on {self.body()}: slices of simplices over more than three coordinates are no regions here."
        )

    def faces(self) -> tuple[tuple[str, Region], ...]:
        normals, _ = self._planes
        if len(self.axes) == 1:
            ends = self.vertices[::-1, 0].tolist()
            return tuple((f"face {i}", Fixed(self.axes[0], ends[i], int(np.sign(normals[0, i])))) for i in range(2))
        return tuple(
            (f"face {i}", Facet(self.axes, np.delete(self.vertices, i, axis=0), normals[:, i]))
            for i in range(len(self.vertices))
        )

    def body(self, tex: bool = False) -> str:
        return self._written("simplex", tex)


@dataclass(frozen=True, eq=False, repr=False)
class Facet(_Corners):
    """A flat piece of a boundary: what d corners over d coordinates span, with its unit normal."""

    axes: Any
    vertices: Any
    normal: Any

    def __post_init__(self) -> None:
        axes = symbols(self.axes, "Facet")
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "vertices", checked_table(self.vertices, "Facet: the corners", len(axes)))
        object.__setattr__(self, "normal", checked_table([self.normal], "Facet: the normal", len(axes))[0])

    @functools.cached_property
    def simplices(self) -> Simplices:
        return Simplices(self.vertices[None], self.normal[None])

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """Without sign; exact up to eight coordinates, over more it is refused."""
        if len(self.axes) > _EXACT:
            raise ValueError(f"{self.body()}: no distance to a facet over more than {_EXACT} coordinates.")
        xp, rows, shape = self._rows(points)
        return self._away(xp, rows).reshape(shape)

    def slice_at(self, symbol: Any, value: Expr) -> Region:
        raise ValueError(
            f"{symbol} = {value} on {self.body()}: slices of facets are no regions here; use the simplex's at."
        )

    def body(self, tex: bool = False) -> str:
        return self._written("facet", tex)
