"""Winding: whether triangles close, where they do not, and all of them turned outward."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from phijax.geometry.columns import Columns


def open_edges(triangles: Int[np.ndarray, "m 3"]) -> Int[np.ndarray, "e 2"]:
    """Edges that do not belong to exactly two triangles."""
    edges, counts = np.unique(np.sort(_edges(triangles), axis=1), axis=0, return_counts=True)
    return edges[counts != 2]


def told_open(vertices: Float[np.ndarray, "n 3"], edges: Int[np.ndarray, "e 2"]) -> str:
    """How many edges are open, and where one is."""
    a, b = (f"({', '.join(f'{c:.6g}' for c in vertices[i])})" for i in edges[0])
    several = f"{len(edges)} edges do" if len(edges) > 1 else "1 edge does"
    return f"{several} not belong to exactly two triangles, as from {a} to {b}"


def outward(vertices: Float[np.ndarray, "n 3"], triangles: Int[np.ndarray, "m 3"]) -> Int[np.ndarray, "m 3"]:
    """Triangles of a closed surface, turned so that their normals lead out of what it bounds.

    Neighbours are made to agree, then each connected shell is turned by its volume, inward where it bounds a hollow.
    Raises ValueError for a surface of one side.
    """
    turned, shell = _agreeing(triangles)
    result = np.where(turned[:, None], triangles[:, ::-1], triangles)
    corners = vertices[result]
    for one in range(shell.max() + 1):
        own = shell == one
        hollow = shell.max() > 0 and bool(Columns.of(corners[~own]).enclose(corners[own][:1].mean(axis=1))[0])
        if (signed_volume(corners[own]) < 0) != hollow:
            result[own] = result[own][:, ::-1]
    return result


def signed_volume(corners: Float[np.ndarray, "m 3 3"]) -> float:
    """By the divergence theorem; positive where the normals lead out."""
    return float(np.sum(np.linalg.det(corners - corners.mean(axis=(0, 1))))) / 6


def _edges(triangles: Int[np.ndarray, "m 3"]) -> Int[np.ndarray, "3m 2"]:
    return np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])


def _agreeing(triangles: Int[np.ndarray, "m 3"]) -> tuple[np.ndarray, Int[np.ndarray, "m"]]:
    """Which triangles to turn so that each shared edge is walked both ways, and the shell of each triangle."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    m, edges = len(triangles), _edges(triangles)
    order = np.lexsort(np.sort(edges, axis=1).T)
    pairs = order.reshape(-1, 2)
    left, right = (pairs % m).T
    same = edges[pairs[:, 0], 0] == edges[pairs[:, 1], 0]  # both walk the edge one way: one of the two is to be turned
    graph = coo_array((np.ones(len(left)), (left, right)), shape=(m, m)).tocsr()
    count, shell = connected_components(graph, directed=False)
    turned = np.zeros(m, bool)
    if same.any():
        disagree = {(a, b): s for a, b, s in zip(left.tolist(), right.tolist(), same.tolist(), strict=True)}
        for one in range(count):
            reached, before = breadth_first_order(graph, int(np.argmax(shell == one)), directed=False)
            for triangle in reached[1:].tolist():
                parent = int(before[triangle])
                key = (triangle, parent) if (triangle, parent) in disagree else (parent, triangle)
                turned[triangle] = turned[parent] ^ disagree[key]
        if np.any(turned[left] ^ turned[right] ^ same):
            raise ValueError("Solid: the surface has one side, as a Klein bottle, so that it bounds nothing.")
    return turned, shell
