"""Congruent pieces of a boundary: the motion that takes the one onto the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from jaxtyping import Float
from sympy import Symbol

from phijax.geometry._numbers import is_space
from phijax.geometry.region import Region

_NODES = 12  # an axis
_TOLERANCE = 1e-6  # of the extent


class Motion(dict[Symbol, Any]):
    """Where each space coordinate goes, as an expression; turn: how directions go, (d, d)."""

    turn: Float[np.ndarray, "d d"]


def motion(one: Region, other: Region) -> Motion:
    """The motion of `one` onto `other` that takes its outward normals to inward ones: a shift, or the least turn and a shift.

    ValueError where there is none.
    """
    axes = [symbol for symbol in one.coordinates if is_space(symbol)]
    first, second = (_middle(region, axes) for region in (one, other))
    turn = _least_turn(first[1], -second[1])
    shift = second[0] - turn @ first[0]
    rule = one.quadrature(_NODES)
    columns: Any = dict(rule.coordinates)
    moved = turn @ np.stack([columns[s.name] for s in axes]) + shift[:, None]
    columns |= {symbol.name: row for symbol, row in zip(axes, moved, strict=True)}
    size = max(high - low for symbol, (low, high) in one.bounds.items() if symbol in axes)
    off = ~np.asarray(other.inside(columns, _TOLERANCE * max(size, 1e-300)))
    if off.any():
        place = ", ".join(f"{s.name} = {columns[s.name][np.argmax(off)]:.4g}" for s in axes)
        raise ValueError(f"{one} moved onto {other} has a point at {place}, which is not there: they are not congruent")
    found = Motion()
    found.turn = turn
    for i, symbol in enumerate(axes):
        parts = [_number(turn[i, j]) * axes[j] for j in range(len(axes))]
        found[symbol] = sum(parts, _number(shift[i]))
    return found


def _middle(region: Region, axes: list[Symbol]) -> tuple[np.ndarray, np.ndarray]:
    """Mean place and direction of the mean normal."""
    if not region.has_normals:
        raise ValueError(f"{region} is no piece of a boundary, so it has no normal")
    rule = region.quadrature(_NODES)
    weights, normals = rule.weights / rule.weights.sum(), rule.normals or {}
    mean = lambda table: np.array([float(np.sum(weights * table[s.name])) for s in axes])
    normal = mean(normals)
    if np.linalg.norm(normal) < 1e-6:
        raise ValueError(f"{region} goes all the way round, so it is no one side")
    return mean(rule.coordinates), normal / np.linalg.norm(normal)


def _least_turn(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation in the plane of two unit vectors that takes the first to the second."""
    cosine = float(a @ b)
    if cosine > 1 - 1e-12:
        return np.eye(len(a))
    side = b - cosine * a
    if np.linalg.norm(side) < 1e-9:  # half a turn: about any axis across
        side = np.linalg.svd(a[None])[2][-1] if len(a) > 1 else np.zeros(1)
        return np.eye(len(a)) - 2 * np.outer(a, a) - 2 * np.outer(side, side) if len(a) > 1 else -np.eye(1)
    side /= np.linalg.norm(side)
    sine = float(b @ side)
    plane = np.outer(a, a) + np.outer(side, side)
    return np.eye(len(a)) + (cosine - 1) * plane + sine * (np.outer(side, a) - np.outer(a, side))


def _number(value: float) -> Any:
    """A short number where there is one within rounding."""
    near = round(value)
    return sympy.Integer(near) if abs(value - near) < 1e-12 else sympy.Float(value, 17)
