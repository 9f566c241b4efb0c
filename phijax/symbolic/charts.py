"""Charts of orthogonal curvilinear coordinates: polar, cylindrical, spherical, each told by its scale factors alone.

A coordinate q_i of a chart has the scale factor h_i = |dx/dq_i|, a plain one 1. Vectors have their components along the
unit vectors e_i of the coordinates. With H the product of all scale factors of the chart,

    grad f = sum of e_i f_i / h_i,    div v = 1/H sum of (v_i H/h_i)_i,    laplacian f = 1/H sum of (f_i H/h_i^2)_i

and de_i/dq_j = e_j h_j,i / h_i for i != j, de_i/dq_i = -sum over k != i of e_k h_i,k / h_k; an index after a comma or on
f is a derivative (Batchelor 1967, An Introduction to Fluid Dynamics, appendix 2). Coordinates of a chart on which an
expression does not depend are symmetries: they are in H and have no derivatives.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import sympy

from phijax.symbolic.coordinates import Coordinate, split_names


class _Kind(NamedTuple):
    """scales: h_i of given coordinates. turns: a whole turn of those that are angles. ends: the greatest value of those
    that begin at 0, on an axis; None for others.
    """

    scales: Callable[..., tuple[sympy.Expr, ...]]
    turns: tuple[sympy.Expr | None, ...]
    ends: tuple[sympy.Expr | None, ...]


_ONE, _TURN = sympy.S.One, 2 * sympy.pi
_KINDS = {
    "polar": _Kind(lambda r, theta: (_ONE, r), (None, _TURN), (sympy.oo, None)),
    "cylindrical": _Kind(lambda r, theta, z: (_ONE, r, _ONE), (None, _TURN, None), (sympy.oo, None, None)),
    "spherical": _Kind(
        lambda r, theta, phi: (_ONE, r, r * sympy.sin(theta)), (None, sympy.pi, _TURN), (sympy.oo, sympy.pi, None)
    ),
}


def polar(names: str) -> tuple[Coordinate, ...]:
    """Radius and angle in the plane: `r, theta = polar("r theta")`; x = r cos(theta), y = r sin(theta).

    Operators on fields of them are those of the chart, vectors have the components (v_r, v_theta), and an integral over
    a region is over r dr dtheta. Regions are products of intervals in r and theta; their points are uniform and their
    measures taken in r and theta, not in the plane. The end r = 0 of a region is no side, since nothing ends there; what
    makes a solution regular on the axis is the user's condition, as in `on(disk.at(r=0), Eq(u.diff(r), 0))`. Equations
    are finite for every r > 0, but large near 0: multiplied by r**2 they train better there.
    Raises ValueError unless there are two names.
    """
    return _chart("polar", names)


def cylindrical(names: str) -> tuple[Coordinate, ...]:
    """Distance from the axis, angle about it, height: `r, theta, z = cylindrical("r theta z")`. See `polar`.

    Fields of r and z alone are axisymmetric. Raises ValueError unless there are three names.
    """
    return _chart("cylindrical", names)


def spherical(names: str) -> tuple[Coordinate, ...]:
    """Radius, angle from the axis, angle about it: `r, theta, phi = spherical("r theta phi")`. See `polar`.

    x = r sin(theta) cos(phi), y = r sin(theta) sin(phi), z = r cos(theta): theta is the polar angle, from 0 to pi, and
    its ends are no sides either. Raises ValueError unless there are three names.
    """
    return _chart("spherical", names)


def _chart(kind: str, names: str) -> tuple[Coordinate, ...]:
    split = split_names(names, "coordinate")
    wanted = len(_KINDS[kind].turns)
    if len(split) != wanted:
        raise ValueError(f"{kind} takes {wanted} names in one string, in its order; got {names!r}.")
    return _all_of((kind, *split))


def _all_of(chart: tuple[str, ...]) -> tuple[Coordinate, ...]:
    return tuple(Coordinate(name, "space", chart) for name in chart[1:])


def charts_of(axes: Iterable[sympy.Symbol]) -> tuple[tuple[str, ...], ...]:
    """The charts that the coordinates are of, each (kind, names in order)."""
    return tuple(dict.fromkeys(chart for axis in axes if (chart := getattr(axis, "chart", None))))


def scale_factor(axis: sympy.Symbol) -> sympy.Expr:
    """h of one coordinate: 1 of a plain one."""
    chart = getattr(axis, "chart", None)
    if not chart:
        return sympy.S.One
    return _KINDS[chart[0]].scales(*_all_of(chart))[chart[1:].index(axis.name)]


def degenerate(axis: sympy.Symbol, value: sympy.Expr) -> bool:
    """Whether all points with this value of the coordinate are the chart's axis, where a scale factor is zero."""
    return any(scale_factor(s).subs(axis, value) == 0 for chart in charts_of([axis]) for s in _all_of(chart))


