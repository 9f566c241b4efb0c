"""Simplices: many segments, triangles or tetrahedra in space as one table, placed, measured and integrated together."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float, Int

from phijax.geometry import _simplex_rules
from phijax.geometry._blocks import in_blocks, is_traced
from phijax.geometry._numbers import namespace
from phijax.geometry.pick import Pick, stretched, take, take_columns

_BLOCK = 4096  # points that are placed at a time


@dataclass(frozen=True, eq=False)
class Simplices:
    """m simplices of k + 1 corners in R^d that share no more than edges, and a unit normal of each where they bound.

    The map from the unit cube of dimension k is uniform: its first coordinate picks the simplex and is stretched; the
    steps from each corner to the next are taken by R_1 > ... > R_k, R_i = r_1 ... r_i with r_i = u_i^(1/(k - i + 1)).
    """

    corners: Float[np.ndarray, "m k+1 d"]
    normals: Float[np.ndarray, "m d"] | None = None

    @property
    def dimension(self) -> int:
        return self.corners.shape[1] - 1

    @property
    def full(self) -> bool:
        """Whether they have an interior."""
        return self.dimension == self.corners.shape[2]

    @functools.cached_property
    def measures(self) -> Float[np.ndarray, "m"]:
        return measures(self.corners)

    @functools.cached_property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        lower, upper = self.corners.min((0, 1)), self.corners.max((0, 1))
        return tuple(zip(lower.tolist(), upper.tolist(), strict=True))

    def place(self, unit: Float[Array, "n k"]) -> tuple[list[Float[Array, "n"]], list[Float[Array, "n"]]]:
        """Columns of points, and of normals where there are any; of simplices with interior, strictly inside."""
        if not is_traced(unit):
            return self._placed(unit)
        # A processor would compute the draws again for each of the columns, were they not cut off by a loop.
        return jax.lax.platform_dependent(
            unit, cpu=lambda rows: in_blocks(self._placed, rows, _BLOCK), default=self._placed
        )

    def _placed(self, unit: Float[Array, "n k"]) -> tuple[list[Float[Array, "n"]], list[Float[Array, "n"]]]:
        pick, table = self._rounded(unit.dtype)
        d, k = self.corners.shape[2], self.dimension
        start, rate, *columns = take_columns(table, pick.row(unit[:, 0]))
        steps = _steps([stretched(unit[:, 0], start, rate), *(unit[:, i] for i in range(1, k))])
        corner, edges, normals = columns[:d], columns[d : d + d * k], columns[d + d * k :]
        placed = [
            functools.reduce(lambda sum_, i, axis=axis: sum_ + steps[i] * edges[i * d + axis], range(k), corner[axis])
            for axis in range(d)
        ]
        return placed, normals

    def index(self, unit: Float[Array, "n"]) -> Int[Array, "n"]:
        """Which simplex the first coordinate of the cube picks."""
        pick, _ = self._rounded(unit.dtype)
        return take(pick.pieces, pick.row(unit))

    def _rounded(self, dtype: Any) -> tuple[Pick, Float[np.ndarray, "m c"]]:
        dtype = np.dtype(dtype)
        if dtype not in self._cache:
            self._cache[dtype] = self._table(dtype)
        return self._cache[dtype]

    @functools.cached_property
    def _cache(self) -> dict:
        return {}

    def _table(self, dtype: np.dtype) -> tuple[Pick, Float[np.ndarray, "m c"]]:
        """For each simplex that is picked: its start and rate, a corner, the steps from corner to corner, its normal."""
        corners, kept = self._inset(dtype) if self.full else (self.corners, self.measures > 0)
        pick = Pick.of(np.where(kept, self.measures, 0.0), dtype)
        rows = corners[pick.pieces]
        columns = [rows[:, 0], *np.moveaxis(np.diff(rows, axis=1), 1, 0)]
        if self.normals is not None:
            columns.append(self.normals[pick.pieces])
        start, rate = pick.stretches
        return pick, np.concatenate([start[:, None], rate[:, None], *columns], axis=1).astype(dtype)

    def _inset(self, dtype: np.dtype) -> tuple[Float[np.ndarray, "m k+1 d"], np.ndarray]:
        """Corners moved to the middle so far that no rounding leads out, and which of the simplices are wide enough."""
        size = max(upper - lower for lower, upper in self.bounds)
        reach = max(abs(bound) for pair in self.bounds for bound in pair)
        margin = float(np.finfo(dtype).eps) * (2 * reach + 3 * self.dimension * size)
        opposite = np.stack([measures(np.delete(self.corners, i, axis=1)) for i in range(self.dimension + 1)], axis=1)
        around = opposite.sum(1)
        with np.errstate(divide="ignore", invalid="ignore"):
            radius = self.dimension * self.measures / around
            middle = np.einsum("mi,mid->md", opposite, self.corners) / around[:, None]
            shrunk = middle[:, None] + (1 - margin / radius)[:, None, None] * (self.corners - middle[:, None])
        kept = radius > 2 * margin
        if np.sum(self.measures[kept]) < 0.99 * np.sum(self.measures):
            raise ValueError(
                f"a shape of size {size:.3g} at a distance of {reach:.3g} from the origin is too thin for {dtype}; "
                f"use precision='float64'."
            )
        return shrunk, kept

    def quadrature(self, points: int) -> tuple[Float[np.ndarray, "q d"], Float[np.ndarray, "q"], Int[np.ndarray, "q"]]:
        """Nodes, weights, and the simplex of each; exact for polynomials of degree 2 points - 1."""
        steps, weights = _simplex_rules.simplex(self.dimension, points)
        nodes = self.corners[:, :1] + np.einsum("qk,mkd->mqd", steps, np.diff(self.corners, axis=1))
        index = np.repeat(np.arange(len(self.corners)), len(weights))
        return nodes.reshape(len(index), -1), np.outer(self.measures, weights).ravel(), index


def measures(corners: Float[np.ndarray, "m k+1 d"]) -> Float[np.ndarray, "m"]:
    """Length, area, volume; 1 of single points."""
    k, d = corners.shape[1] - 1, corners.shape[2]
    steps = np.diff(corners, axis=1)
    if k == 0:
        return np.ones(len(corners))
    if k == 1:
        return np.linalg.norm(steps[:, 0], axis=1)
    if k == d:
        return np.abs(np.linalg.det(steps)) / math.factorial(k)
    if (k, d) == (2, 3):
        return np.linalg.norm(np.cross(steps[:, 0], steps[:, 1]), axis=1) / 2
    gram = np.einsum("mid,mjd->mij", steps, steps)
    return np.sqrt(np.maximum(np.linalg.det(gram), 0)) / math.factorial(k)


def _steps(unit: list[Float[Array, "n"]]) -> list[Float[Array, "n"]]:
    """R_1 > ... > R_k of numbers of (0, 1)."""
    k, xp = len(unit), namespace(unit[0])
    roots = [xp.sqrt(u) if k - i == 2 else u ** (1 / (k - i)) if k - i > 2 else u for i, u in enumerate(unit)]
    found = roots[:1]
    for root in roots[1:]:
        found.append(found[-1] * root)
    return found
