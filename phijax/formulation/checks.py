"""Declaration checks: everything that can be known to be wrong before any JAX work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import sympy

from phijax.formulation.boundary_checks import clash_faults, clash_warnings, coverage_warnings, seam_warnings
from phijax.formulation.constraint import Constraint, Term
from phijax.formulation.exact_checks import exact_faults
from phijax.formulation.exact_kinks import kink_warnings
from phijax.formulation.faults import Fault, nearest
from phijax.formulation.numeric import sample_domain, values
from phijax.formulation.patterns import evaluations, fixed_time, orders
from phijax.geometry import Region
from phijax.symbolic import (
    Coordinate,
    Field,
    Known,
    Normal,
    Observed,
    OverRegion,
    Parameter,
    Quadrature,
    fields_in,
    kind_of,
    text,
)

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem

INFINITE = (sympy.nan, sympy.zoo, sympy.oo, -sympy.oo)


def check(problem: Problem) -> list[Fault]:
    """Every fault of a problem whose constraints could be read."""
    faults = [
        *_same_names(problem),
        *(fault for c in problem.constraints.values() for term in c.terms for fault in _term_faults(problem, c, term)),
        *_empty_regions(problem),
        *_initial_conditions(problem),
    ]
    strange = {fault.constraint for fault in faults if fault.constraint is not None}
    if any(fault.constraint is None for fault in faults):
        return faults  # names that mean two things
    faults += exact_faults(problem, strange | {c.name for c in problem.constraints.values() if c.region.faults})
    return faults or list(clash_faults(problem))


def warn(problem: Problem) -> list[Fault]:
    """What is legal but often not meant."""
    return [*coverage_warnings(problem), *clash_warnings(problem), *seam_warnings(problem), *kink_warnings(problem)]


def _same_names(problem: Problem) -> Iterator[Fault]:
    """Two different things of one name: fields over other coordinates, parameters of other settings, or a mixture."""
    seen: dict[str, tuple[str, object]] = {symbol.name: ("coordinate", symbol) for symbol in problem.domain.coordinates}
    things = [("field", node.func, node.name) for term in _terms(problem) for node in _field_nodes(term.residual)]
    things += [("parameter", p, p.name) for term in _terms(problem) for p in term.residual.atoms(Parameter)]
    told: set[str] = set()
    for what, thing, name in things:
        kind, other = seen.setdefault(name, (what, thing))
        if other != thing and name not in told:
            told.add(name)
            mixture = f"a {kind} and a {what}" if kind != what else f"two different {what}s"
            yield Fault(None, f"{name!r} names {mixture}; make each once and use that one everywhere, or rename one.")


def _field_nodes(expression: sympy.Expr) -> Iterator[Field]:
    return (node for node in sympy.preorder_traversal(expression) if isinstance(node, Field))


def _terms(problem: Problem) -> Iterator[Term]:
    return (term for constraint in problem.constraints.values() for term in constraint.terms)


def _term_faults(problem: Problem, constraint: Constraint, term: Term) -> Iterator[Fault]:
    place = f"in {text(term.written)}"
    if not fields_in(term.residual) and not term.residual.atoms(Parameter):
        yield Fault(
            constraint.name,
            f"{text(term.written)} holds no unknown, so training cannot change it; put a field or a parameter in, or "
            f"remove it.",
        )
    elif term.residual.is_number:
        yield Fault(constraint.name, f"{text(term.written)} is already decided; look for the same thing on both sides.")
    if term.residual.has(*INFINITE):
        yield Fault(constraint.name, f"{text(term.written)} holds a number that is not finite.")
    else:
        yield from _infinite_on_region(problem, constraint, term)
    yield from _imaginary_faults(problem, constraint, term)
    yield from _symbol_faults(problem, constraint, term, place)
    yield from _field_faults(problem, constraint, term, place)
    for node in term.residual.atoms(sympy.core.function.AppliedUndef):
        if not isinstance(node, Field | Known):
            yield Fault(
                constraint.name,
                f"the function {node.func} {place} is no field and has no values; make it by phi.field or phi.function.",
            )
    for node in term.residual.atoms(OverRegion):
        yield from (Fault(constraint.name, f"the integral {place} is over {fault}") for fault in node.region.faults)
    for node in term.residual.atoms(Quadrature):
        for symbol in node.args[0].free_symbols & set(node.bound_symbols):
            if isinstance(symbol, Normal):
                yield from _off_space(constraint, symbol, node.args[1].region, place)


def _infinite_on_region(problem: Problem, constraint: Constraint, term: Term) -> Iterator[Fault]:
    """A known part that has no finite value where the region fixes a coordinate, as 1/x on the side x = 0."""
    unknowns = term.residual.atoms(sympy.Derivative, sympy.Subs, Field, Quadrature)
    known = term.residual.xreplace(dict.fromkeys(unknowns, sympy.Integer(1)))
    points = sample_domain(problem.domain, 8)
    for _, piece in () if constraint.region.faults else constraint.region.pieces:
        held = known.subs(piece.fixed)
        if held.has(*INFINITE):
            at = {s: np.full(8, float(piece.fixed[s])) if s in piece.fixed else column for s, column in points.items()}
            if not np.all(np.isfinite(values(known, at))):
                where = ", ".join(f"{symbol.name} = {value}" for symbol, value in piece.fixed.items())
                yield Fault(constraint.name, f"{text(term.written)} is not finite at {where}; give its limit there.")
                return


def _imaginary_faults(problem: Problem, constraint: Constraint, term: Term) -> Iterator[Fault]:
    """A known function's imaginary part, which no unknown of a real equation can meet."""
    known = [node for node in term.residual.atoms(Known) if node.func.is_complex_valued]
    if not known or not all(field.is_real for field in fields_in(term.residual).values()) or term.residual.has(sympy.I):
        return
    unknowns = term.residual.atoms(sympy.Derivative, Field, Parameter)
    points = sample_domain(problem.domain, 32)
    parts = [
        values(
            term.residual.xreplace(dict.fromkeys(unknowns, sympy.Integer(n))).subs(constraint.region.fixed), points
        ).imag
        for n in (1, 2)
    ]
    meets = np.nanmax(np.abs(parts[0]), initial=0.0) < 1e-5 or not np.array_equal(*parts, equal_nan=True)
    if constraint.exact or not meets:
        yield Fault(
            constraint.name,
            f"{text(term.written)} holds the complex values of {known[0].func.base_name!r} and no complex field; take "
            f"their real part, as in re({text(known[0])}), or make the field by phi.field(..., complex=True).",
        )


