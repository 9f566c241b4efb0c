"""Declaration checks of one equation: its symbols, fields and known values, on the region where it holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import sympy

from phijax.formulation.constraint import Constraint, Term
from phijax.formulation.faults import Fault, nearest
from phijax.formulation.numeric import reaches_beyond, sample_domain, values
from phijax.formulation.patterns import evaluations, field_nodes
from phijax.geometry import Region
from phijax.symbolic import (
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


def term_faults(problem: Problem, constraint: Constraint, term: Term) -> Iterator[Fault]:
    """Every fault of one equation of a constraint."""
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
        nodes = [node for node in field_nodes(term.residual) if node.name == field.name]
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
        if symbol in read and symbol in own.bounds and reaches_beyond((low, high), own.bounds[symbol]):
            yield Fault(
                constraint.name,
                f"the field {field} {place} lives on {own}, and the equation holds on {constraint.region}; write "
                f"phi.on(...) with a region inside.",
            )
            return
