"""Recognises the common forms of an equation: a value of a field, a derivative of a field, the order in a coordinate."""

from __future__ import annotations

from collections.abc import Iterator

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
    """Highest derivative order of each field by `coordinate`, for fields that depend on it.

    Derivatives of expressions count for every field in them, as in Derivative(u**2, t).
    """
    found: dict[str, int] = {}

    def visit(node: sympy.Basic, order: int) -> None:
        if isinstance(node, Field):
            if coordinate in node.coordinates:
                found[node.name] = max(found.get(node.name, 0), order)
        elif isinstance(node, sympy.Derivative):
            by_coordinate = (count for symbol, count in node.variable_count if symbol == coordinate)
            visit(node.expr, order + sum(int(count) for count in by_coordinate if count.is_Integer))
        else:
            for arg in node.args:
                visit(arg, order)

    visit(expression, 0)
    return found


def evaluations(expression: sympy.Expr) -> Iterator[tuple[Field, dict[sympy.Symbol, sympy.Expr]]]:
    """Every field that the expression reads, and where: (u, {x: -1, t: t}) for u(-1, t) and for u_x at x = -1."""

    def visit(node: sympy.Basic, values: dict) -> Iterator[tuple[Field, dict[sympy.Symbol, sympy.Expr]]]:
        if isinstance(node, Field):
            arguments = (arg.xreplace(values) for arg in node.args)
            yield node.declared, dict(zip(node.coordinates, arguments, strict=False))
        if isinstance(node, sympy.Subs):
            values = {**values, **dict(zip(node.variables, node.point, strict=True))}
            yield from visit(node.expr, values)
        else:
            for arg in node.args:
                yield from visit(arg, values)

    yield from visit(expression, {})


def fixed_time(constraint: Constraint) -> sympy.Symbol | None:
    """The time that the constraint's region holds at one value, None where there is none."""
    return next((symbol for symbol in constraint.region.fixed if kind_of(symbol) == "time"), None)
