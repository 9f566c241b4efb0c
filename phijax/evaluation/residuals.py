"""Residuals of every constraint at points that training has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import sympy

from phijax._precision import precision_scope
from phijax.evaluation.chunks import ChunkedFunction
from phijax.evaluation.evaluator import Evaluator
from phijax.formulation import Constraint, Problem, Term
from phijax.lowering import Expressions
from phijax.sampling import RegionSampler
from phijax.sampling.points import Points
from phijax.symbolic import Field, Normal
from phijax.training import History

FRESH_POINTS = 8192
_FRESH = 0x70686A  # folded into the seed's key: no stream of a run is derived so


@dataclass(frozen=True)
class TermResidual:
    """Residual of one term. rms, max: over `points` points, max taken at `where`.

    relative: rms over that of the sum of the magnitudes of the equation's addends, or over the size of the fields where
    that is larger and the equation compares their values; None where it has one addend alone.
    """

    term: str
    constraint: str
    exact: bool
    rms: float
    max: float
    where: dict[str, float]
    points: int
    relative: float | None


def fresh_residuals(evaluator: Evaluator, n: int | None = None, seed: int = 0) -> list[TermResidual]:
    """One entry a term, of exact constraints too. n: points of each constraint; measured ones take all of their rows."""
    found = []
    for position, constraint in enumerate(evaluator.problem.constraints.values()):
        if not constraint.terms:
            continue
        with precision_scope(evaluator.precision):
            key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), _FRESH), position)
            points = fresh_points(constraint, key, n)
        found += _term_residuals(evaluator, constraint, points)
    return found


def fresh_points(constraint: Constraint, key: Any, n: int | None) -> Points:
    """Points of the constraint's region as NumPy arrays, with normals and observed values where it has them."""
    region = constraint.region
    if constraint.columns:
        coordinates: Any = {symbol.name: np.asarray(column) for symbol, column in region.columns.items()}  # type: ignore[attr-defined]
        normals: Any = {s.name: np.asarray(c) for s, c in (region.normals or {}).items()} or None  # type: ignore[attr-defined]
        values: Any = {name: column.values for name, column in constraint.columns.items()}
        return Points(coordinates, normals, values=values)
    count = region.count if region.count is not None else n or FRESH_POINTS
    return jax.tree.map(np.asarray, RegionSampler(region).sample(key, count))


def _term_residuals(evaluator: Evaluator, constraint: Constraint, points: Points) -> list[TermResidual]:
    expressions, sizes = {}, {}
    for name, term in zip(constraint.term_names, constraint.terms, strict=True):
        sizes[name] = _size_of_values(term, evaluator.layout.scales)
        addends = _addends(term)
        expressions |= {(name, -1): term.residual, **{(name, i): addend for i, addend in enumerate(addends)}}
    with precision_scope(evaluator.precision):
        lowered = Expressions(evaluator.layout, expressions, split_complex=False)  # type: ignore[arg-type]
    rows = ChunkedFunction(lowered.pointwise, evaluator.precision, evaluator.devices)
    values = rows(evaluator.model, lambda begin, end: jax.tree.map(lambda a: a[begin:end], points), points.size)
    found = []
    for name, term in zip(constraint.term_names, constraint.terms, strict=True):
        size = np.abs(values[(name, -1)])  # type: ignore[index]
        parts = [np.abs(value) for (owner, i), value in values.items() if owner == name and i >= 0]  # type: ignore[misc]
        worst = int(np.argmax(size))
        where = {symbol: float(points.coordinates[symbol][worst]) for symbol in constraint.region.names}
        whole = max(_rms(np.sum(parts, axis=0)), sizes[name]) if len(parts) > 1 and not _alone(term, parts) else 0.0
        relative = _rms(size) / whole if whole > 0 else None
        found.append(
            TermResidual(
                name, constraint.name, constraint.exact, _rms(size), float(size[worst]), where, points.size, relative
            )
        )
    return found


def _size_of_values(term: Term, scales: Mapping[str, float]) -> float:
    """The size of the fields that an equation compares; 0 where it has derivatives."""
    fields = {field.func.__name__ for field in term.residual.atoms(Field)}
    if term.residual.has(sympy.Derivative, sympy.Subs):
        return 0.0
    return max((scales[name] for name in fields), default=0.0)


def _alone(term: Term, parts: list[np.ndarray]) -> bool:
    """Whether every point has one addend alone, since the normal lies along one coordinate."""
    by_direction = all(addend.has(Normal) for addend in _addends(term))
    return by_direction and int(np.max(np.count_nonzero(parts, axis=0))) <= 1


def _addends(term: Term) -> tuple[sympy.Expr, ...]:
    return sympy.Add.make_args(term.residual) if term.residual.is_Add else ()


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64))))


def by_term(residuals: list[TermResidual]) -> dict[str, float]:
    """{term: rms}."""
    return {residual.term: residual.rms for residual in residuals}


def by_constraint(residuals: list[TermResidual]) -> dict[str, float]:
    """{constraint: rms over the points of all of its terms}."""
    together: dict[str, list[float]] = {}
    for residual in residuals:
        together.setdefault(residual.constraint, []).append(residual.rms)
    return {name: float(np.sqrt(np.mean(np.square(sizes)))) for name, sizes in together.items()}


def trained_rms(problem: Problem, history: History) -> dict[str, float]:
    """{term: root mean square} on the batch of the last record; the parts of a complex term together."""
    return _roots(problem, history.records[-1]["losses"] if history.records else {})


def initial_sizes(problem: Problem, history: History) -> dict[str, float]:
    """{term: square root of weight x loss} at step 0; the parts of a complex term together."""
    first = history.records[0] if history.records else None
    return {} if first is None or first["step"] != 0 else _roots(problem, first["weighted"])


def _roots(problem: Problem, losses: Mapping[str, float | None]) -> dict[str, float]:
    """{term: square root of its loss}, where it is known."""
    found: dict[str, float] = {}
    for constraint in problem.constraints.values():
        for name in constraint.term_names:
            joint = "/" if name == constraint.name else "_"
            parts = [losses.get(name), losses.get(f"{name}{joint}real"), losses.get(f"{name}{joint}imag")]
            known = [part for part in parts if part is not None]
            if known:
                found[name] = float(np.sqrt(sum(known)))
    return found


def constraint_values(
    evaluator: Evaluator, constraint: Constraint, coordinates: Mapping[str, Any], normals: Mapping[str, Any] | None
) -> dict[str, np.ndarray]:
    """{term: residual} of one constraint at given points, in the shape to which they broadcast.

    Coordinates that are fixed in the region need not be given; normals only where they change along the region.
    """
    if constraint.columns:
        raise ValueError(
            f"{constraint.name!r} compares with measured values, which exist at its own points alone; "
            f"use residuals() for those."
        )
    held = {symbol.name: float(value) for symbol, value in constraint.region.fixed.items()}
    if normals is None and constraint.region.constant_normal:
        directions = {symbol.name: float(sign) for symbol, sign in constraint.region.constant_normal.items()}
        normals = {name: directions.get(name, 0.0) for name in constraint.region.names}
    terms = dict(zip(constraint.term_names, (term.residual for term in constraint.terms), strict=True))
    return evaluator(terms, held | dict(coordinates), normals)
