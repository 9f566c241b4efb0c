"""Quadrature of any region that can tell what is in it: along lines through it, cut at its edge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from phijax.geometry.placement import Rule
from phijax.geometry.region import Region

# By the number of coordinates: panels along each axis across the lines, places along a line at which an edge is looked for.
_PANELS = {1: 1, 2: 64, 3: 12}
_SAMPLES = {1: 4096, 2: 512, 3: 128}
_HALVINGS = 40


def along_lines(region: Region, points_per_axis: int) -> Rule:
    """Gauss-Legendre on the parts of parallel lines that are inside, and in panels across the lines.

    Parts and gaps shorter than 1/512 of the extent can be missed, in space than 1/128; elsewhere the error is that of the
    panels, where the length of the lines is not smooth.
    """
    *across, along = region.coordinates
    nodes, weights = _across([region.bounds[symbol] for symbol in across], points_per_axis, len(region.coordinates))
    low, high = region.bounds[along]
    names = [symbol.name for symbol in across]

    def inside(row: np.ndarray, value: np.ndarray) -> Bool[np.ndarray, "m"]:
        points: Any = {n: c[row] for n, c in zip(names, nodes, strict=True)} | {along.name: value}
        return np.asarray(region.inside(points, 0.0))

    rows, starts, ends = _segments(inside, len(weights), low, high, _SAMPLES.get(len(region.coordinates), 64))
    unit, gauss = np.polynomial.legendre.leggauss(points_per_axis)
    placed = starts[:, None] + (ends - starts)[:, None] * (1 + unit) / 2
    share = (weights[rows] * (ends - starts) / 2)[:, None] * gauss
    repeat = lambda column: np.repeat(column[rows], points_per_axis)
    columns = {name: repeat(column) for name, column in zip(names, nodes, strict=True)} | {along.name: placed.ravel()}
    return Rule(columns, share.ravel())


def along_lines_of_square(
    keep: Callable[[Any], np.ndarray], points_per_axis: int
) -> tuple[Any, Float[np.ndarray, "m"]]:
    """The same on the unit square, of the part that is kept: nodes, (m, 2), and weights."""
    (column,), weights = _across([(0.0, 1.0)], points_per_axis, 2)
    keep_at = lambda row, value: np.asarray(keep(np.stack([column[row], np.clip(value, 1e-12, 1 - 1e-12)], axis=1)))
    rows, starts, ends = _segments(keep_at, len(weights), 0.0, 1.0, _SAMPLES[2])
    unit, gauss = np.polynomial.legendre.leggauss(points_per_axis)
    placed = starts[:, None] + (ends - starts)[:, None] * (1 + unit) / 2
    share = (weights[rows] * (ends - starts) / 2)[:, None] * gauss
    return np.stack([np.repeat(column[rows], points_per_axis), placed.ravel()], axis=1), share.ravel()


def _across(bounds: list[tuple[float, float]], points: int, axes: int) -> tuple[list[np.ndarray], np.ndarray]:
    """A tensor rule in panels over the coordinates across the lines."""
    unit, gauss = np.polynomial.legendre.leggauss(points)
    panels = _PANELS.get(axes, 8)
    columns, shares = [], []
    for low, high in bounds:
        width = (high - low) / panels
        columns.append((low + width * (np.arange(panels)[:, None] + (1 + unit) / 2)).ravel())
        shares.append(np.tile(gauss * width / 2, panels))
    if not bounds:
        return [], np.ones(1)
    nodes = [column.ravel() for column in np.meshgrid(*columns, indexing="ij")]
    weights = np.prod([share.ravel() for share in np.meshgrid(*shares, indexing="ij")], axis=0)
    return nodes, weights


def _segments(
    inside: Callable[[np.ndarray, np.ndarray], np.ndarray], lines: int, low: float, high: float, samples: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Line, start and end of each part inside."""
    places = low + (high - low) * (np.arange(samples) + 0.5) / samples
    row, value = np.repeat(np.arange(lines), samples), np.tile(places, lines)
    held = np.zeros((lines, samples + 2), bool)  # nothing is inside before the first place and after the last
    held[:, 1:-1] = inside(row, value).reshape(lines, samples)
    edges = np.concatenate([[low], places, [high]])
    rows, at = np.nonzero(held[:, 1:] != held[:, :-1])
    left, right, entering = edges[at], edges[at + 1], held[rows, at + 1]
    for _ in range(_HALVINGS):
        middle = (left + right) / 2
        within = inside(rows, middle) == entering if len(rows) else np.zeros(0, bool)
        left, right = np.where(within, left, middle), np.where(within, middle, right)
    found = (left + right) / 2
    return rows[entering], found[entering], found[~entering]


def masked(rule: Rule, kept: Bool[np.ndarray, "m"]) -> Rule:
    """The nodes of a rule that are kept."""
    pick = lambda table: table and {name: column[kept] for name, column in table.items()}
    coordinates: dict[str, Float[np.ndarray, "m"]] = pick(rule.coordinates)
    return Rule(coordinates, rule.weights[kept], pick(rule.normals))