def _symbol_faults(problem: Problem, constraint: Constraint, term: Term, place: str) -> Iterator[Fault]:
    known = {symbol.name: symbol for symbol in problem.domain.coordinates}
    names = [*known, *problem.parameters]
    of_fields = {symbol for field in fields_in(term.residual).values() for symbol in field.coordinates}
    for symbol in sorted(term.residual.free_symbols, key=str):
        if isinstance(symbol, Parameter | Observed) or symbol in constraint.region.coordinates:
            continue
        if isinstance(symbol, Normal):
            yield from _normal_fault(constraint, symbol, place)
        elif symbol in problem.domain.coordinates:
            if not constraint.region.faults:
                yield Fault(constraint.name, f"{symbol.name!r} {place} has no value on {constraint.region}.")
        elif symbol in of_fields:
            continue  # told of the field
        elif symbol.name in known:
            yield Fault(
                constraint.name,
                f"{symbol.name!r} {place} is not the coordinate {symbol.name!r} of the domain but another symbol of that "
                f"name; use the one that the domain was made with.",
            )
        else:
            yield Fault(
                constraint.name,
                f"{symbol.name!r} {place} is no coordinate, field or parameter; {nearest(symbol.name, names)}. "
                f"An unknown constant is made by phi.parameter({symbol.name!r}).",
            )


def _normal_fault(constraint: Constraint, symbol: Normal, place: str) -> Iterator[Fault]:
    if constraint.region.faults:
        return
    if not constraint.region.has_normals:
        yield Fault(
            constraint.name,
            f"the normal derivative {place} has no meaning on {constraint.region}, which has no outward normal; use a "
            f"boundary, as in phi.on(domain.boundary, ...).",
        )
    elif symbol.coordinate not in constraint.region.coordinates:
        yield Fault(
            constraint.name, f"the normal's component by {symbol.coordinate.name!r} {place} does not exist there."
        )
    else:
        yield from _off_space(constraint, symbol, constraint.region, place)


