"""Sympy conditions on coordinates, evaluated on arrays by a table of nodes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
import sympy
from jaxtyping import Array, Bool, Float

from phijax.geometry._numbers import as_float

_NODES: dict[type, Callable[..., Any]] = {
    sympy.Add: lambda *terms: functools.reduce(operator.add, terms),
    sympy.Mul: lambda *terms: functools.reduce(operator.mul, terms),
    sympy.Min: lambda *terms: functools.reduce(jnp.minimum, terms),
    sympy.Max: lambda *terms: functools.reduce(jnp.maximum, terms),
    sympy.And: lambda *terms: functools.reduce(jnp.logical_and, terms),
    sympy.Or: lambda *terms: functools.reduce(jnp.logical_or, terms),
    sympy.Not: jnp.logical_not,
    sympy.Pow: jnp.power,
    sympy.Abs: jnp.abs,
    sympy.sign: jnp.sign,
    sympy.floor: jnp.floor,
    sympy.ceiling: jnp.ceil,
    sympy.exp: jnp.exp,
    sympy.log: jnp.log,
    sympy.sin: jnp.sin,
    sympy.cos: jnp.cos,
    sympy.tan: jnp.tan,
    sympy.atan: jnp.arctan,
    sympy.atan2: jnp.arctan2,
    sympy.sinh: jnp.sinh,
    sympy.cosh: jnp.cosh,
    sympy.tanh: jnp.tanh,
    sympy.StrictGreaterThan: operator.gt,
    sympy.GreaterThan: operator.ge,
    sympy.StrictLessThan: operator.lt,
    sympy.LessThan: operator.le,
    sympy.Equality: operator.eq,
    sympy.Unequality: operator.ne,
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
    """Where `condition` is true."""
    shape = next(iter(points.values())).shape
    return jnp.broadcast_to(jnp.asarray(_value(condition, points)), shape)


def _value(node: sympy.Basic, points: Mapping[str, Array]) -> Any:
    if isinstance(node, sympy.Symbol):
        return points[node.name]
    if isinstance(node, _LOGICAL):
        return bool(node)
    if node.is_number:
        return int(node) if node.is_Integer else as_float(node)  # type: ignore[arg-type]
    return _NODES[type(node)](*(_value(argument, points) for argument in node.args))
