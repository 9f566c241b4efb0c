"""Declaration check of evolutions: as many initial conditions as an equation's order in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import sympy

from phijax.formulation.faults import Fault
from phijax.formulation.patterns import evaluations, fixed_time, orders
from phijax.symbolic import Coordinate, kind_of

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem


def initial_faults(problem: Problem) -> Iterator[Fault]:
    """As many conditions on an evolution's field, at one time, as its order in time."""
    for time in (s for s in problem.domain.coordinates if isinstance(s, Coordinate) and kind_of(s) == "time"):
        if time in problem.domain.periodic or _without_start(problem, time):
            continue
        needed: dict[str, tuple[int, str]] = {}
        for constraint in problem.constraints.values():
            if time in constraint.region.fixed or constraint.region.faults or constraint.kind != "equation":
                continue
            for term in constraint.terms:
                for name, order in orders(term.residual, time).items():
                    if order > needed.get(name, (0, ""))[0]:
                        needed[name] = (order, constraint.name)
        for name, (order, where) in needed.items():
            given = _conditions_on_start(problem, name, time)
            if given is not None and given < order:
                yield Fault(
                    where,
                    f"is of order {order} in {time.name} for {name!r}, which has {given} of {order} initial conditions; add "
                    f"one on domain.at({time.name}=...), or phi.free(domain.at({time.name}=...)) if none is meant.",
                )


def _without_start(problem: Problem, time: sympy.Symbol) -> bool:
    """Whether the domain has no extent at its first time, as one that a front opens up."""
    first = problem.domain.bounds[time][0]
    return bool(problem.domain.at({time: first}).faults)


def _conditions_on_start(problem: Problem, name: str, time: sympy.Symbol) -> int | None:
    """Number of equations that hold `name` at one time; None where it is observed or left free on purpose."""
    count = 0
    for constraint in problem.constraints.values():
        if constraint.kind == "free" and fixed_time(constraint) == time:
            return None
        if constraint.kind == "data" and any(name in term.fields for term in constraint.terms):
            return None
        for term in constraint.terms:
            if time in constraint.region.fixed:
                count += name in term.fields
            else:
                places = (at[time] for field, at in evaluations(term.residual) if field.name == name and time in at)
                count += any(place.is_number for place in places)
    return count
