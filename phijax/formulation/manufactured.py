"""Manufactured solutions: sources and boundary values from a chosen solution, by sympy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sympy

from phijax.formulation.conditions import Data, Free, On, Periodic
from phijax.formulation.constraint import Term
from phijax.formulation.faults import DeclarationError, Fault, nearest
from phijax.formulation.problem import Problem
from phijax.geometry import Region
from phijax.symbolic import Field, Parameter, as_expression

MOST_FUNCTIONS = 5


def manufactured(problem: Problem, exact: Mapping[sympy.Expr, Any]) -> Problem:
    """`problem` with the right-hand sides that make `exact` its solution and its reference.

    exact: {field: expression} for every field, {parameter: number} for every parameter.
    Every equation r = 0 becomes r = r(exact); observed data, periodic pairs and free parts stay as they are.
    Raises DeclarationError where `exact` leaves one out, or names what the problem has not.
    """
    values = {key: as_expression(value) for key, value in exact.items()}
    faults = list(_faults(problem, values))
    if faults:
        raise DeclarationError(faults)
    pairs = []
    for name, written in problem._written:
        constraint = problem.constraints[name]
        if isinstance(written, Data | Free | Periodic) or constraint.columns:
            pairs.append((name, written))
            continue
        equations = {term.label or name: _shifted(term, constraint.region, values) for term in constraint.terms}
        shifted: Any = equations if any(term.label for term in constraint.terms) else next(iter(equations.values()))
        pairs.append((name, On(written.region, shifted, written.exact) if isinstance(written, On) else shifted))
    reference = {key.name: value for key, value in values.items()}
    return Problem(problem.domain, pairs, name=problem.name, reference=reference)


def _faults(problem: Problem, values: Mapping[Any, sympy.Expr]) -> Iterator[Fault]:
    known = {**problem.fields, **problem.parameters}
    for key in values:
        if not isinstance(key, Field | Parameter) or known.get(key.name) != key:
            name = str(getattr(key, "name", key))
            yield Fault(None, f"the exact solution names {name!r}, which the problem has not; {nearest(name, known)}.")
    for name, thing in known.items():
        if thing not in values:
            yield Fault(None, f"the exact solution gives no value for {name!r}.")


def _shifted(term: Term, region: Region, values: Mapping[sympy.Expr, sympy.Expr]) -> sympy.Equality:
    """The equation with its source; as it was where the solution satisfies it on every piece of the region."""
    source = _simple(substitute(term.residual, values))
    if all(_simple(source.subs(piece.fixed)) == 0 for _, piece in region.pieces):
        source = sympy.Integer(0)
    if isinstance(term.written, sympy.Equality):
        return sympy.Eq(term.written.lhs, term.written.rhs + source, evaluate=False)
    return sympy.Eq(term.residual, source, evaluate=False)


def _simple(expression: sympy.Expr) -> sympy.Expr:
    """Simplified; of many functions, whose identities take sympy minutes to search, no more than expanded."""
    expanded = sympy.expand(expression)
    if len(expanded.atoms(sympy.Function)) > MOST_FUNCTIONS:
        return sympy.factor_terms(expanded)
    return sympy.simplify(expression)


def substitute(expression: sympy.Expr, values: Mapping[sympy.Expr, sympy.Expr]) -> sympy.Expr:
    """The expression with fields replaced by expressions of their coordinates, also at other arguments; evaluated."""
    for key, value in values.items():
        if isinstance(key, Field):
            expression = expression.replace(_is(key), _at(key, value))
        else:
            expression = expression.xreplace({key: value})
    return expression.doit()


def _is(field: Field) -> Callable[[sympy.Basic], bool]:
    # By equality: a field that was made again is equal, but its class is another.
    return lambda node: isinstance(node, Field) and node.func == field.func


def _at(field: Field, value: sympy.Expr) -> Callable[[Field], sympy.Expr]:
    return lambda node: value.subs(dict(zip(field.coordinates, node.args, strict=True)), simultaneous=True)
