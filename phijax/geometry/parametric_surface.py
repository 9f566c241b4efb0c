"""ParametricSurface: the places of two parameters in space, uniform by area."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import by_jax, namespace
from phijax.geometry._parametric import Columns, Map, checked_limits, checked_place
from phijax.geometry.placement import Coordinates, Placement, Rule, written
from phijax.geometry.region import Region

_CELLS = 128  # along each parameter; a power of two
_GAUSS = np.polynomial.legendre.leggauss(4)  # along each parameter of a cell


@dataclass(frozen=True)
class ParametricSurface(Region):
    """x, y, z of two parameters: `ParametricSurface({x: ..., y: ..., z: ...}, (s, 0, 1), (q, 0, 1))`.

    s, q: any symbols. The normal is along d/ds times d/dq, or against it where `flip`.
    Points are uniform by area: one of 128 by 128 cells in proportion to its area, by its row and then its column, and in
    the cell by the density of area interpolated between its corners. Shares of area are off by some 1e-7.
    Raises ValueError for other coordinates, expressions that hold other symbols, or a surface without area.
    """

    place_by: Any
    first: Any
    second: Any
    flip: bool = False

    def __post_init__(self) -> None:
        limits = [checked_limits(given, "ParametricSurface") for given in (self.first, self.second)]
        object.__setattr__(self, "first", limits[0])
        object.__setattr__(self, "second", limits[1])
        place = checked_place(self.place_by, [limits[0][0], limits[1][0]], (3,), "ParametricSurface")
        object.__setattr__(self, "place_by", place)
        if not isinstance(self.flip, bool):
            raise ValueError(f"ParametricSurface: flip={self.flip!r} must be True or False.")
        if not (np.isfinite(self.measure) and self.measure > 0):
            raise ValueError(
                f"ParametricSurface: {self.body()} has the area {self.measure}; it must be positive and finite."
            )

    @functools.cached_property
    def _map(self) -> Map:
        return Map([expression for _, expression in self.place_by], [self.first, self.second])

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return tuple(symbol for symbol, _ in self.place_by)

    @property
    def dimension(self) -> int:
        return 2

    @property
    def cube_dimension(self) -> int:
        return 2

    @property
    def measure(self) -> float:
        return float(self._areas.sum())

    @functools.cached_property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        return dict(zip(self.coordinates, self._map.extent(), strict=True))

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        return self.coordinates

    @property
    def face_name(self) -> str:
        return f"surface in {', '.join(self.names)}"

    # Area.

    def _cross(self, at: tuple[Columns, Columns]) -> tuple[Columns, ...]:
        """d/ds times d/dq, and its length."""
        (a, b, c), (d, e, f) = (
            [slopes[:, i] for i in range(3)] for slopes in (self._map.values(each, at) for each in self._map.slopes)
        )
        x, y, z = b * f - c * e, c * d - a * f, a * e - b * d
        return x, y, z, namespace(x).sqrt(x * x + y * y + z * z)

    @functools.cached_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = self._map.lower, self._map.upper
        return np.linspace(low[0], high[0], _CELLS + 1), np.linspace(low[1], high[1], _CELLS + 1)

    @functools.cached_property
    def _areas(self) -> Float[np.ndarray, "k k"]:
        """Area of each cell, by Gauss-Legendre."""
        nodes, weights = zip(*(_gauss_nodes(edges) for edges in self._edges), strict=True)
        s, q = np.meshgrid(*nodes, indexing="ij")
        density = self._cross((s.ravel(), q.ravel()))[3].reshape(s.shape) * np.outer(*weights)
        return density.reshape(_CELLS, len(_GAUSS[0]), _CELLS, len(_GAUSS[0])).sum((1, 3))

    @functools.cached_property
    def _tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Shares of the area before each row, before each cell of a row, and the density at the corners."""
        rows = np.concatenate([[0.0], np.cumsum(self._areas.sum(1))])
        cells = np.pad(np.cumsum(self._areas, 1), ((0, 0), (1, 0)))
        s, q = np.meshgrid(*self._edges, indexing="ij")
        corners = self._cross((s.ravel(), q.ravel()))[3].reshape(s.shape)
        floor = 1e-12 * corners.max()  # a pole has no area, and a cell none that counts
        return rows / rows[-1], cells / np.maximum(cells[:, -1:], 1e-300), np.maximum(corners, floor)

    def _parameters(self, unit: Float[Array, "n c"]) -> tuple[Columns, Columns]:
        xp, (rows, cells, corners) = namespace(unit), self._tables
        table = lambda values: xp.asarray(values, unit.dtype)
        row, share = _picked(xp, table(rows)[None], xp.zeros(unit.shape[:1], "int32"), unit[:, 0])
        cell, rest = _picked(xp, table(cells), row, unit[:, 1])
        each = table(corners)
        near, far = (each[row + i, cell] + each[row + i, cell + 1] for i in (0, 1))
        t = _inverse_linear(xp, near, far, share)
        low, high = ((1 - t) * each[row, cell + j] + t * each[row + 1, cell + j] for j in (0, 1))
        w = _inverse_linear(xp, low, high, rest)
        starts = [table(edges[:-1]) for edges in self._edges]
        steps = [float(edges[1] - edges[0]) for edges in self._edges]
        return starts[0][row] + steps[0] * t, starts[1][cell] + steps[1] * w

    # Points.

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        return self._placed(self._parameters(unit))

    def _placed(self, at: tuple[Columns, Columns]) -> Placement:
        places = self._map.values(self._map.place, at)
        *cross, length = self._cross(at)
        sign = -1 if self.flip else 1
        normals = {name: sign * column / length for name, column in zip(self.names, cross, strict=True)}
        return Placement({name: places[:, i] for i, name in enumerate(self.names)}, normals)

    @by_jax
    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """To the nearest point of the surface, without sign."""
        return self._map.distance([points[name] for name in self.names], self._map.starts())

    def quadrature(self, points_per_axis: int) -> Rule:
        """Gauss-Legendre in both parameters, the trapezoidal rule in one that closes smoothly, times the density."""
        nodes, weights = [], []
        for low, high, smooth in zip(self._map.lower, self._map.upper, self._map.smooth, strict=True):
            if smooth:
                count = 2 * points_per_axis
                nodes.append(low + (high - low) * (np.arange(count) + 0.5) / count)
                weights.append(np.full(count, (high - low) / count))
            else:
                unit, weight = np.polynomial.legendre.leggauss(points_per_axis)
                nodes.append(low + (high - low) / 2 * (1 + unit))
                weights.append((high - low) / 2 * weight)
        s, q = (each.ravel() for each in np.meshgrid(*nodes, indexing="ij"))
        placed: Any = self._placed((s, q))
        return Rule(placed.coordinates, np.outer(*weights).ravel() * self._cross((s, q))[3], placed.normals)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        raise ValueError(f"{symbol} = {value} on a surface: its slices are no regions here; use phi.Curve.")

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return ()

    def body(self, tex: bool = False) -> str:
        places = ", ".join(written(expression, tex) for _, expression in self.place_by)
        ranges = [[written(part, tex) for part in limits] for limits in (self.first, self.second)]
        inside = ", ".join(f"{low} < {symbol} < {high}" for symbol, low, high in ranges)
        return rf"\{{({places}) : {inside}\}}" if tex else f"{{({places}): {inside}}}"


def _gauss_nodes(edges: Float[np.ndarray, "k"]) -> tuple[np.ndarray, np.ndarray]:
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + _GAUSS[0])).ravel(), (half * _GAUSS[1]).ravel()


def _picked(xp: Any, shares: Array, row: Array, number: Float[Array, "n"]) -> tuple[Array, Float[Array, "n"]]:
    """The cell of row `row` in whose share of (0, 1) the number lies, and where in it: a search by halves."""
    index = xp.zeros(number.shape, "int32")
    step = _CELLS // 2
    while step:
        index = xp.where(shares[row, index + step] <= number, index + step, index)
        step //= 2
    start, end = shares[row, index], shares[row, index + 1]
    half_cell = float(np.finfo(number.dtype).eps) / 4
    width = xp.where(end > start, end - start, 1)
    return index, xp.clip((number - start) / width, half_cell, 1 - 2 * half_cell)


def _inverse_linear(xp: Any, start: Array, end: Array, share: Array) -> Array:
    """Where in (0, 1) a density that goes linearly from start to end has the share before it."""
    return share * (start + end) / (start + xp.sqrt(start**2 + share * (end**2 - start**2)))
