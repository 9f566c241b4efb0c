"""Polygon: what a closed outline of straight edges encloses, with holes; the triangle is one of three corners."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Bool, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import as_float, namespace
from phijax.geometry.boundary import Boundary
from phijax.geometry.columns import Columns
from phijax.geometry.fixed import Fixed
from phijax.geometry.interval import Interval
from phijax.geometry.meshed import Meshed, checked_axes, column_stack
from phijax.geometry.nearest import Nearest
from phijax.geometry.outline import check_outlines, hole_names, read_outline, signed_area, triangulate
from phijax.geometry.placement import Coordinates
from phijax.geometry.polyline import Polyline
from phijax.geometry.product import product
from phijax.geometry.region import Region
from phijax.geometry.simplices import Simplices

_WRITTEN = 6  # corners that are printed one by one


@dataclass(frozen=True, eq=False, repr=False)
class Polygon(Meshed):
    """What a closed outline encloses, without its holes: `Polygon((x, y), [(0, 0), (2, 0), (1, 1)], holes=[...])`.

    vertices: corners in order, either way round, (n, 2); or the path of a file with two columns, with or without a
    header. holes: such outlines, each inside the first and apart from one another.
    Its boundary is "outer" and "hole", or "hole 1", "hole 2", ...; edges of an outline of up to twelve are sides by
    number: "edge 0" runs from corner 0 to corner 1, and "hole edge 0" is of a hole.
    Raises ValueError for an outline that crosses itself, encloses no area, or has fewer than three corners, and for
    holes that are outside or overlap, with the place.
    """

    axes: Any
    vertices: Any
    holes: Any = ()

    def __post_init__(self) -> None:
        axes = checked_axes(self.axes, "Polygon", 2)
        what = f"Polygon in ({', '.join(axis.name for axis in axes)})"
        outer = read_outline(self.vertices, axes, f"{what}: its outline")
        holes = tuple(self.holes)
        names = hole_names(len(holes))
        holes = tuple(read_outline(h, axes, f"{what}: {name}") for h, name in zip(holes, names, strict=True))
        check_outlines(outer, holes, what)
        for field, value in (("axes", axes), ("vertices", outer), ("holes", holes)):
            object.__setattr__(self, field, value)

    @functools.cached_property
    def simplices(self) -> Simplices:
        return Simplices(triangulate(self.vertices, self.holes))

    @property
    def dimension(self) -> int:
        return 2

    @property
    def cube_dimension(self) -> int:
        return 2

    @property
    def measure(self) -> float:
        return abs(signed_area(self.vertices)) - sum(abs(signed_area(hole)) for hole in self.holes)

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        lower, upper = self.vertices.min(axis=0).tolist(), self.vertices.max(axis=0).tolist()
        return dict(zip(self.axes, zip(lower, upper, strict=True), strict=True))

    @functools.cached_property
    def _outlines(self) -> tuple[tuple[str, Polyline], ...]:
        rings = [
            ("outer", self.vertices, 1),
            *((n, h, -1) for n, h in zip(hole_names(len(self.holes)), self.holes, strict=True)),
        ]
        return tuple(
            (name, Polyline(self.axes, ring, True, sign * int(np.sign(signed_area(ring))), name))
            for name, ring, sign in rings
        )

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return self._pieces

    @functools.cached_property
    def _pieces(self) -> tuple[tuple[str, Region], ...]:
        """Each edge of short outlines, and long outlines as wholes."""
        pieces: list[tuple[str, Region]] = []
        for name, outline in self._outlines:
            prefix = "" if name == "outer" else f"{name} "
            edges = [(f"{prefix}{edge}", part) for edge, part in outline.edges]
            pieces += edges or [(name, outline)]
        return tuple(pieces)

    @functools.cached_property
    def _edges(self) -> Float[np.ndarray, "m 2 2"]:
        return np.concatenate([outline.simplices.corners for _, outline in self._outlines])

    @functools.cached_property
    def _columns(self) -> Columns:
        return Columns.of(self._edges)

    @functools.cached_property
    def _nearest(self) -> Nearest:
        return Nearest(self._edges)

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """Exact: to the nearest edge."""
        column = points[self.names[0]]
        xp = namespace(column)
        rows = column_stack(points, self.names, xp)
        away = self._nearest(rows)
        return xp.where(self._columns.enclose(rows), -away, away).reshape(column.shape)

    def inside(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        if tolerance:
            return self.distance(points) <= tolerance
        column = points[self.names[0]]
        rows = column_stack(points, self.names, namespace(column))
        return (self._columns.enclose(rows) | self._columns.touch(rows)).reshape(column.shape)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        """The parts of the line that are in the polygon, "part 1" and so on where there are several."""
        import shapely

        axis, other = self.axes.index(symbol), self.axes[1 - self.axes.index(symbol)]
        ends = np.zeros((2, 2))
        ends[:, axis], ends[:, 1 - axis] = as_float(value), self.bounds[other]
        cut = shapely.Polygon(self.vertices, self.holes).intersection(shapely.LineString(ends))
        spans = sorted(line.bounds[1 - axis :: 2] for line in shapely.get_parts(cut) if line.length > 0)
        if not spans:
            low, high = self.bounds[symbol]
            raise ValueError(
                f"{symbol} = {value} does not cut {self.body()}; choose a value between {low:.6g} and {high:.6g}."
            )
        parts = [product(Fixed(symbol, value), Interval(other, *span)) for span in spans]
        return parts[0] if len(parts) == 1 else Boundary(tuple((f"part {i + 1}", part) for i, part in enumerate(parts)))

    def body(self, tex: bool = False) -> str:
        corners = " ".join(f"({x:.6g}, {y:.6g})" for x, y in self.vertices)
        words = f"polygon {corners}" if len(self.vertices) <= _WRITTEN else f"polygon of {len(self.vertices)} corners"
        if self.holes:
            words += f" with {len(self.holes)} hole{'s' if len(self.holes) > 1 else ''}"
        return rf"\text{{{words}}}" if tex else words


def Triangle(coordinates: tuple[Symbol, Symbol], a: Any, b: Any, c: Any) -> Polygon:
    """The polygon of three corners: `Triangle((x, y), (0, 0), (1, 0), (0, 1))`."""
    return Polygon(checked_axes(coordinates, "Triangle", 2), [a, b, c])
