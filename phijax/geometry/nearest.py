"""Nearest: the exact distance to the nearest of many segments or triangles; on the host with a tree, compiled by brute force."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from phijax.geometry._blocks import in_blocks, is_traced
from phijax.geometry._numbers import namespace

_PAIRS = 2**20  # of points and simplices that are held at a time
_FINEST = 64  # parts that a side of a large simplex is cut into, at most


@dataclass(frozen=True, eq=False)
class Nearest:
    """Distances to m segments or triangles in R^d, given by their corners."""

    corners: Float[np.ndarray, "m k+1 d"]

    def __call__(self, points: Any) -> Any:
        if isinstance(points, np.ndarray):
            return np.sqrt(self._by_tree(points)).astype(points.dtype)
        if not is_traced(points):
            return jnp.asarray(self(np.asarray(points)))
        corners = jnp.asarray(self.corners, points.dtype)
        nearest = lambda rows: jnp.min(_squares(rows[:, None], corners[None]), axis=1)
        return jnp.sqrt(in_blocks(nearest, points, max(_PAIRS // len(corners), 1)))

    def _by_tree(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n"]:
        """Nearest centers first; a point is done when all further centers are too far away to matter."""
        tree, owner, radius = self._tree
        best, left, count = np.full(len(points), np.inf), np.arange(len(points)), 8
        while len(left):
            count = min(count, len(owner))
            undone = []
            for start in range(0, len(left), max(_PAIRS // count, 1)):
                chosen = left[start : start + max(_PAIRS // count, 1)]
                away, found = tree.query(points[chosen], count)
                away, found = away.reshape(len(chosen), count), found.reshape(len(chosen), count)
                squares = _squares(points[chosen][:, None], self.corners[owner[found]])
                best[chosen] = np.min(squares, axis=1)
                undone.append(chosen[np.maximum(away[:, -1] - radius, 0) ** 2 < best[chosen]])
            left = np.concatenate(undone) if count < len(owner) else left[:0]
            count *= 4
        return best

    @functools.cached_property
    def _tree(self) -> tuple[Any, Int[np.ndarray, "c"], float]:
        """Centers of all simplices, large ones in parts, the simplex of each, and how far from them a point can be."""
        from scipy.spatial import KDTree

        radii = _radii(self.corners)
        parts = np.clip(np.ceil(radii / (2 * np.median(radii))), 1, _FINEST).astype(int)
        pieces, owners = [], []
        for count in np.unique(parts):
            cut = _cut(self.corners[parts == count], count)
            pieces.append(cut.reshape(-1, *cut.shape[2:]))
            owners.append(np.repeat(np.flatnonzero(parts == count), cut.shape[1]))
        small = np.concatenate(pieces)
        return KDTree(small.mean(axis=1)), np.concatenate(owners), float(_radii(small).max())


def _radii(corners: Float[np.ndarray, "m k+1 d"]) -> Float[np.ndarray, "m"]:
    return np.linalg.norm(corners - corners.mean(axis=1, keepdims=True), axis=2).max(axis=1)


def _cut(corners: Float[np.ndarray, "m k+1 d"], count: int) -> Float[np.ndarray, "m c k+1 d"]:
    """Each segment in `count` equal ones, each triangle in the square of that."""
    i = np.arange(count)
    if corners.shape[1] == 2:
        weights = np.stack([np.stack([count - i, i], 1), np.stack([count - i - 1, i + 1], 1)], axis=1)
    else:
        a, b = (axis.ravel() for axis in np.meshgrid(i, i, indexing="ij"))
        upward = np.array([[0, 0], [1, 0], [0, 1]]) + np.stack([a, b], 1)[a + b < count][:, None]
        downward = np.array([[1, 1], [1, 0], [0, 1]]) + np.stack([a, b], 1)[a + b < count - 1][:, None]
        steps = np.concatenate([upward, downward])
        weights = np.concatenate([count - steps.sum(axis=2, keepdims=True), steps], axis=2)
    return np.einsum("cik,mkd->mcid", weights / count, corners)


def _squares(points: Any, corners: Any) -> Any:
    """Squared distances from points (..., d) to segments or triangles (..., k + 1, d)."""
    xp = namespace(points)
    p, a, *others = ([x[..., i] for i in range(x.shape[-1])] for x in (points, *_corners_of(corners)))
    if len(others) == 1:
        return _to_segment(xp, _minus(p, a), _minus(others[0], a))
    b, c = others
    w, e, f = _minus(p, a), _minus(b, a), _minus(c, a)
    ee, ef, ff, we, wf = _dot(e, e), _dot(e, f), _dot(f, f), _dot(w, e), _dot(w, f)
    area = ee * ff - ef * ef
    safe = xp.where(area > 0, area, 1)
    s, t = (ff * we - ef * wf) / safe, (ee * wf - ef * we) / safe
    above = [wi - s * ei - t * fi for wi, ei, fi in zip(w, e, f, strict=True)]
    over = (area > 0) & (s >= 0) & (t >= 0) & (s + t <= 1)
    sides = (_to_segment(xp, w, e), _to_segment(xp, w, f), _to_segment(xp, _minus(p, b), _minus(c, b)))
    return xp.where(over, _dot(above, above), xp.minimum(xp.minimum(*sides[:2]), sides[2]))


def _corners_of(corners: Float[Array, "*n k+1 d"]) -> list[Float[Array, "*n d"]]:
    return [corners[..., i, :] for i in range(corners.shape[-2])]


def _to_segment(xp: Any, w: list, e: list) -> Array:
    square = _dot(e, e)
    along = xp.clip(_dot(w, e) / xp.where(square > 0, square, 1), 0, 1)
    rest = [wi - along * ei for wi, ei in zip(w, e, strict=True)]
    return _dot(rest, rest)


def _minus(left: list, right: list) -> list:
    return [a - b for a, b in zip(left, right, strict=True)]


def _dot(left: list, right: list) -> Any:
    return sum(a * b for a, b in zip(left, right, strict=True))
