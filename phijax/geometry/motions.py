"""Motions: affine images of regions, said as plainly as they can be; translation, rotation, scaling, reflection, repetition.

Amounts may be expressions of time and of parameters: the shape then moves with them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy
from sympy import Expr, Symbol

from phijax.geometry._numbers import as_float, is_space, nearest
from phijax.geometry.arcs import by_arc_length
from phijax.geometry.ball import Ball, Sphere
from phijax.geometry.boundary import Boundary
from phijax.geometry.cloud import PointCloud
from phijax.geometry.combination import Combination
from phijax.geometry.fixed import Fixed
from phijax.geometry.image import Image
from phijax.geometry.implicit import Implicit
from phijax.geometry.interval import Interval
from phijax.geometry.named import Named
from phijax.geometry.placement import Placement
from phijax.geometry.product import product
from phijax.geometry.region import Region
from phijax.geometry.selection import Selection
from phijax.geometry.thinned import Thinned
from phijax.geometry.trimmed import Trimmed
from phijax.geometry.unresolved import Unresolved
from phijax.symbolic import kind_of

Matrix = Sequence[Sequence[Expr]]


def image(region: Region, matrix: Matrix, shift: Sequence[Expr]) -> Region:
    """matrix @ x + shift for the points x of a region, coordinate by coordinate in the region's order."""
    if isinstance(region, Unresolved):
        return region
    again = lambda part: image(part, matrix, shift)
    if isinstance(region, Named):
        return Named(again(region.base), region.labels)
    if isinstance(region, Boundary):
        return Boundary(tuple((name, again(piece)) for name, piece in region.pieces))
    if isinstance(region, Combination | Trimmed):
        return region.each(again)
    if isinstance(region, Selection) and not isinstance(region, Implicit):
        return Selection(again(region.base), region.where.subs(_back(region, matrix, shift), simultaneous=True))
    if isinstance(region, Image):
        whole = sympy.Matrix(matrix) * sympy.Matrix(region.matrix)
        moved = sympy.Matrix(matrix) * sympy.Matrix(region.shift) + sympy.Matrix(shift)
        return image(region.base, whole.tolist(), list(moved))
    if isinstance(region, Thinned):
        return again(region.base)
    return _plain(region, matrix, shift) or _general(region, matrix, shift)


def _back(region: Region, matrix: Matrix, shift: Sequence[Expr]) -> dict[Symbol, Expr]:
    """Each coordinate of a point before the map, by those after it."""
    offsets = sympy.Matrix(region.coordinates) - sympy.Matrix(shift)
    return dict(zip(region.coordinates, sympy.Matrix(matrix).inv() * offsets, strict=True))


def _plain(region: Region, matrix: Matrix, shift: Sequence[Expr]) -> Region | None:
    """The image as a region of the same kind, where it is one."""
    if len(region.factors) > 1:
        return _by_factors(region, matrix, shift)
    still = not any(sympy.sympify(entry).free_symbols for entry in [*itertools.chain(*matrix), *shift])
    if isinstance(region, Fixed) and not (moved := matrix[0][0] * region.value + shift[0]).free_symbols:
        sign = 0 if not region.sign else region.sign * (1 if matrix[0][0].free_symbols or matrix[0][0] > 0 else -1)
        return Fixed(region.coordinate, moved, sign)
    if not still:
        return None
    if isinstance(region, Interval):
        ends = sorted((matrix[0][0] * end + shift[0] for end in (region.lower, region.upper)), key=as_float)
        return Interval(region.coordinate, *ends, periodic=region.periodic_ends)
    if isinstance(region, Ball | Sphere):
        size = Image(region, tuple(map(tuple, matrix)), tuple(shift)).similarity
        if size is not None:
            center = sympy.Matrix(matrix) * sympy.Matrix(region.center) + sympy.Matrix(shift)
            return type(region)(region.coordinates, tuple(center), size * region.radius)
    if isinstance(region, PointCloud):
        return _moved_cloud(region, Image(region, tuple(map(tuple, matrix)), tuple(shift)))
    return None


def _by_factors(region: Region, matrix: Matrix, shift: Sequence[Expr]) -> Region | None:
    """The product of images of the factors, where the map does not mix them."""
    place = {symbol: i for i, symbol in enumerate(region.coordinates)}
    rows = [[place[symbol] for symbol in factor.coordinates] for factor in region.factors]
    mixed = any(matrix[i][j] != 0 for own in rows for i in own for j in range(len(place)) if j not in own)
    if mixed:
        return None
    part = lambda own: ([[matrix[i][j] for j in own] for i in own], [shift[i] for i in own])
    return product(*(image(factor, *part(own)) for factor, own in zip(region.factors, rows, strict=True)))


