"""Lattice: the points at which a solution is written down, with every field on its own region, NaN beyond."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from phijax._numbers import is_whole
from phijax._precision import precision_scope
from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.grids import Grid, grid_of, parts_over
from phijax.formulation import Problem
from phijax.formulation.faults import nearest
from phijax.symbolic import Field, kind_of

AXIS_POINTS = {1: 1001, 2: 201, 3: 51}
MOST_POINTS = 2**17  # from four axes on


@dataclass(frozen=True)
class Lattice:
    """axes: values of each coordinate of the domain, one value where it is held. inside: of the domain, over all axes."""

    axes: dict[str, np.ndarray]
    inside: np.ndarray

    def mesh(self) -> dict[str, np.ndarray]:
        """Each coordinate over all axes."""
        return dict(zip(self.axes, np.meshgrid(*self.axes.values(), indexing="ij"), strict=True))


def lattice(problem: Problem, points: int | None = None, at: Mapping[str, float] | None = None) -> Lattice:
    """Evenly spaced points of the domain, ends included. points: on each axis. at: coordinates that are held."""
    if points is not None and not (is_whole(points) and points >= 2):
        raise ValueError(f"points={points!r} must be a whole number of at least 2, the points along each axis.")
    domain, held = problem.domain, checked_places(problem, at)
    free = [s for s in domain.coordinates if s.name not in held and domain.bounds[s][0] < domain.bounds[s][1]]
    default = AXIS_POINTS.get(len(free), max(2, math.floor(MOST_POINTS ** (1 / max(len(free), 1)))))
    grid: Grid = grid_of(domain, domain.coordinates, points or default, held)
    return Lattice(grid.axes, grid.inside)


def checked_places(problem: Problem, at: Mapping[str, Any] | None) -> dict[str, float]:
    """{coordinate name: value} of what is held. ValueError for unknown names and values outside the domain."""
    by_name = {symbol.name: symbol for symbol in problem.domain.coordinates}
    held = {}
    for given, value in (at or {}).items():
        name = getattr(given, "name", str(given))
        if name not in by_name:
            raise ValueError(f"at: {name!r} is no coordinate of {problem.name!r}; {nearest(name, by_name)}.")
        low, high = problem.domain.bounds[by_name[name]]
        if not low <= float(value) <= high:
            raise ValueError(f"at: {name} = {value:g} is outside the domain's [{low:g}, {high:g}].")
        held[name] = float(value)
    return held


def values_over(evaluator: Evaluator, fields: Sequence[Field], columns: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """{field: values at columns of the domain's coordinates}, NaN outside the field's own region.

    Of an ensemble the mean, and under FIELD_spread its standard deviation.
    """
    found: dict[str, Any] = {}
    for field in fields:
        own = {symbol.name: columns[symbol.name] for symbol in field.coordinates}
        inside = _inside(evaluator.problem, field, own)
        places = {name: column[inside] for name, column in own.items()}
        for name, each in {field.name: evaluator, f"{field.name}_spread": evaluator.spread}.items():
            if each is not None:
                values = each({field.name: field}, places)[field.name]
                found[name] = np.full(inside.shape, np.nan, np.result_type(values, np.float64))
                found[name][inside] = values
    return found


def _inside(problem: Problem, field: Field, columns: Mapping[str, np.ndarray]) -> np.ndarray:
    inside = np.ones(np.shape(next(iter(columns.values()))), bool)
    for factor in parts_over(problem.region_of(field), field.coordinates):
        if set(factor.coordinates) <= set(field.coordinates):
            with precision_scope("float64"):
                given: Any = {name: columns[name] for name in factor.names}
                slack = 1e-12 * max(abs(b) for pair in factor.bounds.values() for b in pair)
                inside &= np.asarray(factor.contains(given, slack))
    return inside


def spatial_axes(problem: Problem) -> tuple[sympy.Symbol, ...]:
    """Coordinates of space; of a problem that has none, its time."""
    by_kind = {kind: [s for s in problem.domain.coordinates if kind_of(s) == kind] for kind in ("space", "time")}
    return tuple(by_kind["space"] or by_kind["time"])
