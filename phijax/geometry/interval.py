"""Interval: one coordinate between two bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Float
from sympy import Expr, Symbol, sympify

from phijax.geometry._numbers import as_float, depends, exact, inner_bounds, is_space, namespace, symbols
from phijax.geometry.fixed import Fixed
from phijax.geometry.placement import Coordinates, Placement, Rule, written
from phijax.geometry.region import Region
from phijax.symbolic import allowed, charts_of, degenerate


@dataclass(frozen=True)
class Interval(Region):
    """lower < coordinate < upper. Periodic: the two ends are one point, and there is no boundary.

    Bounds may be expressions of time and parameters, as in `Interval(x, 0, t) * Interval(t, 0, 1)`.

    Raises ValueError unless both bounds are finite real numbers (sympy's too, such as 2*pi) and lower < upper.
    """

    coordinate: Symbol
    lower: Any
    upper: Any
    periodic_ends: bool = False

    def __new__(cls, coordinate: Any = None, lower: Any = None, upper: Any = None, periodic: bool = False) -> Any:
        if depends(lower) or depends(upper):
            return _moving_interval(coordinate, lower, upper, periodic)
        return super().__new__(cls)

    def __init__(self, coordinate: Symbol, lower: Any, upper: Any, periodic: bool = False):
        (symbol,) = symbols(coordinate, "Interval")
        low, high = (
            exact(lower, f"Interval: the lower bound of {symbol}"),
            exact(upper, f"Interval: the upper bound of {symbol}"),
        )
        if not as_float(low) < as_float(high):
            raise ValueError(f"Interval: the bounds of {symbol} are {low} and {high}; the lower must be less.")
        least, greatest = allowed(symbol)
        if low < least or high > greatest:
            raise ValueError(
                f"Interval: the bounds of {symbol} are {low} and {high}; in its {charts_of([symbol])[0][0]} chart it is "
                f"between {least} and {greatest}."
            )
        if not isinstance(periodic, bool):
            raise ValueError(f"Interval: periodic={periodic!r} must be True or False.")
        for field, value in zip(
            ("coordinate", "lower", "upper", "periodic_ends"), (symbol, low, high, bool(periodic)), strict=True
        ):
            object.__setattr__(self, field, value)

    @property
    def ends(self) -> tuple[float, float]:
        """Both bounds as floats."""
        return as_float(self.lower), as_float(self.upper)

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return (self.coordinate,)

    @property
    def dimension(self) -> int:
        return 1

    @property
    def cube_dimension(self) -> int:
        return 1

    @property
    def measure(self) -> float:
        return as_float(self.upper - self.lower)

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        return {self.coordinate: self.ends}

    @property
    def periodic(self) -> frozenset[Symbol]:
        return frozenset((self.coordinate,)) if self.periodic_ends else frozenset()

    @property
    def spec(self) -> tuple[str, dict[str, Any]]:
        names = ("coordinate", "lower", "upper")
        return "Interval", {name: getattr(self, name) for name in names} | {"periodic": self.periodic_ends}

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        lower, upper = self.ends
        inside = inner_bounds(lower, upper, unit.dtype, self.coordinate.name)
        return Placement({self.coordinate.name: namespace(unit).clip(lower + (upper - lower) * unit[:, 0], *inside)})

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """Of a periodic interval, which has no ends: minus infinity."""
        value = points[self.coordinate.name]
        xp = namespace(value)
        if self.periodic_ends:
            return xp.full_like(value, -np.inf)
        lower, upper = self.ends
        return xp.maximum(lower - value, value - upper)

    def quadrature(self, points_per_axis: int) -> Rule:
        """Gauss-Legendre; the trapezoidal rule where periodic."""
        lower, upper = self.ends
        if self.periodic_ends:
            step = (upper - lower) / points_per_axis
            nodes = lower + step * np.arange(points_per_axis)
            return Rule({self.coordinate.name: nodes}, np.full(points_per_axis, step))
        nodes, weights = np.polynomial.legendre.leggauss(points_per_axis)
        half = (upper - lower) / 2
        return Rule({self.coordinate.name: lower + half * (1 + nodes)}, half * weights)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        lower, upper = self.ends
        if not lower <= as_float(value) <= upper:
            raise ValueError(f"{symbol} = {value} is outside {self.body()}; choose a value in it.")
        return Fixed(symbol, value)

    def faces(self) -> tuple[tuple[str, Region], ...]:
        if self.periodic_ends or not is_space(self.coordinate):
            return ()
        name = self.coordinate.name
        ends = (
            (f"{name}-", Fixed(self.coordinate, self.lower, -1)),
            (f"{name}+", Fixed(self.coordinate, self.upper, 1)),
        )
        # Nothing ends where all points of a side are one: at the axis of a curvilinear chart.
        return tuple((side, end) for side, end in ends if not degenerate(self.coordinate, end.value))

    def body(self, tex: bool = False) -> str:
        inside = f"[{written(self.lower, tex)}, {written(self.upper, tex)}]"
        if not self.periodic_ends:
            return inside
        return inside + (r"_{\mathrm{periodic}}" if tex else " periodic")


def _moving_interval(coordinate: Symbol, lower: Any, upper: Any, periodic: bool) -> Region:
    from phijax.geometry.motions import moving

    (symbol,) = symbols(coordinate, "Interval")
    if periodic:
        raise ValueError(f"Interval: the bounds of {symbol} are {lower} and {upper}; a periodic one can't move.")
    low, high = sympify(lower), sympify(upper)
    return moving(Interval(symbol, 0, 1), [[high - low]], [low], f"Interval: a bound of {symbol}")