def _moved_cloud(cloud: PointCloud, moved: Image) -> PointCloud:
    normals = cloud.normals and {symbol.name: column for symbol, column in cloud.normals.items()}
    if normals is not None:
        zero = np.zeros(len(cloud))
        normals = {name: normals.get(name, zero) for name in cloud.names}
    placed = moved.carried(Placement({s.name: column for s, column in cloud.columns.items()}, normals), {})
    by_symbol: Any = lambda table: table and {symbol: np.asarray(table[symbol.name]) for symbol in cloud.coordinates}
    return PointCloud(by_symbol(placed.coordinates), by_symbol(placed.normals))


def _general(region: Region, matrix: Matrix, shift: Sequence[Expr]) -> Region:
    if region.periodic:
        listed = ", ".join(symbol.name for symbol in region.periodic)
        raise ValueError(f"{region} is periodic in {listed}, so it can be translated and scaled along that, no more.")
    moved = Image(region, tuple(tuple(map(sympy.sympify, row)) for row in matrix), tuple(map(sympy.sympify, shift)))
    if moved.depends or moved.uniform:
        return moved
    if moved.cube_dimension == 1:
        return by_arc_length(moved, lambda placement: region.measure * moved.stretch(placement, {}))
    return Thinned(moved)


def _affine(region: Region, matrix: Matrix, shift: Sequence[Any], symbols: Sequence[Symbol]) -> Region:
    """An image that moves some of the coordinates; the factors without them stay as they are."""
    if isinstance(region, Named):
        return Named(_affine(region.base, matrix, shift, symbols), region.labels)
    touched = set(symbols)
    own = [factor for factor in region.factors if touched & set(factor.coordinates)]
    moving: dict[Symbol, int] = {symbol: i for i, symbol in enumerate(symbols)}

    def moved(factor: Region) -> Region:
        axes = factor.coordinates
        entry = lambda a, b: matrix[moving[a]][moving[b]] if a in moving and b in moving else sympy.Integer(a == b)
        rows = [[entry(a, b) for b in axes] for a in axes]
        return image(factor, rows, [shift[moving[a]] if a in moving else sympy.S.Zero for a in axes])

    mixes = any(matrix[i][j] != 0 for i in range(len(symbols)) for j in range(len(symbols)) if i != j)
    if len(own) <= 1 or not mixes:
        return product(*(moved(factor) if factor in own else factor for factor in region.factors))
    others = [factor for factor in region.factors if factor not in own]
    return product(moved(product(*own)), *others)


def translate(region: Region, amounts: Mapping[str, Any]) -> Region:
    symbols, values = _along(region, amounts, "translate")
    return _affine(region, sympy.eye(len(symbols)).tolist(), values, symbols)


def scale(region: Region, factor: Any, about: Any, factors: Mapping[str, Any]) -> Region:
    if (factor is None) == (not factors):
        raise ValueError(
            "scale: give one factor for all of space, as in scale(2), or factors by name, as in scale(x=2)."
        )
    amounts = factors or {symbol.name: factor for symbol in _space(region)}
    symbols, values = _along(region, amounts, "scale")
    for symbol, value in zip(symbols, values, strict=True):
        if not value.free_symbols and as_float(value) <= 0:
            raise ValueError(
                f"scale: the factor along {symbol} is {value}; it must be positive. Use mirror to reflect."
            )
    center = _point(symbols, about)
    return _affine(
        region, sympy.diag(*values).tolist(), [c - v * c for c, v in zip(center, values, strict=True)], symbols
    )


def rotate(region: Region, angle: Any, axis: Any, about: Any) -> Region:
    symbols = _space(region)
    if len(symbols) not in (2, 3):
        raise ValueError(f"rotate: {region} has {len(symbols)} space coordinates; two or three can be turned.")
    (angle,) = _amounts(region, [angle], "rotate: the angle")
    turn = _in_plane(angle) if len(symbols) == 2 else _about_axis(angle, _axis(axis, symbols))
    center = sympy.Matrix(_point(symbols, about))
    return _affine(region, turn.tolist(), list(center - turn * center), symbols)


