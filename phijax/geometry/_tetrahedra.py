"""Marching tetrahedra: the zeros of a function known on a grid of space, as triangles."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from jaxtyping import Float, Int


def marching_tetrahedra(grid: Float[np.ndarray, "n n n 3"], values: Float[np.ndarray, "n n n"]) -> np.ndarray:
    """Triangles of zeros, (k, 3, 3): each cube of the grid in six tetrahedra along one diagonal (Kuhn 1960)."""
    shape = np.array(values.shape)
    origin = np.stack(np.meshgrid(*(np.arange(n - 1) for n in shape), indexing="ij"), -1).reshape(-1, 3)
    points, flat = grid.reshape(-1, 3), values.ravel()
    found = []
    for order in itertools.permutations(range(3)):
        steps = np.cumsum(np.eye(3, dtype=int)[list(order)], axis=0)
        corners = np.stack([origin, *(origin + step for step in steps)], 1)
        index: Any = np.ravel_multi_index(tuple(np.moveaxis(corners, -1, 0)), values.shape)
        inside = flat[index] < 0
        usable = np.all(np.isfinite(flat[index]), axis=1) & inside.any(1) & ~inside.all(1)
        index, inside = index[usable], inside[usable]
        ranked = np.take_along_axis(index, np.argsort(~inside, axis=1, kind="stable"), axis=1)  # those inside first
        for count, edges in _EDGES.items():
            chosen = ranked[inside.sum(1) == count]
            for triangle in edges:
                found.append(np.stack([_zero(points, flat, chosen[:, i], chosen[:, j]) for i, j in triangle], 1))
    return np.concatenate(found)


# By the number of corners inside, those first: the triangles, each corner on the edge between two of the tetrahedron's.
_EDGES = {
    1: (((0, 1), (0, 2), (0, 3)),),
    2: (((0, 2), (0, 3), (1, 3)), ((0, 2), (1, 3), (1, 2))),
    3: (((0, 3), (1, 3), (2, 3)),),
}


def _zero(points: np.ndarray, values: np.ndarray, i: Int[np.ndarray, "k"], j: Int[np.ndarray, "k"]) -> np.ndarray:
    share = (values[i] / (values[i] - values[j]))[:, None]
    return points[i] + share * (points[j] - points[i])