def allowed(axis: sympy.Symbol) -> tuple[sympy.Expr, sympy.Expr]:
    """Least and greatest value of a coordinate: (0, oo) of a radius, (0, pi) of the angle from an axis."""
    chart = getattr(axis, "chart", None)
    end = _KINDS[chart[0]].ends[chart[1:].index(axis.name)] if chart else None
    return (-sympy.oo, sympy.oo) if end is None else (sympy.S.Zero, end)


def volume_factor(axes: Iterable[sympy.Symbol]) -> sympy.Expr:
    """H, the product of all scale factors of the charts that the axes are of."""
    return sympy.prod(scale_factor(s) for chart in charts_of(axes) for s in _all_of(chart))


def element(varying: Sequence[sympy.Symbol], held: Iterable[sympy.Symbol], used: set[sympy.Symbol]) -> sympy.Expr:
    """Length, area or volume for one unit of each of the `varying` coordinates; 1 of plain ones.

    Coordinates of their charts that are neither varying, nor `held` at a value, nor `used` by the integrand are
    symmetries, and those with a whole turn are integrated over it.
    """
    held = set(held)
    symmetric = [
        (symbol, turn)
        for chart in charts_of([*varying, *held])
        for symbol, turn in zip(_all_of(chart), _KINDS[chart[0]].turns, strict=True)
        if turn is not None and symbol not in {*varying, *held, *used}
    ]
    factor = sympy.prod(scale_factor(symbol) for symbol in [*varying, *(symbol for symbol, _ in symmetric)])
    return sympy.integrate(factor, *((symbol, 0, turn) for symbol, turn in symmetric)) if symmetric else factor


# Coefficients, derived once for each choice of coordinates.


@functools.lru_cache(maxsize=256)
def divergence_shares(axes: tuple[sympy.Symbol, ...]) -> tuple[sympy.Expr, ...]:
    """c_i with div v = sum of v_i,i / h_i + c_i v_i."""
    whole = volume_factor(axes)
    return tuple(sympy.simplify((whole / scale_factor(axis)).diff(axis) / whole) for axis in axes)


@functools.lru_cache(maxsize=256)
def laplacian_shares(axes: tuple[sympy.Symbol, ...]) -> tuple[sympy.Expr, ...]:
    """c_i with laplacian f = sum of f_ii / h_i^2 + c_i f_i."""
    whole = volume_factor(axes)
    return tuple(sympy.simplify((whole / scale_factor(axis) ** 2).diff(axis) / whole) for axis in axes)


def connection(axes: Sequence[sympy.Symbol], parts: Sequence[sympy.Expr], i: int, j: int) -> sympy.Expr:
    """What the turning of the unit vectors adds to h_j times entry (i, j) of the gradient of a vector."""
    h = [scale_factor(axis) for axis in axes]
    if i != j:
        return -parts[j] * h[j].diff(axes[i]) / h[i]
    others = (k for k in range(len(axes)) if k != j)
    return sum((parts[k] * h[j].diff(axes[k]) / h[k] for k in others), sympy.S.Zero)


def is_curvilinear(axes: Iterable[sympy.Symbol]) -> bool:
    """Whether any of the axes is of a chart."""
    return bool(charts_of(axes))
