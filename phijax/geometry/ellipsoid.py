"""Signed distance to an ellipse or ellipsoid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Array, Float

from phijax.geometry._numbers import namespace

_STEPS = 12


def distance_to_ellipsoid(columns: Sequence[Float[Array, "*n"]], radii: Float[np.ndarray, "d"]) -> Float[Array, "*n"]:
    """Distance to the surface sum (x_i / r_i)^2 = 1, negative inside; columns: x_i, along the axes.

    In units of the least radius, the nearest point is r_i^2 x_i / (s + r_i^2 - 1) at the root s > 0 of
    sum (r_i x_i / (s + r_i^2 - 1))^2 = 1 (Eberly 2013, Distance from a point to an ellipse, an ellipsoid, or a
    hyperellipsoid); Newton's steps on the reciprocal of its root rise to it (More & Sorensen 1983).
    """
    xp, least = namespace(columns[0]), float(radii.min())
    # A point on a plane of symmetry is the limit of points beside it.
    tiny = float(np.finfo(columns[0].dtype).tiny) ** 0.3
    scaled = [xp.maximum(abs(column) / least, tiny) for column in columns]
    squares = [float((r / least) ** 2) for r in radii]
    pairs = list(zip(squares, scaled, strict=True))
    s = xp.sqrt(sum(x**2 for z, x in pairs if z == 1.0))
    for _ in range(_STEPS):
        square = sum(z * (x / (s + (z - 1))) ** 2 for z, x in pairs)
        slope = sum(z * (x / (s + (z - 1))) ** 2 / (s + (z - 1)) for z, x in pairs)
        s = s + (xp.sqrt(square) - 1) * square / slope
    length = xp.sqrt(sum((x - z * x / (s + (z - 1))) ** 2 for z, x in pairs))
    return least * xp.where(sum(x**2 / z for z, x in pairs) < 1, -length, length)
