"""Grids for comparing and drawing: evenly spaced points of a region, what lies outside left out."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import sympy
from jaxtyping import Bool, Float

from phijax._precision import precision_scope
from phijax.geometry import PointCloud, Region
from phijax.geometry.product import product
from phijax.sampling import RegionSampler

AXIS_POINTS = {1: 4001, 2: 361, 3: 51}  # about 130,000 points from two coordinates on
EDGE = 1e-9  # of a region's width
SCATTERED_POINTS = 2**16  # from four coordinates on


@dataclass(frozen=True)
class Grid:
    """axes: values of each coordinate, (n_i,), by name; inside: which points of their product are of the region."""

    axes: dict[str, Float[np.ndarray, " n"]]
    inside: Bool[np.ndarray, "..."]

    def columns(self) -> dict[str, Float[np.ndarray, " points"]]:
        """The points inside, one column a coordinate."""
        mesh = np.meshgrid(*self.axes.values(), indexing="ij")
        return {name: column[self.inside] for name, column in zip(self.axes, mesh, strict=True)}

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values at the points inside as an array over the axes, NaN outside."""
        whole = np.full(self.inside.shape, np.nan, np.result_type(values, np.float64))
        whole[self.inside] = values
        return whole


def parts_over(region: Region, symbols: tuple[sympy.Symbol, ...]) -> tuple[Region, ...]:
    """The factors of a region that say something of these coordinates."""
    return tuple(factor for factor in region.factors if set(factor.coordinates) & set(symbols))


def grid_of(
    region: Region,
    symbols: tuple[sympy.Symbol, ...],
    size: int | None = None,
    fixed: dict[str, float] | None = None,
) -> Grid:
    """An even grid over `symbols`, coordinates of the region, ends included.

    size: points an axis; by default enough for a fine picture of that many coordinates.
    fixed: coordinates held at one value.
    """
    fixed = fixed or {}
    free = [s for s in symbols if s.name not in fixed and region.bounds[s][0] < region.bounds[s][1]]
    default: Any = AXIS_POINTS.get(len(free), math.ceil(SCATTERED_POINTS ** (1 / max(len(free), 1))))
    count = default if size is None else size
    axes = {}
    for symbol in symbols:
        low, high = region.bounds[symbol]
        axes[symbol.name] = np.linspace(low, high, count) if symbol in free else np.array([fixed.get(symbol.name, low)])
    return Grid(axes, _inside(parts_over(region, symbols), symbols, axes))


def _inside(factors: tuple[Region, ...], symbols: tuple[sympy.Symbol, ...], axes: dict[str, np.ndarray]) -> np.ndarray:
    mesh = dict(zip(axes, np.meshgrid(*axes.values(), indexing="ij"), strict=True))
    inside = np.ones([len(axis) for axis in axes.values()], bool)
    for factor in factors:
        # An axis runs over the factor's own bounds: a factor of one coordinate leaves nothing out.
        if len(factor.coordinates) > 1 and set(factor.coordinates) <= set(symbols):
            with precision_scope("float64"):
                points: Any = {name: mesh[name].ravel() for name in factor.names}
                inside &= _reached(factor, points).reshape(inside.shape)
    return inside


def _reached(region: Region, points: Any) -> Bool[np.ndarray, " n"]:
    """Which points are of the region and next to its inside: of two sides that coincide, a difference holds both."""
    found = np.asarray(region.contains(points)).copy()
    if region.dimension < len(region.coordinates):
        return found
    widths = {s.name: high - low for s, (low, high) in region.bounds.items()}
    edge = np.flatnonzero(found & (np.asarray(region.signed_distance(points)) >= -EDGE * min(widths.values())))
    if edge.size:
        steps = itertools.product((-EDGE, EDGE), repeat=len(widths))
        beside = [{n: points[n][edge] + s * widths[n] for n, s in zip(widths, step, strict=True)} for step in steps]
        found[edge] = np.any([np.asarray(region.signed_distance(each)) < 0 for each in beside], axis=0)
    return found


def comparison_points(region: Region, symbols: tuple[sympy.Symbol, ...]) -> dict[str, np.ndarray]:
    """Columns of points over the whole region: a fine grid, or in many dimensions evenly scattered points."""
    factors = parts_over(region, symbols)
    if any(isinstance(factor, PointCloud) for factor in factors):
        return _scattered(factors, symbols, count=math.prod(factor.count or 1 for factor in factors))
    varying = [symbol for symbol in symbols if region.bounds[symbol][0] < region.bounds[symbol][1]]
    if len(varying) > max(AXIS_POINTS):
        return _scattered(factors, symbols, SCATTERED_POINTS)
    return grid_of(region, symbols).columns()


def _scattered(factors: tuple[Region, ...], symbols: tuple[sympy.Symbol, ...], count: int) -> dict[str, np.ndarray]:
    with precision_scope("float64"):
        drawn = RegionSampler(product(*factors)).sample(jax.random.key(0), count)
    return {symbol.name: np.asarray(drawn.coordinates[symbol.name]) for symbol in symbols}
