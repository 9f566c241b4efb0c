"""Quadrature on implicit regions: along the first coordinate from turn to turn of the boundary, across it from edge to edge."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import sympy

from phijax.geometry import _levels
from phijax.geometry._numbers import is_space
from phijax.geometry.level_set import LevelSet
from phijax.geometry.placement import Rule
from phijax.geometry.region import Region


def rule(
    core: Region, levels: Sequence[_levels.Level], faces: Sequence[tuple[str, Region]], points_per_axis: int
) -> Rule:
    """Over one to three coordinates. levels: whose negative side the region is; faces: its whole boundary."""
    symbols = core.coordinates
    unit, share = np.polynomial.legendre.leggauss(points_per_axis)
    if len(symbols) == 1:
        first, weights = np.zeros((1, 0)), np.ones(1)
    else:
        ends = np.array(_turns(symbols[0], faces))
        middle, half = (ends[1:] + ends[:-1])[:, None] / 2, np.diff(ends)[:, None] / 2
        first = (middle + half * np.sin(math.pi / 2 * unit)).reshape(-1, 1)  # undoes the roots at turns
        weights = (half * math.pi / 2 * np.cos(math.pi / 2 * unit) * share).ravel()
    if len(symbols) == 3:
        return _sheets(core, first[:, 0], weights, points_per_axis)
    row, start, end = _levels.stretches(levels, *core.bounds[symbols[-1]], first)
    half = (end - start)[:, None] / 2
    nodes = [np.repeat(column, points_per_axis) for column in first[row].T]
    nodes.append((start[:, None] + half * (1 + unit)).ravel())
    columns = {symbol.name: column for symbol, column in zip(symbols, nodes, strict=True)}
    return Rule(columns, (weights[row][:, None] * half * share).ravel())


def _turns(symbol: sympy.Symbol, faces: Sequence[tuple[str, Region]]) -> list[float]:
    """Values of the first coordinate at which the boundary begins, ends or turns round, in order."""
    found: list[float] = []
    for _, piece in faces:
        found += piece.bounds[symbol]
        if isinstance(piece, LevelSet) and piece.dimension == 1:
            for first, last, closed in piece.traced.runs:
                x = np.append(piece.traced.corners[first:last, 0, 0], piece.traced.corners[last - 1, 1, 0])
                x = np.append(x, x[1]) if closed else x
                found += [*x[[0, -1]], *x[1:-1][np.diff(np.sign(np.diff(x))) != 0]]
    low, high = min(found), max(found)
    apart = 1e-6 * (high - low)
    kept = [low]
    for value in sorted(found):
        if kept[-1] + apart < value < high - apart:
            kept.append(value)
    return [float(value) for value in (*kept, high)]


def _sheets(core: Region, first: np.ndarray, weights: np.ndarray, points_per_axis: int) -> Rule:
    """The rules of the slices at values of the first of three coordinates, one after another."""
    rules = []
    for value, weight in zip(first, weights, strict=True):
        try:
            part = core.slice_at(core.coordinates[0], sympy.Float(value))
        except ValueError:  # nothing is left there
            continue
        own = part.quadrature(points_per_axis)
        rules.append(Rule(own.coordinates, weight * own.weights))
    columns = {name: np.concatenate([own.coordinates[name] for own in rules]) for name in core.names}
    return Rule(columns, np.concatenate([own.weights for own in rules]))


def multiplied(own: Rule, rest: Rule, whole: Region) -> Rule:
    """The product of two rules, with the second one's normals where `whole` has them."""
    i, j = (each.ravel() for each in np.indices((len(own.weights), len(rest.weights))))
    columns = {name: column[i] for name, column in own.coordinates.items()}
    columns |= {name: column[j] for name, column in rest.coordinates.items()}
    weights = own.weights[i] * rest.weights[j]
    if not whole.has_normals:
        return Rule(columns, weights)
    zeros = {symbol.name: np.zeros(len(weights)) for symbol in whole.coordinates if is_space(symbol)}
    return Rule(columns, weights, zeros | {name: column[j] for name, column in (rest.normals or {}).items()})
