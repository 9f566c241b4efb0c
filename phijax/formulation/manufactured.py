"""Manufactured solutions: sources and boundary values from a chosen solution, by sympy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from phijax.formulation.conditions import Data, Free, On, Periodic
from phijax.formulation.faults import DeclarationError, Fault, nearest
from phijax.formulation.problem import Problem
from phijax.symbolic import Field


def manufactured(problem: Problem, exact: Mapping[sympy.Expr, Any]) -> Problem:
    """`problem` with the right-hand sides that make `exact`, {field: expression}, its solution and its reference.

    Every equation r = 0 becomes r = r(exact). Raises DeclarationError where `exact` names no field of the problem.
    """
    values = {field: sympy.sympify(value) for field, value in exact.items()}
    strange = [field for field in values if not isinstance(field, Field) or field.name not in problem.fields]
    if strange:
        known = nearest(str(getattr(strange[0], "name", strange[0])), problem.fields)
        raise DeclarationError(
            [Fault(None, f"the exact solution names {strange[0]}, which is no field of the problem; {known}.")]
        )
    pairs = []
    for name, written in problem._written:
        constraint = problem.constraints[name]
        if isinstance(written, Data | Free | Periodic):
            pairs.append((name, written))
            continue
        equations = {term.label or name: _shifted(term.written, term.residual, values) for term in constraint.terms}
        shifted: Any = equations if any(term.label for term in constraint.terms) else next(iter(equations.values()))
        pairs.append((name, On(written.region, shifted, written.exact) if isinstance(written, On) else shifted))
    reference = {field.name: value for field, value in values.items()}
    return Problem(problem.domain, pairs, name=problem.name, reference=reference)


def _shifted(written: sympy.Basic, residual: sympy.Expr, values: Mapping[sympy.Expr, sympy.Expr]) -> sympy.Equality:
    source = sympy.simplify(substitute(residual, values))
    if isinstance(written, sympy.Equality):
        return sympy.Eq(written.lhs, written.rhs + source, evaluate=False)
    return sympy.Eq(residual, source, evaluate=False)


def substitute(expression: sympy.Expr, values: Mapping[sympy.Expr, sympy.Expr]) -> sympy.Expr:
    """The expression with fields replaced by expressions of their coordinates, also at other arguments; evaluated."""
    by_function = {field.func: (field.coordinates, value) for field, value in values.items()}

    def at(*arguments: sympy.Expr, function: Any) -> sympy.Expr:
        coordinates, value = by_function[function]
        return value.subs(dict(zip(coordinates, arguments, strict=True)), simultaneous=True)

    for function in by_function:
        expression = expression.replace(function, lambda *args, function=function: at(*args, function=function))
    return expression.doit()
