"""Exact conditions that cannot be built, or that contradict each other where they meet."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

import sympy

from phijax.formulation.ansatz import Ansatz, assemble
from phijax.formulation.exact_conditions import Points, Prescribed, bounds_of, collect, on_sphere, outward
from phijax.formulation.exact_kinks import seam_faults
from phijax.formulation.faults import Fault
from phijax.formulation.numeric import largest, sample_domain

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem

SLACK = 1e-8
Miss = tuple[str, sympy.Expr, sympy.Expr, Points]  # constraint, what an expression misses of it, its value, where


def exact_faults(problem: Problem, faulty: Collection[str] = ()) -> list[Fault]:
    """Faults of exact conditions. faulty: constraints that have another fault already, and are left out."""
    prescribed, faults = collect(problem, faulty)
    if faults:
        return faults
    faults += seam_faults(problem, prescribed)
    return faults or [fault for name, given in prescribed.items() for fault in _field_faults(problem, name, given)]


def _field_faults(problem: Problem, name: str, given: Prescribed) -> Iterator[Fault]:
    coordinates = problem.fields[name].coordinates
    ansatz = assemble(coordinates, bounds_of(problem, name), given)
    points = sample_domain(problem.domain, 64)
    fault = _unmet(name, coordinates, ansatz, given, points) or _contradiction(name, ansatz.lift, given, points)
    if fault:
        yield fault


def _unmet(
    name: str, coordinates: tuple[sympy.Symbol, ...], ansatz: Ansatz, given: Prescribed, points: Points
) -> Fault | None:
    """A slope whose coefficient varies along a side, next to a slope on another: no open value of both is left."""
    slopes = [*given.slopes.values(), *(slope for _, slope in given.rims)]
    if not any(slope.share.free_symbols for slope in slopes):
        return None
    waves = sympy.Add(*(position * symbol for position, symbol in enumerate(coordinates, 1)))
    around = ansatz.around(sympy.sin(waves + 1), coordinates) - ansatz.lift
    for constraint, missed, _, places in _missed(around, given, points, homogeneous=True):
        gap, where = largest(missed, places)
        if gap > SLACK:
            others = ", ".join(map(repr, sorted(given.constraints - {constraint}))) or "its other equations"
            return Fault(
                constraint,
                f"as an exact condition on {name!r} it cannot hold together with {others}: where they meet the "
                f"coefficient of {name!r} varies along a side with a slope of its own (seen from {_shown(where)}); "
                f"leave out exact=True for one of them.",
            )
    return None


def _contradiction(name: str, lift: sympy.Expr, given: Prescribed, points: Points) -> Fault | None:
    for constraint, missed, value, places in _missed(lift, given, points):
        gap, where = largest(missed, places)
        if gap > SLACK * (1 + largest(value, places)[0]):
            others = ", ".join(map(repr, sorted(given.constraints - {constraint}))) or "the other conditions"
            return Fault(
                constraint,
                f"as an exact condition on {name!r} it contradicts {others} where they meet (by {gap:.3g}, "
                f"seen from {_shown(where)}); leave out exact=True for one of them.",
            )
    return None


def _missed(expression: sympy.Expr, given: Prescribed, points: Points, homogeneous: bool = False) -> Iterator[Miss]:
    """What an expression misses of each condition, or of the same with zero prescribed."""

    def miss(constraint: str, reached: sympy.Expr, value: sympy.Expr, places: Points) -> Miss:
        return constraint, reached if homogeneous else reached - value, value, places

    for (symbol, bound), (constraint, value) in given.values.items():
        yield miss(constraint, expression.subs(symbol, bound), value, points)
    for (symbol, bound), slope in given.slopes.items():
        reached = (expression.diff(symbol) + slope.share * expression).subs(symbol, bound)
        yield miss(slope.constraint, reached, slope.value.subs(symbol, bound), points)
    for ball, constraint, value in given.round:
        yield miss(constraint, expression, value, on_sphere(ball, points))
    for ball, slope in given.rims:
        along = sum(n * expression.diff(s) for s, n in outward(ball).items())
        yield miss(slope.constraint, along + slope.share * expression, slope.value, on_sphere(ball, points))


def _shown(where: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.3g}" for name, value in where.items())
