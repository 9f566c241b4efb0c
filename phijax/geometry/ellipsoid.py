"""Signed distance to an ellipse or ellipsoid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Array, Float

from phijax.geometry._numbers import namespace

_HALVINGS = 80


def distance_to_ellipsoid(columns: Sequence[Float[Array, "*n"]], radii: Float[np.ndarray, "d"]) -> Float[Array, "*n"]:
    """Distance to the surface sum (x_i / r_i)^2 = 1, negative inside; columns: x_i, along the axes.

    The nearest point is r_i^2 x_i / (r_i^2 + s) at the root s of a decreasing function, found by bisection
    (Eberly 2013, Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid).
    """
    xp = namespace(columns[0])
    # In units of the least radius. A point on a plane of symmetry is the limit of points beside it.
    least = float(radii.min())
    tiny = float(np.finfo(columns[0].dtype).tiny) ** 0.5
    scaled = [xp.maximum(xp.abs(column) / least, tiny) for column in columns]
    squares = [float((r / least) ** 2) for r in radii]
    norm = xp.sqrt(sum(z * x**2 for z, x in zip(squares, scaled, strict=True)))
    low = xp.sqrt(sum(x**2 for z, x in zip(squares, scaled, strict=True) if z == 1.0)) - 1
    high = xp.maximum(norm - 1, low)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        outside = sum((z**0.5 * x / (middle + z)) ** 2 for z, x in zip(squares, scaled, strict=True)) > 1
        low, high = xp.where(outside, middle, low), xp.where(outside, high, middle)
    root = (low + high) / 2
    nearest = [z * x / (root + z) for z, x in zip(squares, scaled, strict=True)]
    length = xp.sqrt(sum((x - q) ** 2 for x, q in zip(scaled, nearest, strict=True)))
    inside = sum(x**2 / z for z, x in zip(squares, scaled, strict=True)) < 1
    return least * xp.where(inside, -length, length)
