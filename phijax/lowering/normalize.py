"""First pass: every derivative is one of a field, every integral has a rule, every field evaluation names its arguments."""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from phijax.symbolic import Field, Quadrature
from phijax.symbolic.integrals import DEFAULT_POINTS


@dataclass(frozen=True)
class Jet:
    """A derivative of a field at arguments: `orders` by position of the field's coordinates, all zero for the value."""

    field: type
    args: tuple[sympy.Expr, ...]
    orders: tuple[int, ...]

    @property
    def name(self) -> str:
        """Name of the field."""
        return self.field.__name__


def normalize(expression: sympy.Expr) -> sympy.Expr:
    """An equal expression whose derivatives are of fields alone and whose integrals are quadratures."""

    def visit(node: sympy.Basic) -> sympy.Basic:
        if not node.args or isinstance(node, Field):
            return node
        if isinstance(node, sympy.Derivative):
            inner = visit(node.expr)
            if jet_of(sympy.Derivative(inner, *node.variable_count, evaluate=False)) is not None:
                return node
            return visit(inner.diff(*node.variable_count))
        if isinstance(node, sympy.Subs):
            return (
                node
                if jet_of(node) is not None
                else visit(node.expr.doit().subs(list(zip(*node.args[1:], strict=True))))
            )
        if isinstance(node, sympy.Integral):
            return _quadrature(node, visit)
        return node.func(*(visit(arg) for arg in node.args))

    return visit(sympy.sympify(expression))


def jet_of(node: sympy.Basic) -> Jet | None:
    """The derivative of a field that a node stands for; None where it is anything else."""
    if isinstance(node, Field):
        return Jet(node.func, node.args, (0,) * len(node.args))
    if isinstance(node, sympy.Derivative) and isinstance(node.expr, Field):
        field = node.expr
        orders = [0] * len(field.args)
        for symbol, count in node.variable_count:
            holding = [position for position, arg in enumerate(field.args) if arg.has(symbol)]
            if len(holding) != 1 or field.args[holding[0]] != symbol or not count.is_Integer:
                return None
            orders[holding[0]] += int(count)
        return Jet(field.func, field.args, tuple(orders))
    if isinstance(node, sympy.Subs):
        inner = jet_of(node.expr)
        if inner is None:
            return None
        values = dict(zip(node.variables, node.point, strict=True))
        return Jet(inner.field, tuple(arg.xreplace(values) for arg in inner.args), inner.orders)
    return None


def _quadrature(node: sympy.Integral, visit) -> sympy.Expr:
    result = visit(node.function)
    for limit in node.limits:
        if len(limit) != 3:
            raise ValueError(f"{node} has no limits; write it with phi.integral(expression, (x, a, b)).")
        result = Quadrature(result, sympy.Tuple(*limit), sympy.Integer(DEFAULT_POINTS))
    return result
