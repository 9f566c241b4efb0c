"""Columns: which points a closed outline or surface encloses, by the parity of crossings along one axis.

A uniform grid over the other axes holds the facets of each cell, so that a point meets a few facets of very many.
Facets hold half-open spans, and the ends of a shared edge are taken in one order: a line through an edge or a corner
crosses once, on whichever side its rounding puts it.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from phijax.geometry._blocks import is_traced
from phijax.geometry._numbers import namespace
from phijax.geometry.pick import take, take_columns
from phijax.geometry.simplices import measures

_MOST_CELLS = {2: 4096, 3: 512}  # along an axis of the grid
_SPARE = 1e-3  # share of a cell by which facets reach into the next, beyond the rounding of a point's cell


@dataclass(frozen=True, eq=False)
class Columns:
    """Facets over a grid: those of cell c are `facets[starts[c] : starts[c + 1]]`.

    corners: of the facets that are not parallel to `axis`, edges in the plane or triangles in space.
    """

    corners: Float[np.ndarray, "m d d"]
    axis: int
    across: tuple[int, ...]
    lower: Float[np.ndarray, "d-1"]
    step: Float[np.ndarray, "d-1"]
    counts: tuple[int, ...]
    starts: Int[np.ndarray, "cells+1"]
    facets: Int[np.ndarray, "entries"]

    @classmethod
    def of(cls, corners: Float[np.ndarray, "m d d"]) -> Columns:
        """Along the axis whose cells hold the fewest facets."""
        return min((_along(corners, axis) for axis in range(corners.shape[2])), key=lambda columns: columns.longest)

    @functools.cached_property
    def longest(self) -> int:
        return int(np.max(np.diff(self.starts)))

    def enclose(self, points: Float[Array, "n d"]) -> Bool[Array, "n"]:
        """Points on the outline itself may fall to either side."""
        return self._fold(points, _crossed, operator.xor)

    def touch(self, points: Float[Array, "n d"]) -> Bool[Array, "n"]:
        """Points of the plane that are on an edge, to the last digit."""
        return self._fold(points, _touched, operator.or_)

    def _fold(self, points: Any, test: Callable[..., Any], join: Callable[[Any, Any], Any]) -> Any:
        """`test` of each point with each facet of its cell, joined."""
        xp, table = namespace(points), self._table(points.dtype)
        if xp is not np and not is_traced(points):
            return xp.asarray(self._fold(np.asarray(points), test, join))
        cell, there = self._cell(points)
        first, last = take(self.starts, cell), take(self.starts[1:], cell)
        if xp is np:
            found, entry, left = np.zeros(len(points), bool), first.copy(), np.flatnonzero(there & (first < last))
            while len(left):
                facet = table[self.facets[entry[left]]]
                found[left] = join(found[left], test(points[left], list(facet.T), self.axis, self.across))
                entry[left] += 1
                left = left[entry[left] < last[left]]
            return found

        def one(k: Array, found: Bool[Array, "n"]) -> Bool[Array, "n"]:
            entry = first + k
            facet = take_columns(table, take(self.facets, xp.minimum(entry, len(self.facets) - 1)))
            return join(found, there & (entry < last) & test(points, facet, self.axis, self.across))

        return jax.lax.fori_loop(0, self.longest, one, xp.zeros(len(points), bool))

    def _cell(self, points: Float[Array, "n d"]) -> tuple[Int[Array, "n"], Bool[Array, "n"]]:
        """The cell, and whether the point is over the grid at all."""
        xp = namespace(points)
        cell, there = xp.zeros(len(points), np.int32), xp.ones(len(points), bool)
        for i, low, step, count in zip(self.across, self.lower, self.step, self.counts, strict=True):
            place = xp.floor((points[:, i] - float(low)) / float(step))
            there &= (place >= -1) & (place <= count)
            cell = cell * count + xp.clip(place, 0, count - 1).astype(np.int32)
        return cell, there

    def _table(self, dtype: Any) -> Float[np.ndarray, "m c"]:
        dtype = np.dtype(dtype)
        if dtype not in self._cache:
            self._cache[dtype] = _facet_table(self.corners.astype(dtype), self.axis, self.across)
        return self._cache[dtype]

    @functools.cached_property
    def _cache(self) -> dict:
        return {}

    def boxes(self) -> tuple[Float[np.ndarray, "b d"], Float[np.ndarray, "b d"]]:
        """Lower and upper corners of one box a column, which together hold everything enclosed."""
        cell = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        index = np.stack(np.unravel_index(cell, self.counts), axis=1)
        lower = self.lower + index * self.step
        low, high = _heights_over(self.corners[self.facets], self.axis, self.across, lower, lower + self.step)
        first = self.starts[:-1][np.diff(self.starts) > 0]
        corners = np.zeros((2, len(first), self.corners.shape[2]))
        corners[0][:, self.across], corners[1][:, self.across] = lower[first], (lower + self.step)[first]
        corners[0][:, self.axis], corners[1][:, self.axis] = (
            np.minimum.reduceat(low, first),
            np.maximum.reduceat(high, first),
        )
        thick = corners[1][:, self.axis] > corners[0][:, self.axis]
        return corners[0][thick], corners[1][thick]


def _along(corners: Float[np.ndarray, "m d d"], axis: int) -> Columns:
    d = corners.shape[2]
    across = tuple(i for i in range(d) if i != axis)
    flat = corners[..., across]
    # Facets along the axis cast no shadow and are never crossed; edges of the plane stay, to be touched.
    kept = (measures(flat) > 1e-14 * np.prod(np.ptp(flat, axis=(0, 1)))) | (d == 2)
    flat = flat[kept]
    lower, upper = flat.min((0, 1)), flat.max((0, 1))
    wanted = len(flat) if d == 2 else np.sqrt(len(flat) / 2)
    counts = np.full(d - 1, np.clip(int(wanted), 1, _MOST_CELLS[d]))
    step = (upper - lower) / counts
    cell, facet = _overlaps(flat, lower, step, counts)
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(np.prod(counts) + 1)).astype(np.int32)
    return Columns(
        corners[kept], axis, across, lower, step, tuple(counts.tolist()), starts, facet[order].astype(np.int32)
    )


def _overlaps(flat: Any, lower: Any, step: Any, counts: Any) -> tuple[Any, Any]:
    """(cell, facet) for every cell that a projected facet meets."""
    low = np.clip(np.floor((flat.min(axis=1) - lower) / step - _SPARE), 0, counts - 1).astype(np.int64)
    high = np.clip(np.floor((flat.max(axis=1) - lower) / step + _SPARE), 0, counts - 1).astype(np.int64)
    spans = high - low + 1
    size = np.prod(spans, axis=1)
    facet = np.repeat(np.arange(len(flat)), size)
    rank = np.arange(len(facet)) - np.repeat(np.cumsum(size) - size, size)
    index = low[facet] + (rank[:, None] if flat.shape[2] == 1 else np.stack(np.divmod(rank, spans[facet, 1]), axis=1))
    if flat.shape[2] == 2:
        met = _meets(flat[facet], lower + (index + 0.5) * step, step * (0.5 + _SPARE))
        index, facet = index[met], facet[met]
    return np.ravel_multi_index(tuple(index.T), tuple(counts)), facet


def _meets(triangles: Float[np.ndarray, "e 3 2"], center: Any, half: Any) -> Bool[np.ndarray, "e"]:
    """Whether a triangle reaches a cell whose box its own box meets: no edge has the cell on its outer side."""
    met = np.ones(len(triangles), bool)
    for i in range(3):
        a, b, c = (triangles[:, (i + j) % 3] for j in range(3))
        normal = np.stack([b[:, 1] - a[:, 1], a[:, 0] - b[:, 0]], axis=1)
        inward = np.sign(np.sum(normal * (c - a), axis=1))
        met &= inward * np.sum(normal * (center - a), axis=1) >= -np.sum(np.abs(normal) * half, axis=1)
    return met


def _heights_over(corners: Any, axis: int, across: tuple[int, ...], lower: Any, upper: Any) -> tuple[Any, Any]:
    """Lowest and highest place of each facet over a cell, or a little beyond."""
    height = corners[..., axis]
    slopes = _slopes(corners, axis, across)
    middle = height[:, 0] + np.sum(slopes * ((lower + upper) / 2 - corners[:, 0][:, across]), axis=1)
    reach = np.sum(np.abs(slopes) * (upper - lower), axis=1) * (0.5 + _SPARE)
    least, most = height.min(axis=1), height.max(axis=1)
    return np.clip(middle - reach, least, most), np.clip(middle + reach, least, most)


def _slopes(corners: Float[np.ndarray, "m d d"], axis: int, across: tuple[int, ...]) -> Float[np.ndarray, "m d-1"]:
    """Of the height along `axis` over the other axes."""
    steps = np.diff(corners, axis=1)
    if len(across) == 1:
        return steps[:, :, axis] / steps[:, :, across[0]]
    (ux, uy, uz), (vx, vy, vz) = (steps[:, i][:, (*across, axis)].T for i in range(2))
    area = ux * vy - uy * vx
    return np.stack([(uz * vy - uy * vz) / area, (ux * vz - uz * vx) / area], axis=1)


def _facet_table(corners: Any, axis: int, across: tuple[int, ...]) -> Float[np.ndarray, "m c"]:
    """What `_crossed` reads of a facet."""
    if len(across) == 1:
        a, b = (corners[:, i][:, (*across, axis)] for i in range(2))
        return np.stack([*_edge(a, b), np.minimum(a[:, 1], b[:, 1]), np.maximum(a[:, 1], b[:, 1])], axis=1)
    flat = corners[..., across]
    edges = [column for i in range(3) for column in _edge(flat[:, i], flat[:, (i + 1) % 3])]
    with np.errstate(all="ignore"):
        slopes = np.nan_to_num(_slopes(corners, axis, across), posinf=0, neginf=0)
    height = corners[..., axis]
    plane = [height[:, 0], *flat[:, 0].T, *slopes.T, height.min(axis=1), height.max(axis=1)]
    return np.stack(edges + plane, axis=1)


def _edge(a: Float[np.ndarray, "m 2"], b: Float[np.ndarray, "m 2"]) -> list[Float[np.ndarray, "m"]]:
    """Span of the first coordinate, the second at its begin, and the slope; the same whichever end comes first."""
    turned = (a[:, 0] > b[:, 0])[:, None]
    begin, end = np.where(turned, b, a), np.where(turned, a, b)
    width = end[:, 0] - begin[:, 0]
    slope = (end[:, 1] - begin[:, 1]) / np.where(width > 0, width, 1)
    return [begin[:, 0], end[:, 0], begin[:, 1], slope]


def _below_edge(s: Any, h: Any, begin: Any, end: Any, height: Any, slope: Any) -> Any:
    return (begin <= s) & (s < end) & (h < height + (s - begin) * slope)


def _crossed(points: Float[Array, "n d"], facet: list[Float[Array, "n"]], axis: int, across: tuple[int, ...]) -> Any:
    """Whether the line from each point up along the axis meets the facet at its side."""
    xp, height = namespace(points), points[:, axis]
    if len(across) == 1:
        return _below_edge(points[:, across[0]], height, *facet[:4])
    s, h = points[:, across[0]], points[:, across[1]]
    over = functools.reduce(lambda odd, i: odd ^ _below_edge(s, h, *facet[4 * i : 4 * i + 4]), range(3), False)
    base, base_s, base_h, slope_s, slope_h, least, most = facet[12:]
    return over & (height < xp.clip(base + (s - base_s) * slope_s + (h - base_h) * slope_h, least, most))


def _touched(points: Float[Array, "n 2"], facet: list[Float[Array, "n"]], axis: int, across: tuple[int, ...]) -> Any:
    s, height = points[:, across[0]], points[:, axis]
    begin, end, base, slope, least, most = facet
    on_line = (height == base + (s - begin) * slope) | ((begin == end) & (least <= height))
    return (begin <= s) & (s <= end) & on_line & (height <= most)
