"""Shapes made of other shapes: ellipses, rings and cylinders."""

from __future__ import annotations

from typing import Any

import sympy
from sympy import Symbol

from phijax.geometry._numbers import as_float, exact, symbols
from phijax.geometry.ball import Ball, Sphere
from phijax.geometry.interval import Interval
from phijax.geometry.motions import image
from phijax.geometry.product import product
from phijax.geometry.region import Region


def Ellipsoid(coordinates: tuple[Symbol, ...], center: Any = None, radii: Any = None) -> Region:
    """Points with sum ((x_i - c_i) / r_i)^2 < 1: `Ellipsoid((x, y, z), center=(0, 0, 0), radii=(2, 1, 1))`."""
    return _ellipsoid("Ellipsoid", symbols(coordinates, "Ellipsoid"), center, radii)


def Ellipse(coordinates: tuple[Symbol, Symbol], center: Any = (0, 0), radii: Any = (1, 1)) -> Region:
    """The ellipsoid over two coordinates: `Ellipse((x, y), center=(0, 0), radii=(2, 1))`; turn it by `rotate`."""
    return _ellipsoid("Ellipse", _pair(coordinates, "Ellipse", "Ellipsoid"), center, radii)


def _ellipsoid(shape: str, axes: tuple[Symbol, ...], center: Any, radii: Any) -> Region:
    unit = Ball(axes)
    middle = [sympy.sympify(c) for c in ((0,) * len(axes) if center is None else center)]
    lengths = [sympy.sympify(r) for r in ((1,) * len(axes) if radii is None else radii)]
    for what, numbers in (("center", middle), ("radii", lengths)):
        if len(numbers) != len(axes):
            raise ValueError(f"{shape}: {what} has {len(numbers)} numbers for {len(axes)} coordinates {axes}.")
    for axis, length in zip(axes, lengths, strict=True):
        if not length.free_symbols and as_float(exact(length, f"{shape}: the radius along {axis}")) <= 0:
            raise ValueError(f"{shape}: the radius along {axis} is {length}; it must be positive.")
    return image(unit, sympy.diag(*lengths).tolist(), middle)


def Annulus(coordinates: tuple[Symbol, Symbol], center: Any = (0, 0), inner: Any = 1, outer: Any = 2) -> Region:
    """The ring between two circles, whose sides are "inner" and "outer"; over more coordinates, a shell."""
    axes = symbols(coordinates, "Annulus")
    if not as_float(exact(inner, "Annulus: the inner radius")) < as_float(exact(outer, "Annulus: the outer radius")):
        raise ValueError(f"Annulus: the inner radius is {inner} and the outer {outer}; the inner must be less.")
    return Ball(axes, center, outer).named("outer") - Ball(axes, center, inner).named("inner")


def Cylinder(
    coordinates: tuple[Symbol, Symbol, Symbol], center: Any = (0, 0), radius: Any = 1, lower: Any = 0, upper: Any = 1
) -> Region:
    """A disk over the first two coordinates, from `lower` to `upper` along the third; its sides are "wall", "lower", "upper".

    For an axis along x or y give the coordinates in that order; for another one use `rotate`.
    """
    axes = symbols(coordinates, "Cylinder")
    if len(axes) != 3:
        raise ValueError(f"Cylinder: give three coordinates, not {len(axes)}.")
    along = axes[2]
    whole = product(Ball(axes[:2], center, radius), Interval(along, lower, upper))
    wall = whole.faces()[0][0]
    return whole.named(**{wall: "wall", f"{along.name}-": "lower", f"{along.name}+": "upper"})


def Circle(coordinates: tuple[Symbol, Symbol], center: Any = (0, 0), radius: Any = 1) -> Sphere:
    """The sphere over two coordinates: a curve, with its outward normal."""
    return Sphere(_pair(coordinates, "Circle", "Sphere"), center, radius)


def _pair(coordinates: Any, shape: str, otherwise: str) -> tuple[Symbol, ...]:
    each = symbols(coordinates, shape)
    if len(each) != 2:
        raise ValueError(f"{shape}: give two coordinates, not {each}; in other dimensions use phi.{otherwise}.")
    return each
