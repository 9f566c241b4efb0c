"""Warnings about boundaries: parts without a condition, and conditions that disagree where they meet."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import sympy

from phijax.formulation.conditions import Periodic
from phijax.formulation.constraint import Constraint
from phijax.formulation.faults import Fault
from phijax.formulation.numeric import largest, sample_domain, values
from phijax.formulation.patterns import evaluations, orders, value_condition
from phijax.geometry import Region
from phijax.geometry.meeting import meeting_points, touches
from phijax.symbolic import Field, kind_of

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem


def coverage_warnings(problem: Problem) -> Iterator[Fault]:
    """Sides of the domain across which a field is differentiated twice or more, and that have no condition."""
    for name, field in problem.fields.items():
        if any(c.kind == "data" and name in t.fields for c in problem.constraints.values() for t in c.terms):
            continue
        bare = [
            piece_name
            for piece_name, piece in problem.region_of(field).boundary.pieces
            if _needs_condition(problem, name, piece) and not _has_condition(problem, name, piece)
        ]
        if bare:
            yield Fault(
                None,
                f"{name!r} has no condition on {', '.join(map(repr, bare))}; add one, or say that none is meant by "
                f"phi.free(domain.side({bare[0]!r})).",
            )


def _needs_condition(problem: Problem, name: str, piece: Region) -> bool:
    across = [symbol for symbol in piece.coordinates if kind_of(symbol) == "space"]
    fixed = [symbol for symbol in piece.fixed if symbol in across] or across
    return any(
        orders(term.residual, symbol).get(name, 0) >= 2
        for constraint in problem.constraints.values()
        if constraint.on_domain
        for term in constraint.terms
        for symbol in fixed
    )


def _has_condition(problem: Problem, name: str, piece: Region) -> bool:
    if any(_same_place(piece, other) for side in _far_sides(problem, name) for _, other in side.pieces):
        return True
    for constraint in problem.constraints.values():
        if any(_reads(term.residual, name, piece) for term in constraint.terms):
            return True
        if constraint.on_domain:
            continue
        if constraint.kind != "free" and not any(name in term.fields for term in constraint.terms):
            continue
        others = [other for _, other in constraint.region.pieces]
        if piece in others or any(_same_place(piece, other) for other in others):
            return True
    return False


def _far_sides(problem: Problem, name: str) -> Iterator[Region]:
    """The second sides of periodic pairs of the field: their constraint stands on the first."""
    for _, written in problem._written:
        if isinstance(written, Periodic) and getattr(written.field, "name", None) == name:
            yield from [written.other] if isinstance(written.other, Region) else []


def _reads(expression: sympy.Expr, name: str, piece: Region) -> bool:
    """Whether the expression evaluates the field on the piece, as nonlocal and periodic conditions do."""
    fixed = piece.fixed
    for field, arguments in evaluations(expression):
        if field.name != name:
            continue
        at = {symbol: value for symbol, value in arguments.items() if symbol in fixed and value.is_number}
        if at and all(abs(float(value - fixed[s])) < 1e-9 for s, value in at.items()):
            return True
    return False


def _same_place(piece: Region, other: Region) -> bool:
    here, there = piece.fixed, other.fixed
    if here and there:
        shared = [s for s in here if s in there]
        return bool(shared) and all(abs(float(here[s]) - float(there[s])) < 1e-9 for s in shared)
    return other.has_normals and set(other.coordinates) == set(piece.coordinates) and touches(piece, other)


def clash_faults(problem: Problem) -> Iterator[Fault]:
    """Two conditions that give one field different values on the same part of the boundary."""
    told: set[tuple[str, str, str]] = set()
    for (one, piece, field, value), (other, other_piece, other_field, other_value) in combinations(
        boundary_values(problem), 2
    ):
        key = (one.name, other.name, field.name)
        if field != other_field or piece != other_piece or (one.exact and other.exact) or key in told:
            continue
        found = _disagreement(problem, piece, value, other_piece, other_value)
        if found:
            told.add(key)
            yield Fault(
                other.name,
                f"{field.name!r} is {found[1]:.3g} here and {found[0]:.3g} on {one.name!r}, as at {found[2]}, and both hold "
                f"on {piece}; leave one out.",
            )


def clash_warnings(problem: Problem) -> Iterator[Fault]:
    """Two soft conditions that give one field different values where they meet."""
    told: set[tuple[str, str, str]] = set()
    for (one, piece, field, value), (other, other_piece, other_field, other_value) in combinations(
        boundary_values(problem), 2
    ):
        key = (one.name, other.name, field.name)
        if one.name == other.name or field != other_field or key in told:
            continue
        found = _disagreement(problem, piece, value, other_piece, other_value)
        if found:
            told.add(key)
            yield Fault(
                None,
                f"{field.name!r} is {found[0]:.3g} on {one.name!r} and {found[1]:.3g} on {other.name!r} where they meet, "
                f"as at {found[2]}; the solution cannot be smooth there.",
            )


def seam_warnings(problem: Problem) -> Iterator[Fault]:
    """Soft conditions that give a field different values at the two ends of a periodic coordinate."""
    for constraint, _, field, value in boundary_values(problem):
        periodic = problem.region_of(field).periodic | problem.domain.periodic
        for symbol in () if constraint.exact else sorted(periodic & value.free_symbols, key=lambda s: s.name):
            low, high = problem.domain.bounds[symbol]
            points = sample_domain(problem.domain, 32)
            gap, _ = largest(value.subs(symbol, high) - value.subs(symbol, low), points)
            if gap > 1e-6 * (1 + largest(value, points)[0]):
                yield Fault(
                    None,
                    f"{field.name!r} differs by {gap:.3g} on {constraint.name!r} between {symbol.name} = {low:g} and "
                    f"{symbol.name} = {high:g}, and {symbol.name} is periodic; the solution cannot be smooth there.",
                )


def boundary_values(problem: Problem) -> list[tuple[Constraint, Region, Field, sympy.Expr]]:
    """Conditions that give a field a value, piece by piece: (constraint, piece, field, value)."""
    return [
        (constraint, piece, *found)
        for constraint in problem.constraints.values()
        if constraint.kind == "equation" and not constraint.on_domain
        for term in constraint.terms
        if (found := value_condition(term)) is not None
        for _, piece in constraint.region.pieces
    ]


def _disagreement(
    problem: Problem, piece: Region, value: sympy.Expr, other: Region, other_value: sympy.Expr
) -> tuple[float, float, str] | None:
    if not piece.fixed or not other.fixed:
        return _disagreement_where_they_meet(piece, value, other, other_value)
    together = {**piece.fixed, **other.fixed}
    if any(abs(float(piece.fixed[s]) - float(other.fixed[s])) > 1e-9 for s in piece.fixed if s in other.fixed):
        return None
    points = sample_domain(problem.domain, 32)
    points = {s: np.full(32, float(together[s])) if s in together else column for s, column in points.items()}
    inside = np.ones(32, dtype=bool)
    for region in (piece, other):
        for symbol, (low, high) in region.bounds.items():
            inside &= (points[symbol] >= low - 1e-9) & (points[symbol] <= high + 1e-9)
    first, second = values(value, points), values(other_value, points)
    return _worst(np.where(inside, np.abs(first - second), 0.0), first, second, points)


def _worst(
    gap: np.ndarray, first: np.ndarray, second: np.ndarray, points: dict[sympy.Symbol, np.ndarray]
) -> tuple[float, float, str] | None:
    """The two values and the place of the largest gap, None where there is none."""
    if not np.any(gap > 1e-6 * (1 + np.nanmax(np.abs(first)))):
        return None
    worst = int(np.nanargmax(gap))
    place = ", ".join(f"{symbol.name} = {column[worst]:.3g}" for symbol, column in points.items())
    return float(first[worst].real), float(second[worst].real), place


def _disagreement_where_they_meet(
    piece: Region, value: sympy.Expr, other: Region, other_value: sympy.Expr
) -> tuple[float, float, str] | None:
    """The same for curved pieces, at points that are of both."""
    if set(piece.coordinates) != set(other.coordinates) or value == other_value:
        return None
    found = meeting_points(piece, other)
    points = {symbol: found[symbol.name] for symbol in piece.coordinates}
    if not len(next(iter(points.values()))):
        return None
    first, second = values(value, points), values(other_value, points)
    return _worst(np.abs(first - second), first, second, points)
