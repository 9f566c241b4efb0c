"""Sympy conditions on coordinates, evaluated on arrays of NumPy or JAX by a table of nodes."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy
from jaxtyping import Array, Bool, Float

from phijax.geometry._numbers import as_float, namespace

# Functions of NumPy and of JAX; those of two arguments are folded over more.
_NODES: dict[type, str] = {
    sympy.Add: "add",
    sympy.Mul: "multiply",
    sympy.Min: "minimum",
    sympy.Max: "maximum",
    sympy.And: "logical_and",
    sympy.Or: "logical_or",
    sympy.Not: "logical_not",
    sympy.Pow: "power",
    sympy.Abs: "abs",
    sympy.sign: "sign",
    sympy.floor: "floor",
    sympy.ceiling: "ceil",
    sympy.exp: "exp",
    sympy.log: "log",
    sympy.sin: "sin",
    sympy.cos: "cos",
    sympy.tan: "tan",
    sympy.asin: "arcsin",
    sympy.acos: "arccos",
    sympy.atan: "arctan",
    sympy.atan2: "arctan2",
    sympy.sinh: "sinh",
    sympy.cosh: "cosh",
    sympy.tanh: "tanh",
    sympy.StrictGreaterThan: "greater",
    sympy.GreaterThan: "greater_equal",
    sympy.StrictLessThan: "less",
    sympy.LessThan: "less_equal",
    sympy.Equality: "equal",
    sympy.Unequality: "not_equal",
}
_LOGICAL = (sympy.logic.boolalg.BooleanTrue, sympy.logic.boolalg.BooleanFalse)


def unknown_node(condition: sympy.Basic) -> sympy.Basic | None:
    """The first sub-expression that `holds` can't evaluate, or None."""
    for node in sympy.preorder_traversal(condition):
        number = isinstance(node, sympy.Expr) and node.is_number
        if number and not (node.is_real and node.is_finite):
            return node
        if not number and not isinstance(node, (sympy.Symbol, *_LOGICAL)) and type(node) not in _NODES:
            return node
    return None


def holds(condition: sympy.Basic, points: Mapping[str, Float[Array, "*n"]]) -> Bool[Array, "*n"]:
    """Where `condition` is true; NumPy for NumPy."""
    column = next(iter(points.values()))
    xp = namespace(column)
    with np.errstate(all="ignore"):  # a condition may divide by zero beside the points that it is about
        return xp.broadcast_to(xp.asarray(evaluate(condition, points, xp)), column.shape)


def expression_value(expression: sympy.Basic, points: Mapping[str, Float[Array, "*n"]]) -> Float[Array, "*n"]:
    """An expression without conditions, by the same table; NumPy for NumPy."""
    column = next(iter(points.values()))
    xp = namespace(column)
    with np.errstate(all="ignore"):
        return xp.broadcast_to(xp.asarray(evaluate(expression, points, xp), column.dtype), column.shape)


def evaluate(node: sympy.Basic, points: Mapping[str, Array], xp: Any) -> Any:
    """A sympy expression at points, by the table; a number where it holds no symbol."""
    if isinstance(node, sympy.Symbol):
        return points[node.name]
    if isinstance(node, _LOGICAL):
        return bool(node)
    if node.is_number:
        return int(node) if node.is_Integer else as_float(node)  # type: ignore[arg-type]
    function = getattr(xp, _NODES[type(node)])
    arguments = [evaluate(argument, points, xp) for argument in node.args]
    return functools.reduce(function, arguments) if len(arguments) > 1 else function(*arguments)