def _off_space(constraint: Constraint, symbol: Normal, region: Region, place: str) -> Iterator[Fault]:
    """A component along time or a parameter, which only points have that bring it along."""
    name, kind = symbol.coordinate.name, kind_of(symbol.coordinate)
    if kind != "space" and symbol.coordinate not in region.normal_coordinates:
        yield Fault(
            constraint.name,
            f"the normal's component by {name!r} {place} does not exist: {name!r} is of kind {kind}, and walls are crossed "
            f"in space alone; write the derivative itself, as in u.diff({name}), or a condition on domain.at({name}=...).",
        )


def _field_faults(problem: Problem, constraint: Constraint, term: Term, place: str) -> Iterator[Fault]:
    bound = {s for node in term.residual.atoms(Quadrature) for s in node.bound_symbols}
    for field in fields_in(term.residual).values():
        nodes = [node for node in _field_nodes(term.residual) if node.name == field.name]
        miscounted = [node for node in nodes if len(node.args) != len(field.coordinates)]
        strange = [c for c in field.coordinates if c not in problem.domain.coordinates]
        if miscounted:
            yield Fault(
                constraint.name,
                f"{text(miscounted[0])} {place} has {len(miscounted[0].args)} arguments; {field} takes "
                f"{len(field.coordinates)}.",
            )
        elif strange:
            yield Fault(constraint.name, f"the field {field} {place} depends on {_strange(problem, strange[0])}.")
        elif not constraint.region.faults:
            read = {arg for at in _places(term.residual, field) for arg in at.values()} - bound
            lacking = [c for c in field.coordinates if c in read and c not in constraint.region.coordinates]
            if lacking:
                yield Fault(
                    constraint.name,
                    f"the field {field} {place} depends on {lacking[0].name!r}, which its region {constraint.region} "
                    f"lacks; give the region that coordinate too.",
                )
            yield from _off_its_region(constraint, field, read, place)


def _strange(problem: Problem, symbol: sympy.Symbol) -> str:
    names = [known.name for known in problem.domain.coordinates]
    if symbol.name in names:
        return f"another symbol called {symbol.name!r} than the domain; make it with the domain's coordinate"
    return f"{symbol.name!r}, which the domain lacks; {nearest(symbol.name, names)}"


def _places(expression: sympy.Expr, field: Field) -> Iterator[dict[sympy.Symbol, sympy.Expr]]:
    return (arguments for found, arguments in evaluations(expression) if found == field)


def _off_its_region(constraint: Constraint, field: Field, read: set[sympy.Expr], place: str) -> Iterator[Fault]:
    """A field that lives on a part of the domain, in an equation that reads it beyond."""
    own = field.func.on
    if own is None or own.faults:
        yield from (
            Fault(constraint.name, f"the field {field} lives on {fault}") for fault in getattr(own, "faults", ())
        )
        return
    for symbol, (low, high) in constraint.region.bounds.items():
        if symbol in read and symbol in own.bounds and _outside((low, high), own.bounds[symbol]):
            yield Fault(
                constraint.name,
                f"the field {field} {place} lives on {own}, and the equation holds on {constraint.region}; write "
                f"phi.on(...) with a region inside.",
            )
            return


def _outside(inner: tuple[float, float], outer: tuple[float, float]) -> bool:
    slack = 1e-6 * (outer[1] - outer[0])
    return inner[0] < outer[0] - slack or inner[1] > outer[1] + slack


def _empty_regions(problem: Problem) -> Iterator[Fault]:
    for constraint in problem.constraints.values():
        region = constraint.region
        if region.faults:
            continue  # told by the region itself
        if region.empty:
            yield Fault(constraint.name, f"its region {region} is empty; no point can be drawn from it.")
            continue
        for symbol, (low, high) in region.bounds.items():
            if symbol in problem.domain.bounds and _outside((low, high), problem.domain.bounds[symbol]):
                least, most = problem.domain.bounds[symbol]
                yield Fault(
                    constraint.name,
                    f"its region reaches outside the domain: {symbol.name} runs over [{low:g}, {high:g}], and the domain "
                    f"over [{least:g}, {most:g}].",
                )


def _initial_conditions(problem: Problem) -> Iterator[Fault]:
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
