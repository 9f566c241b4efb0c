"""Cells: many axis-aligned boxes and sides of boxes, placed by one table: the cost does not grow with their number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Float, Int
from sympy import Symbol

from phijax.geometry._numbers import inner_bounds, is_space, namespace, unstacked
from phijax.geometry.fixed import Fixed
from phijax.geometry.interval import Interval
from phijax.geometry.placement import Placement
from phijax.geometry.region import Region


@dataclass(frozen=True)
class Cells:
    """k cells over d coordinates, each row a product of intervals and fixed coordinates.

    column: which cube coordinate serves the axis; for a fixed coordinate any, since its width is zero.
    """

    coordinates: tuple[Symbol, ...]
    lower: Float[np.ndarray, "k d"]
    upper: Float[np.ndarray, "k d"]
    column: Int[np.ndarray, "k d"]
    normal: Int[np.ndarray, "k d"]

    @classmethod
    def of(cls, regions: tuple[Region, ...]) -> Cells | None:
        """The table, or None where a region has another shape."""
        if not all(isinstance(factor, Interval | Fixed) for region in regions for factor in region.factors):
            return None
        axes = regions[0].coordinates
        bounds, columns, normals = [], [], []
        for region in regions:
            ends, fixed, normal = region.bounds, region.fixed, region.constant_normal
            served = {axis: i for i, axis in enumerate(a for a in region.coordinates if a not in fixed)}
            bounds.append([ends[axis] for axis in axes])
            columns.append([served.get(axis, 0) for axis in axes])
            normals.append([normal.get(axis, 0) for axis in axes])
        table = np.array(bounds)
        return cls(axes, table[..., 0], table[..., 1], np.array(columns), np.array(normals))

    def place(self, index: Int[Array, "n"], unit: Float[Array, "n c"]) -> Placement:
        """Point i in cell index[i]."""
        xp, dtype = namespace(unit), unit.dtype
        pick = lambda table: xp.asarray(table, dtype)[index]
        first, last = self._inside(dtype)
        served = xp.take_along_axis(unit, xp.asarray(self.column)[index], axis=1)
        placed = xp.clip(pick(self.lower) + pick(self.upper - self.lower) * served, pick(first), pick(last))
        names = [axis.name for axis in self.coordinates]
        coordinates = dict(zip(names, unstacked(placed), strict=True))
        if not self.normal.any():
            return Placement(coordinates)
        normals = dict(zip(self.coordinates, unstacked(pick(self.normal)), strict=True))
        return Placement(coordinates, {s.name: normal for s, normal in normals.items() if is_space(s)})

    def _inside(self, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
        """Strictly inside the bounds; fixed coordinates stay on theirs."""
        first, last = self.lower.copy(), self.upper.copy()
        for k, i in zip(*np.nonzero(self.lower < self.upper), strict=True):
            name = self.coordinates[i].name
            first[k, i], last[k, i] = inner_bounds(float(self.lower[k, i]), float(self.upper[k, i]), dtype, name)
        return first, last
