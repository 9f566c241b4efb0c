"""Differential operators on fields and on expressions of fields; they act on space coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sympy

from phijax.symbolic.coordinates import Coordinate, kind_of
from phijax.symbolic.fields import fields_in
from phijax.symbolic.normals import normal
from phijax.symbolic.printing import text
from phijax.symbolic.values import as_expression

Coordinates = Sequence[sympy.Symbol] | sympy.Symbol | None


def space_coordinates(*expressions: sympy.Basic, over: Coordinates = None) -> tuple[sympy.Symbol, ...]:
    """Space coordinates on which the expressions depend, in the order in which their fields declare them.

    Of expressions without fields, by name. `over` overrides.
    Raises ValueError where there is none, or where the fields leave the order open, as k(x) and l(y) do.
    """
    if over is not None:
        return (over,) if isinstance(over, sympy.Symbol) else tuple(over)
    orders = _declared_orders(expressions)
    found = _found(expressions, orders)
    order = _only_order(found, orders) if orders else sorted(found, key=lambda s: s.name)
    if order is None:
        names = _names(sorted(found, key=lambda s: s.name))
        raise ValueError(
            f"the fields in {_written(expressions)} do not settle the order of the space coordinates {names}; "
            f"name them with over=({names})."
        )
    return tuple(order)


def _declared_orders(expressions: Sequence[sympy.Basic]) -> list[tuple[sympy.Symbol, ...]]:
    fields = (field for expression in expressions for field in fields_in(expression).values())
    return [tuple(c for c in field.coordinates if kind_of(c) == "space") for field in fields]


def _found(expressions: Sequence[sympy.Basic], orders: list[tuple[sympy.Symbol, ...]]) -> tuple[sympy.Symbol, ...]:
    """The fields' coordinates, and those that stand in the expressions themselves, as x does in x * k(y)."""
    free = set().union(*(expression.free_symbols for expression in expressions))
    # Among fields a symbol that is not made as a coordinate may be anything; without them it can be nothing else.
    explicit = [s for s in free if isinstance(s, Coordinate) or (not orders and type(s) in (sympy.Symbol, sympy.Dummy))]
    explicit = sorted((s for s in explicit if kind_of(s) == "space"), key=lambda s: s.name)
    found = dict.fromkeys([symbol for order in orders for symbol in order] + explicit)
    if not found:
        raise ValueError(
            f"{_written(expressions)} has no space coordinate to differentiate by; name them with over=(x, y)."
        )
    return tuple(found)


def _only_order(
    found: Sequence[sympy.Symbol], orders: list[tuple[sympy.Symbol, ...]]
) -> tuple[sympy.Symbol, ...] | None:
    """The one order of `found` that agrees with all of `orders`; None where there is none, or more than one."""
    left, order = list(found), []
    while left:
        later = {s for each in orders for s in [c for c in each if c in left][1:]}
        first = [symbol for symbol in left if symbol not in later]
        if len(first) != 1:
            return None
        order += first
        left.remove(first[0])
    return tuple(order)


def _each_space_coordinate(expressions: Sequence[sympy.Basic], over: Coordinates) -> tuple[sympy.Symbol, ...]:
    """The same, for sums over the coordinates, where their order says nothing."""
    return space_coordinates(over=over) if over is not None else _found(expressions, _declared_orders(expressions))


def _written(expressions: Sequence[sympy.Basic]) -> str:
    return ", ".join(text(expression) for expression in expressions)


def components(vector: Any) -> tuple[sympy.Expr, ...]:
    """Components of a sympy matrix, a tuple or a list."""
    if isinstance(vector, sympy.MatrixBase | sympy.Tuple) or (
        isinstance(vector, Iterable) and not isinstance(vector, str)
    ):
        return tuple(as_expression(c) for c in vector)
    raise TypeError(f"{vector!r} is no vector; write its components as a tuple, as in (u, v).")


def is_vector(expression: Any) -> bool:
    """Whether an expression has components."""
    return isinstance(expression, sympy.MatrixBase | sympy.Tuple | tuple | list)