def mirror(region: Region, planes: Mapping[str, Any]) -> Region:
    symbols, values = _along(region, planes, "mirror")
    return _affine(region, (-sympy.eye(len(symbols))).tolist(), [2 * value for value in values], symbols)


def repeat(region: Region, count: int, steps: Mapping[str, Any]) -> Region:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"repeat: {count!r} must be a whole number of at least 1.")
    _along(region, steps, "repeat")
    copies = [translate(region, {name: k * sympy.sympify(step) for name, step in steps.items()}) for k in range(count)]
    return functools.reduce(lambda one, other: one | other, copies)


def _in_plane(angle: Expr) -> Any:
    return sympy.Matrix([[sympy.cos(angle), -sympy.sin(angle)], [sympy.sin(angle), sympy.cos(angle)]])


def _about_axis(angle: Expr, axis: Any) -> Any:
    """Rodrigues' formula, for an axis of unit length."""
    x, y, z = axis
    cross = sympy.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return sympy.eye(3) + sympy.sin(angle) * cross + (1 - sympy.cos(angle)) * cross**2


def _axis(axis: Any, symbols: tuple[Symbol, ...]) -> Any:
    names = [symbol.name for symbol in symbols]
    name = getattr(axis, "name", axis)
    if isinstance(name, str) and name in names:
        return sympy.Matrix([int(name == own) for own in names])
    if isinstance(axis, Iterable) and not isinstance(axis, str):
        vector = sympy.Matrix([sympy.sympify(entry) for entry in axis])
        if len(vector) == 3 and vector.norm() != 0:
            return vector / vector.norm()
    raise ValueError(f"rotate: axis={axis!r} must be one of {', '.join(names)}, or a vector of three numbers.")


def _space(region: Region) -> tuple[Symbol, ...]:
    return tuple(symbol for symbol in region.coordinates if is_space(symbol))


def _point(symbols: Sequence[Symbol], about: Any) -> list[Expr]:
    if about is None:
        return [sympy.S.Zero] * len(symbols)
    values = [about.get(s, about.get(s.name, 0)) for s in symbols] if isinstance(about, Mapping) else list(about)
    if len(values) != len(symbols):
        raise ValueError(f"about={about!r}: give one number for each of {', '.join(s.name for s in symbols)}.")
    return [sympy.sympify(value) for value in values]


def _along(region: Region, amounts: Mapping[str, Any], what: str) -> tuple[tuple[Symbol, ...], list[Expr]]:
    """The space coordinates that are named, and the amount along each."""
    by_name = {symbol.name: symbol for symbol in _space(region)}
    if not amounts:
        raise ValueError(f"{what}: say along which coordinate, as in {what}({next(iter(by_name), 'x')}=1).")
    for name in amounts:
        if name not in by_name:
            raise ValueError(f"{what}: {region} has no space coordinate {name!r}; {nearest(name, by_name)}.")
    return tuple(by_name[name] for name in amounts), _amounts(region, amounts.values(), f"{what}: an amount")


def _amounts(region: Region, given: Iterable[Any], what: str) -> list[Expr]:
    """Real numbers, or expressions of time and parameters."""
    found = []
    for value in given:
        amount = sympy.sympify(value.item() if getattr(value, "ndim", None) == 0 else value)
        check_mover(amount, region.coordinates, f"{what} of {region}")
        if not amount.free_symbols and amount.is_real is False:
            raise ValueError(f"{what} of {region} is {amount}: it must be a real number.")
        found.append(amount)
    return found


def check_mover(amount: Any, own: Iterable[Symbol], what: str) -> None:
    """ValueError for an expression that depends on more than time and parameters."""
    for symbol in sorted(amount.free_symbols, key=str):
        if symbol in own or kind_of(symbol) not in ("time", "parameter"):
            raise ValueError(
                f"{what} is {amount}, which depends on {symbol}; shapes move with time and with coordinates of kind "
                f"'parameter'. For a shape with curved or slanted sides use phi.where, phi.Polygon or phi.Curve."
            )


def moving(region: Region, matrix: Matrix, shift: Sequence[Any], what: str) -> Region:
    """`image` by given expressions, of which those that are no numbers are checked."""
    entries: list[Any] = [*itertools.chain(*matrix), *shift]
    for entry in entries:
        check_mover(entry, region.coordinates, what)
    return image(region, matrix, shift)
