"""Curve: the places of one parameter, in the plane or in space, uniform by arc length."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Array, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import by_jax, namespace
from phijax.geometry._parametric import Columns, Map, checked_limits, checked_place
from phijax.geometry.placement import Coordinates, Placement, Rule, written
from phijax.geometry.region import Region

_CELLS = 4096  # of the table of arc lengths
_GAUSS = np.polynomial.legendre.leggauss(8)  # in each of its cells


@dataclass(frozen=True)
class Curve(Region):
    """x(s), y(s) (and z(s)) for lower < s < upper: `Curve({x: cos(s), y: sin(s)}, (s, 0, 2*pi))`.

    s: any symbol. Points are uniform by arc length, to about 1e-9 where the curve is smooth.
    normal: of a plane curve, "left" or "right" of its direction; by default outward where the curve is closed and
    encloses an area, else none. Curves in space have none.
    Raises ValueError for other coordinates, expressions that hold other symbols, or a curve without length.
    """

    place_by: Any
    limits: Any
    normal: Literal["left", "right"] | None = None

    def __post_init__(self) -> None:
        limits = checked_limits(self.limits, "Curve")
        object.__setattr__(self, "limits", limits)
        object.__setattr__(self, "place_by", checked_place(self.place_by, [limits[0]], (2, 3), "Curve"))
        if self.normal not in (None, "left", "right"):
            raise ValueError(f"Curve: normal={self.normal!r} is not known; choose 'left', 'right' or None.")
        if self.normal and len(self.coordinates) != 2:
            raise ValueError("Curve: a curve in space has no one normal; leave normal out.")
        if not (np.isfinite(self.measure) and self.measure > 0):
            raise ValueError(f"Curve: {self.body()} has the length {self.measure}; it must be positive and finite.")

    @functools.cached_property
    def _map(self) -> Map:
        return Map([expression for _, expression in self.place_by], [self.limits])

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return tuple(symbol for symbol, _ in self.place_by)

    @property
    def dimension(self) -> int:
        return 1

    @property
    def cube_dimension(self) -> int:
        return 1

    @property
    def closed(self) -> bool:
        """Whether it ends where it begins."""
        return self._map.closed[0]

    @property
    def measure(self) -> float:
        return float(self._lengths[-1])

    @functools.cached_property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        return dict(zip(self.coordinates, self._map.extent(), strict=True))

    @functools.cached_property
    def _side(self) -> int:
        """+1 for a normal to the right of the direction, -1 to the left, 0 for none."""
        if self.normal or len(self.coordinates) != 2 or not self.closed:
            return {"right": 1, "left": -1, None: 0}[self.normal]
        nodes, _, weights = self._nodes
        x, y = self._map.values(self._map.place, [nodes]).T
        dx, dy = self._map.values(self._map.slopes[0], [nodes]).T
        area = float(np.sum(weights * (x * dy - y * dx))) / 2
        return int(np.sign(area)) if abs(area) > 1e-9 * self.measure**2 else 0

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        return self.coordinates if self._side else ()

    @property
    def face_name(self) -> str | None:
        return f"curve in {', '.join(self.names)}" if self._side else None

    # Arc length.

    @functools.cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gauss nodes of all cells, the speed there, and weights by the parameter, each (cells * 8,)."""
        edges = np.linspace(self._map.lower[0], self._map.upper[0], _CELLS + 1)
        half = np.diff(edges)[:, None] / 2
        nodes = (edges[:-1, None] + half * (1 + _GAUSS[0])).ravel()
        return nodes, self._speed(nodes), (half * _GAUSS[1]).ravel()

    @functools.cached_property
    def _lengths(self) -> Float[np.ndarray, "k"]:
        """Arc length up to each edge of the cells."""
        _, speeds, weights = self._nodes
        return np.concatenate([[0.0], np.cumsum((weights * speeds).reshape(_CELLS, -1).sum(1))])

    def _speed(self, at: Columns) -> Columns:
        xp = namespace(at)
        return xp.sqrt(xp.sum(self._map.values(self._map.slopes[0], [at]) ** 2, axis=-1))

    @functools.cached_property
    def _inverse(self) -> tuple[np.ndarray, np.ndarray]:
        """The parameter at equal steps of arc length, and its slope there by the step, kept monotone."""
        edges = np.linspace(self._map.lower[0], self._map.upper[0], _CELLS + 1)
        targets = np.linspace(0, self.measure, _CELLS + 1)
        cell = np.clip(np.searchsorted(self._lengths, targets, side="right") - 1, 0, _CELLS - 1)
        start, end, missing = edges[cell], edges[cell + 1], targets - self._lengths[cell]
        at = start + (end - start) * missing / np.maximum(np.diff(self._lengths)[cell], 1e-300)
        for _ in range(8):
            half = (at - start)[:, None] / 2
            nodes = start[:, None] + half * (1 + _GAUSS[0])
            length = (half * _GAUSS[1] * self._speed(nodes.ravel()).reshape(nodes.shape)).sum(1)
            at = np.clip(at - (length - missing) / np.maximum(self._speed(at), 1e-300), start, end)
        at[0], at[-1] = self._map.lower[0], self._map.upper[0]
        secants = np.diff(at)
        bound = 3 * np.minimum(np.append(secants, secants[-1]), np.insert(secants, 0, secants[0]))
        slopes = self.measure / _CELLS / np.maximum(self._speed(at), 1e-300)
        return at, np.minimum(slopes, bound)  # Fritsch & Carlson 1980

    def _parameter(self, share: Columns) -> Columns:
        """The parameter at a share of the whole length, by cubics between the entries of the table."""
        xp, (table, slopes) = namespace(share), self._inverse
        index = xp.clip((share * _CELLS).astype("int32"), 0, _CELLS - 1)
        t = share * _CELLS - index.astype(share.dtype)
        pick = lambda column: xp.asarray(column, share.dtype)[index]
        rise = pick(np.diff(table))
        left, right = pick(slopes[:-1]), pick(slopes[1:])
        moved = t * (left + t * (3 * rise - 2 * left - right + t * (left + right - 2 * rise)))
        return pick(table[:-1]) + moved

    # Points.

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        return self._placed(self._parameter(unit[:, 0]))

    def _placed(self, at: Columns) -> Placement:
        xp = namespace(at)
        places = self._map.values(self._map.place, [at])
        coordinates = {name: places[:, i] for i, name in enumerate(self.names)}
        if not self._side:
            return Placement(coordinates)
        slopes = self._map.values(self._map.slopes[0], [at])
        tangent = self._side * slopes / xp.sqrt(xp.sum(slopes**2, axis=-1, keepdims=True))
        x, y = self.names
        return Placement(coordinates, {x: tangent[:, 1], y: -tangent[:, 0]})

    @by_jax
    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """To the nearest point of the curve, without sign."""
        starts = self._parameter(np.linspace(0, 1, len(self._map.starts())))
        return self._map.distance([points[name] for name in self.names], starts[:, None])

    def quadrature(self, points_per_axis: int) -> Rule:
        """Gauss-Legendre in the parameter, times the speed; the trapezoidal rule where it closes smoothly."""
        low, high = self._map.lower[0], self._map.upper[0]
        if self._map.smooth[0]:
            nodes = low + (high - low) * (np.arange(2 * points_per_axis) + 0.5) / (2 * points_per_axis)
            weights = np.full(2 * points_per_axis, (high - low) / (2 * points_per_axis))
        else:
            unit, weights = np.polynomial.legendre.leggauss(points_per_axis)
            nodes, weights = low + (high - low) / 2 * (1 + unit), (high - low) / 2 * weights
        placed: Any = self._placed(nodes)
        return Rule(placed.coordinates, weights * self._speed(nodes), placed.normals)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        raise ValueError(f"{symbol} = {value} on a curve: its slices are no regions here; use phi.Point.")

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return ()

    def body(self, tex: bool = False) -> str:
        places = ", ".join(written(expression, tex) for _, expression in self.place_by)
        symbol, low, high = (written(part, tex) for part in self.limits)
        if tex:
            return rf"\{{({places}) : {low} < {symbol} < {high}\}}"
        return f"{{({places}): {low} < {symbol} < {high}}}"