def grad(f: Any, over: Coordinates = None) -> sympy.Matrix:
    """Gradient of a scalar, one component a space coordinate; of a vector, the matrix of d f_i / d x_j."""
    if is_vector(f):
        parts = components(f)
        axes = space_coordinates(*parts, over=over)
        return sympy.Matrix([[part.diff(axis) for axis in axes] for part in parts])
    f = as_expression(f)
    return sympy.Matrix([f.diff(axis) for axis in space_coordinates(f, over=over)])


def div(vector: Any, over: Coordinates = None) -> sympy.Expr:
    """Divergence: the components' derivatives by the space coordinates, in order, summed.

    Raises ValueError where there are not as many components as space coordinates.
    """
    parts = components(vector)
    axes = _axes_of(parts, over, "div")
    return sum((part.diff(axis) for part, axis in zip(parts, axes, strict=True)), sympy.Integer(0))


def curl(f: Any, over: Coordinates = None) -> sympy.Expr | sympy.Matrix:
    """Curl: of (u, v) the scalar v_x - u_y; of a scalar in the plane (f_y, -f_x); of a vector in space a vector."""
    if not is_vector(f):
        f = as_expression(f)
        axes = space_coordinates(f, over=over)
        if len(axes) != 2:
            raise ValueError(f"curl of the scalar {f} needs two space coordinates, got {_names(axes)}.")
        return sympy.Matrix([f.diff(axes[1]), -f.diff(axes[0])])
    parts = components(f)
    axes = _axes_of(parts, over, "curl")
    if len(axes) == 2:
        return parts[1].diff(axes[0]) - parts[0].diff(axes[1])
    if len(axes) != 3:
        raise ValueError(f"curl exists in two and three dimensions, not over {_names(axes)}.")
    (u, v, w), (x, y, z) = parts, axes
    return sympy.Matrix([w.diff(y) - v.diff(z), u.diff(z) - w.diff(x), v.diff(x) - u.diff(y)])


def laplacian(f: Any, over: Coordinates = None) -> sympy.Expr | sympy.Matrix:
    """Sum of second derivatives by the space coordinates; of a vector, component by component."""
    if is_vector(f):
        parts = components(f)
        axes = _each_space_coordinate(parts, over)
        return sympy.Matrix([laplacian(part, over=axes) for part in parts])
    f = as_expression(f)
    return sum((f.diff(axis, 2) for axis in _each_space_coordinate((f,), over)), sympy.Integer(0))


def normal_derivative(f: Any, over: Coordinates = None) -> sympy.Expr | sympy.Matrix:
    """Derivative along the outward normal of the region on which it is used: the sum of n_i df/dx_i."""
    if is_vector(f):
        parts = components(f)
        axes = _each_space_coordinate(parts, over)
        return sympy.Matrix([normal_derivative(part, over=axes) for part in parts])
    f = as_expression(f)
    return sum((normal(axis) * f.diff(axis) for axis in _each_space_coordinate((f,), over)), sympy.Integer(0))


def dt(f: Any, order: int = 1) -> sympy.Expr | sympy.Matrix:
    """Derivative by time, of the given order.

    Raises ValueError where the fields of `f` do not depend on exactly one time.
    """
    if is_vector(f):
        return sympy.Matrix([dt(part, order) for part in components(f)])
    f = as_expression(f)
    symbols = set(f.free_symbols).union(*(field.coordinates for field in fields_in(f).values()))
    times = [symbol for symbol in symbols if kind_of(symbol) == "time"]
    if len(times) != 1:
        raise ValueError(f"dt({f}) needs one coordinate of time, made by phi.time; found {_names(times) or 'none'}.")
    return f.diff(times[0], order)


def _axes_of(parts: tuple[sympy.Expr, ...], over: Coordinates, what: str) -> tuple[sympy.Symbol, ...]:
    axes = space_coordinates(*parts, over=over)
    if len(parts) != len(axes):
        raise ValueError(
            f"{what} of {len(parts)} components ({', '.join(map(str, parts))}) over {len(axes)} space coordinates "
            f"({_names(axes)}): give one component a coordinate, or name the coordinates with over=."
        )
    return axes


def _names(symbols: Iterable[sympy.Symbol]) -> str:
    return ", ".join(symbol.name for symbol in symbols)
