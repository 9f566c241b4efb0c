"""Polyline: straight edges in the plane, such as the outline of a polygon, with a normal to each."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import as_float, namespace
from phijax.geometry.cloud import PointCloud
from phijax.geometry.meshed import Meshed, checked_axes, checked_table, column_stack
from phijax.geometry.nearest import Nearest
from phijax.geometry.placement import Coordinates
from phijax.geometry.region import Region
from phijax.geometry.simplices import Simplices

_FEW = 12  # edges that are reached by number


@dataclass(frozen=True, eq=False, repr=False)
class Polyline(Meshed):
    """The edges between corners that follow each other: `Polyline((x, y), corners)`; corners of shape (n, 2).

    closed: whether there is an edge from the last corner to the first.
    side_of_normal: where the normal is, walking along: 1 right, -1 left. outline: name of what it is an edge of, if any.
    """

    axes: Any
    vertices: Any
    closed: bool = True
    side_of_normal: int = 1
    outline: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", checked_axes(self.axes, "Polyline", 2))
        object.__setattr__(self, "vertices", checked_table(self.vertices, "Polyline: the corners", 2))
        if len(self.vertices) < 2:
            raise ValueError("Polyline: give at least two corners.")
        if not self.simplices.measures.all():
            raise ValueError(f"Polyline: corner {int(np.argmin(self.simplices.measures))} is given twice in a row.")

    @functools.cached_property
    def simplices(self) -> Simplices:
        following = np.roll(self.vertices, -1, axis=0)
        corners = np.stack([self.vertices, following], axis=1)[: None if self.closed else -1]
        dx, dy = (corners[:, 1] - corners[:, 0]).T
        with np.errstate(invalid="ignore"):
            normals = self.side_of_normal * np.stack([dy, -dx], axis=1) / np.hypot(dx, dy)[:, None]
        return Simplices(corners, normals)

    @property
    def edges(self) -> tuple[tuple[str, Polyline], ...]:
        """Each edge by number, from one corner to the next, where there are few."""
        ends = self.simplices.corners
        if len(ends) > _FEW:
            return ()
        part = lambda pair: Polyline(self.axes, pair, False, self.side_of_normal, self.outline)
        return tuple((f"edge {i}", part(pair)) for i, pair in enumerate(ends))

    @property
    def face_name(self) -> str | None:
        return self.outline or None

    @property
    def breaks(self) -> Float[np.ndarray, "m"]:
        """Where the map from (0, 1) has a corner."""
        return np.cumsum(self.simplices.measures)[:-1] / self.measure

    @functools.cached_property
    def _nearest(self) -> Nearest:
        return Nearest(self.simplices.corners)

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """To the nearest edge, exactly; without sign."""
        column = points[self.names[0]]
        return self._nearest(column_stack(points, self.names, namespace(column))).reshape(column.shape)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        """The points where the edges cross the line, with their normals."""
        axis, level = self.axes.index(symbol), as_float(value)
        (a, b), normals = np.moveaxis(self.simplices.corners, 1, 0), self.simplices.normals
        low, high = np.minimum(a, b)[:, axis], np.maximum(a, b)[:, axis]
        crossed = (low <= level) & ((level < high) | ((level == high) & (level == np.max(self.vertices[:, axis]))))
        crossed &= low < high
        if not crossed.any():
            raise ValueError(
                f"{symbol} = {value} crosses no edge of {self.body()}; choose a value between {self.bounds[symbol]}."
            )
        a, b, normals = a[crossed], b[crossed], normals[crossed]  # type: ignore[index]
        points = a + ((level - a[:, axis]) / (b - a)[:, axis])[:, None] * (b - a)
        points[:, axis] = level
        return PointCloud(dict(zip(self.axes, points.T, strict=True)), dict(zip(self.axes, normals.T, strict=True)))

    def body(self, tex: bool = False) -> str:
        count = len(self.simplices.corners)
        words = f"line of {count} edge{'s' if count > 1 else ''}" if not self.closed else f"outline of {count} edges"
        if count == 1:
            words = " to ".join(f"({x:.6g}, {y:.6g})" for x, y in self.vertices)
        return rf"\text{{{words}}}" if tex else words
