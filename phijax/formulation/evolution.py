"""Evolutions: problems that are determined from the start of time on, so that one part of it follows from another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy

from phijax.formulation.constraint import Constraint
from phijax.formulation.problem import Problem
from phijax.symbolic import Field, Quadrature, kind_of

_REAL_LINEAR = (sympy.re, sympy.im, sympy.conjugate)


@dataclass(frozen=True)
class Evolution:
    """time: the coordinate, from `start` to `end`. initial: constraints at the start; the others hold at all times."""

    time: sympy.Symbol
    start: float
    end: float
    initial: frozenset[str]


def evolution_of(problem: Problem) -> Evolution:
    """The problem as an evolution. Raises ValueError where it is none, naming what ties its times together."""
    time = _time(problem)
    start, end = map(float, problem.domain.bounds[time])
    reasons = [*_whole_reasons(problem, time)]
    initial = set()
    for constraint in problem.constraints.values():
        if constraint.kind == "free":
            continue
        bounds = constraint.region.bounds.get(time)
        if bounds == (start, start):
            initial.add(constraint.name)
        reasons += _reasons(constraint, time, (start, end))
    if not initial:
        reasons.append(f"no constraint prescribes anything at {time} = {start:g}")
    if reasons:
        raise ValueError(f"{problem.name!r} cannot be solved in slabs of time: {'; '.join(reasons)}.")
    return Evolution(time, start, end, frozenset(initial))


def carries_waves(problem: Problem) -> bool:
    """Whether an evolution's waves travel on and are not damped away at once: third or higher order in space, or complex."""
    time = _time(problem)

    def order_in_space(derivative: sympy.Derivative) -> int:
        return sum(int(count) for symbol, count in derivative.variable_count if symbol != time)

    residuals = [term.residual for constraint in problem.trained.values() for term in constraint.terms]
    orders = [order_in_space(node) for r in residuals for node in r.doit().atoms(sympy.Derivative)]
    return max(orders, default=0) >= 3 or any(field.func.is_complex_field for field in problem.fields.values())


def is_linear(problem: Problem) -> bool:
    """Whether every equation is linear in the fields: its solution is then the only state of rest of its loss."""
    residuals = [term.residual for constraint in problem.constraints.values() for term in constraint.terms]
    # What is linear over the reals alone is linear in the parts of a complex field.
    parts = [
        residual.doit().replace(lambda e: isinstance(e, _REAL_LINEAR), lambda e: e.args[0]) for residual in residuals
    ]
    return all(_is_linear(sympy.expand(part)) for part in parts)


def _is_linear(residual: sympy.Expr) -> bool:
    if any(argument.has(Field) for field in residual.atoms(Field) for argument in field.args):
        return False  # where it is taken depends on a field, as of a delay that the state decides
    if any(place.has(Field) for evaluated in residual.atoms(sympy.Subs) for place in evaluated.point):
        return False
    unknowns = [n for n in residual.atoms(sympy.Derivative, sympy.Subs) if n.has(Field)]
    # The outermost first, so that what is left of an inner one is its own.
    hidden = residual.xreplace({n: sympy.Dummy() for n in sorted(unknowns, key=lambda n: -n.count_ops())})
    stand_ins = {n: sympy.Dummy() for n in hidden.atoms(Field)}
    hidden = hidden.xreplace(stand_ins)
    new = sorted(hidden.atoms(sympy.Dummy), key=lambda s: s.dummy_index)
    slopes = [hidden.diff(symbol) for symbol in new]
    return not any(slope.has(*new) for slope in slopes) if new else True


def _time(problem: Problem) -> sympy.Symbol:
    coordinates = problem.domain.coordinates
    times = [symbol for symbol in coordinates if kind_of(symbol) == "time"]
    if len(times) == 1 or len(coordinates) == 1:
        return (times or list(coordinates))[0]
    raise ValueError(f"{problem.name!r} cannot be solved in slabs of time: it has no coordinate phi.time(...).")


def _whole_reasons(problem: Problem, time: sympy.Symbol) -> Iterator[str]:
    if time in problem.domain.periodic:
        yield f"{time} is periodic"
    for name in problem.parameters:
        yield f"the unknown parameter {name} is one number for all times"
    for name, field in problem.fields.items():
        if time not in field.coordinates:
            yield f"the field {name} is the same at all times"


def _reasons(constraint: Constraint, time: sympy.Symbol, whole: tuple[float, float]) -> Iterator[str]:
    name = constraint.name
    if constraint.columns:
        yield f"{name!r} compares with measured values of all times"
        return
    bounds = constraint.region.bounds.get(time)
    at_start = bounds == (whole[0], whole[0])
    if not at_start and (bounds is None or tuple(map(float, bounds)) != whole):
        yield f"{name!r} is prescribed neither at the start nor at all times"
    if at_start and constraint.exact:
        yield f"{name!r} is exact, which holds at the first start alone; leave exact=True out"
    for term in constraint.terms:
        if any(time in quadrature.bound_symbols for quadrature in term.residual.atoms(Quadrature)):
            yield f"{name!r} integrates over {time}"
        for field in term.residual.atoms(Field):
            declared = dict(zip(field.declared.args, field.args, strict=True))
            if declared.get(time, time) != time:
                yield f"{name!r} takes {field.name} at {time} = {declared[time]}"
