"""Recognises the common forms of an equation: a value of a field, a derivative of a field, the order in a coordinate."""

from __future__ import annotations

import sympy

from phijax.formulation.constraint import Constraint, Term
from phijax.symbolic import Field, Normal, Observed, Parameter, fields_in, kind_of


def value_condition(term: Term) -> tuple[Field, sympy.Expr] | None:
    """(u, g) where the term says u = g with g known; None where it says anything else."""
    return _linear_in(term, lambda node: isinstance(node, Field))


def derivative_condition(term: Term, coordinate: sympy.Symbol) -> tuple[Field, sympy.Expr] | None:
    """(u, g) where the term says du/d(coordinate) = g with g known."""
    found = _linear_in(
        term, lambda node: isinstance(node, sympy.Derivative) and node.args[1:] == (sympy.Tuple(coordinate, 1),)
    )
    return None if found is None else (found[0].expr, found[1])


def _linear_in(term: Term, is_unknown) -> tuple[sympy.Expr, sympy.Expr] | None:
    derivatives = term.residual.atoms(sympy.Derivative)
    candidates = [n for n in derivatives | term.residual.atoms(Field) if is_unknown(n)]
    if len(candidates) != 1 or len(fields_in(term.residual)) != 1:
        return None
    unknown = candidates[0]
    stand_in = sympy.Dummy("U")
    replaced = term.residual.xreplace({unknown: stand_in})
    if replaced.has(Field) or replaced.atoms(Parameter, Normal, Observed):
        return None
    slope = replaced.diff(stand_in)
    if not slope.is_number or slope == 0:
        return None
    field = unknown if isinstance(unknown, Field) else unknown.expr
    if not isinstance(field, Field) or field != field.declared:
        return None
    return unknown, -replaced.subs(stand_in, 0) / slope


def orders(expression: sympy.Expr, coordinate: sympy.Symbol) -> dict[str, int]:
    """Highest derivative order of each field by `coordinate`, for fields that depend on it."""
    found: dict[str, int] = {}
    for node in sympy.preorder_traversal(expression):
        if isinstance(node, sympy.Derivative) and isinstance(node.expr, Field):
            order = sum(int(count) for symbol, count in node.variable_count if symbol == coordinate)
            found[node.expr.name] = max(found.get(node.expr.name, 0), order)
        elif isinstance(node, Field) and coordinate in node.coordinates:
            found.setdefault(node.name, 0)
    return found


def fixed_time(constraint: Constraint) -> sympy.Symbol | None:
    """The time that the constraint's region holds at one value, None where there is none."""
    return next((symbol for symbol in constraint.region.fixed if kind_of(symbol) == "time"), None)
