"""Differential operators on fields and on expressions of fields; they act on space coordinates."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import sympy

from phijax.symbolic import charts
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
    """Gradient of a scalar, one component a space coordinate; of a vector, the matrix of d f_i / d x_j.

    In curvilinear coordinates components are along their unit vectors, which turn: a vector needs all components.
    """
    if is_vector(f):
        parts = components(f)
        axes = space_coordinates(*parts, over=over)
        return _gradient_of_vector(parts, axes, "grad")
    f = as_expression(f)
    return sympy.Matrix([f.diff(axis) / charts.scale_factor(axis) for axis in space_coordinates(f, over=over)])


def _gradient_of_vector(parts: tuple[sympy.Expr, ...], axes: tuple[sympy.Symbol, ...], what: str) -> sympy.Matrix:
    slopes = [[part.diff(axis) for axis in axes] for part in parts]
    if not charts.is_curvilinear(axes):
        return sympy.Matrix(slopes)
    _check_components(parts, axes, what)
    for i, row in enumerate(slopes):
        for j, axis in enumerate(axes):
            row[j] = (row[j] + charts.connection(axes, parts, i, j)) / charts.scale_factor(axis)
    return sympy.Matrix(slopes)


def div(vector: Any, over: Coordinates = None) -> sympy.Expr:
    """Divergence: the components' derivatives by the space coordinates, in order, summed; charts add their shares.

    Raises ValueError where there are not as many components as space coordinates.
    """
    parts = components(vector)
    axes = _axes_of(parts, over, "div")
    shares = charts.divergence_shares(axes)
    terms = zip(parts, axes, shares, strict=True)
    return sum((p.diff(axis) / charts.scale_factor(axis) + share * p for p, axis, share in terms), sympy.Integer(0))


def curl(f: Any, over: Coordinates = None) -> sympy.Expr | sympy.Matrix:
    """Curl: of (u, v) the scalar v_x - u_y; of a scalar in the plane (f_y, -f_x); of a vector in space a vector.

    The scalar is along the first coordinate's direction times the second's: minus e_theta over the r and z of a
    cylindrical chart.
    """
    if not is_vector(f):
        f = as_expression(f)
        axes = space_coordinates(f, over=over)
        if len(axes) != 2:
            raise ValueError(f"curl of the scalar {f} needs two space coordinates, got {_names(axes)}.")
        first, second = map(charts.scale_factor, axes)
        third = charts.volume_factor(axes) / (first * second)  # of the direction across, in which nothing changes
        whole = [_stretched_slope(f, third, axis) for axis in axes]
        return sympy.Matrix([whole[1] / second, -whole[0] / first])
    parts = components(f)
    axes = _axes_of(parts, over, "curl")
    if len(axes) not in (2, 3):
        raise ValueError(f"curl exists in two and three dimensions, not over {_names(axes)}.")
    h = [charts.scale_factor(axis) for axis in axes]

    def across(i: int, j: int) -> sympy.Expr:
        return _stretched_slope(parts[j], h[j], axes[i]) / h[i] - _stretched_slope(parts[i], h[i], axes[j]) / h[j]

    return across(0, 1) if len(axes) == 2 else sympy.Matrix([across(1, 2), across(2, 0), across(0, 1)])


def _stretched_slope(f: sympy.Expr, h: sympy.Expr, axis: sympy.Symbol) -> sympy.Expr:
    """(h f)_axis / h, written out so that nothing is divided by what cancels."""
    return f.diff(axis) + sympy.cancel(h.diff(axis) / h) * f


def laplacian(f: Any, over: Coordinates = None) -> sympy.Expr | sympy.Matrix:
    """Sum of second derivatives by the space coordinates; of a vector, component by component.

    In curvilinear coordinates a tuple is a vector along their unit vectors, and its Laplacian grad div - curl curl.
    """
    if is_vector(f):
        parts = components(f)
        axes = _each_space_coordinate(parts, over)
        if charts.is_curvilinear(axes):
            return _laplacian_of_vector(parts, space_coordinates(*parts, over=over))
        return sympy.Matrix([laplacian(part, over=axes) for part in parts])
    f = as_expression(f)
    axes = _each_space_coordinate((f,), over)
    shares = charts.laplacian_shares(axes)
    terms = zip(axes, shares, strict=True)
    return sum((f.diff(a, 2) / charts.scale_factor(a) ** 2 + share * f.diff(a) for a, share in terms), sympy.Integer(0))


def _laplacian_of_vector(parts: tuple[sympy.Expr, ...], axes: tuple[sympy.Symbol, ...]) -> sympy.Matrix:
    _check_components(parts, axes, "laplacian")
    rows = []
    for coefficients in _vector_laplacian_coefficients(axes):
        rows.append(
            sum((c * parts[k].diff(*by) if by else c * parts[k] for k, by, c in coefficients), sympy.Integer(0))
        )
    return sympy.Matrix(rows)


@functools.lru_cache(maxsize=64)
def _vector_laplacian_coefficients(
    axes: tuple[sympy.Symbol, ...],
) -> tuple[tuple[tuple[int, tuple[sympy.Symbol, ...], sympy.Expr], ...], ...]:
    """For each component its terms (k, symbols, c), to be read as c times the derivative of component k by symbols.

    grad div - curl curl of stand-ins: what cancels between the two, as all mixed derivatives do, is gone.
    """
    if len(axes) > 3:
        raise ValueError(
            f"the Laplacian of a vector in curvilinear coordinates exists in up to three, not {_names(axes)}."
        )
    stand_ins = [sympy.Function(f"v_{i}")(*axes) for i in range(len(axes))]
    whole = grad(div(stand_ins, over=axes), over=axes)
    if len(axes) > 1:
        turning = curl(stand_ins, over=axes)
        whole -= curl(turning, over=axes)
    orders = [(), *((a,) for a in axes), *itertools.combinations_with_replacement(axes, 2)]
    found = []
    for component in whole:
        expanded = sympy.expand(component)
        terms = []
        for by in orders:
            for k, stand_in in enumerate(stand_ins):
                derivative = stand_in.diff(*by) if by else stand_in
                coefficient = sympy.simplify(expanded.coeff(derivative))
                if coefficient != 0:
                    terms.append((k, by, coefficient))
        found.append(tuple(terms))
    return tuple(found)


def normal_derivative(f: Any, over: Coordinates = None) -> sympy.Expr | sympy.Matrix:
    """Derivative along the outward normal of the region on which it is used: the sum of n_i df/dx_i.

    In curvilinear coordinates the sum of n_i df/dq_i / h_i: 1/r df/dtheta on a side across the angle.
    """
    if is_vector(f):
        parts = components(f)
        axes = _each_space_coordinate(parts, over)
        if charts.is_curvilinear(axes):
            axes = space_coordinates(*parts, over=over)
        return _gradient_of_vector(parts, axes, "normal_derivative") * sympy.Matrix([normal(axis) for axis in axes])
    f = as_expression(f)
    axes = _each_space_coordinate((f,), over)
    return sum((normal(axis) * f.diff(axis) / charts.scale_factor(axis) for axis in axes), sympy.Integer(0))


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
    _check_components(parts, axes, what)
    return axes


def _check_components(parts: tuple[sympy.Expr, ...], axes: tuple[sympy.Symbol, ...], what: str) -> None:
    if len(parts) != len(axes):
        raise ValueError(
            f"{what} of {len(parts)} components ({', '.join(map(str, parts))}) over {len(axes)} space coordinates "
            f"({_names(axes)}): give one component a coordinate, or name the coordinates with over=."
        )


def _names(symbols: Iterable[sympy.Symbol]) -> str:
    return ", ".join(symbol.name for symbol in symbols)
