"""Recognises the common forms of an equation: a value of a field, a slope, sums of both, the order in a coordinate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import sympy

from phijax.formulation.constraint import Constraint, Term
from phijax.symbolic import Field, Normal, Observed, Parameter, Quadrature, fields_in, kind_of


@dataclass(frozen=True)
class FirstOrder:
    """share x u + the sum of slopes[x] x du/dx = known, with coefficients of the coordinates and the normal."""

    field: Field
    share: sympy.Expr
    slopes: Mapping[sympy.Symbol, sympy.Expr]
    known: sympy.Expr

    def map(self, function: Callable[[sympy.Expr], sympy.Expr]) -> FirstOrder:
        """The same with every coefficient, and the known side, replaced."""
        slopes = {symbol: function(slope) for symbol, slope in self.slopes.items()}
        return FirstOrder(self.field, function(self.share), slopes, function(self.known))


def first_order_condition(term: Term) -> FirstOrder | None:
    """The term as a linear condition on one field and its first derivatives; None where it says anything else."""
    fields = list(fields_in(term.residual).values())
    if len(fields) != 1:
        return None
    (field,) = fields
    slopes = {
        node: sympy.Dummy("D")
        for node in term.residual.atoms(sympy.Derivative)
        if node.expr == field and len(node.args) == 2 and node.args[1][1] == 1
    }
    unknowns = {field: sympy.Dummy("U"), **slopes}
    stand_ins = list(unknowns.values())
    without = term.residual.xreplace(slopes)
    replaced = without.xreplace(unknowns)
    if any(node.has(Field) for node in without.atoms(sympy.Derivative, sympy.Subs, sympy.Integral, Quadrature)):
        return None
    if replaced.has(Field) or replaced.atoms(Parameter, Observed):
        return None
    coefficients = {node: replaced.diff(stand_in) for node, stand_in in unknowns.items()}
    if any(coefficient.has(*stand_ins) for coefficient in coefficients.values()):
        return None
    known = -replaced.xreplace(dict.fromkeys(stand_ins, sympy.S.Zero))
    by_symbol = {node.args[1][0]: coefficients[node] for node in slopes}
    return FirstOrder(field, coefficients[field], by_symbol, known)


def value_condition(term: Term) -> tuple[Field, sympy.Expr] | None:
    """(u, g) where the term says u = g with g known; None where it says anything else."""
    found = first_order_condition(term)
    if found is None or found.slopes or found.share == 0 or not found.share.is_number or found.known.has(Normal):
        return None
    return found.field, found.known / found.share


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


def field_nodes(expression: sympy.Expr) -> Iterator[Field]:
    """Every field as it stands in the expression, also with arguments that are not its coordinates."""
    return (node for node in sympy.preorder_traversal(expression) if isinstance(node, Field))


def fixed_time(constraint: Constraint) -> sympy.Symbol | None:
    """The time that the constraint's region holds at one value, None where there is none."""
    return next((symbol for symbol in constraint.region.fixed if kind_of(symbol) == "time"), None)
