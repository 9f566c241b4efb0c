"""A function of two coordinates, kept as Chebyshev series on a mesh of rectangles."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.polynomial.chebyshev import chebvander

_GRAIN = 2.0**37  # series are kept to this part of one: far under their error, and they pack to a third


def _place(edges: Float[np.ndarray, " k+1"], at: Float[np.ndarray, " n"]) -> tuple[np.ndarray, Float[np.ndarray, " n"]]:
    """The interval that holds each point, and the point's place in it from -1 to 1."""
    index = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, edges.size - 2)
    return index, 2 * (at - edges[index]) / (edges[index + 1] - edges[index]) - 1


@dataclass(frozen=True)
class Pieces:
    """w(x, t); `series[i, j]` belongs to the i-th interval of x and the j-th of t."""

    x_edges: Float[np.ndarray, " i+1"]
    t_edges: Float[np.ndarray, " j+1"]
    series: Float[np.ndarray, "i j p+1 q+1"]

    def __call__(self, x: Float[np.ndarray, " n"], t: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        (row, across), (column, along) = _place(self.x_edges, x), _place(self.t_edges, t)
        cell = row * (self.t_edges.size - 1) + column
        order = np.argsort(cell, kind="stable")
        values = np.empty(x.size)
        starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
        for own in np.split(order, starts[1:]) if x.size else []:
            series = self.series[row[own[0]], column[own[0]]]
            left = chebvander(across[own], series.shape[0] - 1) @ series
            values[own] = np.sum(left * chebvander(along[own], series.shape[1] - 1), axis=1)
        return values


def times(edges: Float[np.ndarray, " j+1"], degree: int) -> Float[np.ndarray, "j degree+1"]:
    """The Chebyshev-Lobatto times of each interval."""
    local = -np.cos(np.pi * np.arange(degree + 1) / degree)
    return edges[:-1, None] + np.diff(edges)[:, None] * (1 + local) / 2


def fit(
    x_edges: Float[np.ndarray, " i+1"],
    t_edges: Float[np.ndarray, " j+1"],
    local_nodes: Float[np.ndarray, " p+1"],
    values: Float[np.ndarray, "i p+1 j q+1"],
) -> Pieces:
    """The pieces through values at `local_nodes` of each interval of x and at `times` of each interval of t."""
    p, q = values.shape[1] - 1, values.shape[3] - 1
    from_x = np.linalg.inv(chebvander(local_nodes, p))
    from_t = np.linalg.inv(chebvander(times(np.array([-1.0, 1.0]), q)[0], q))
    series = np.einsum("ap,ipjq,bq->ijab", from_x, values, from_t, optimize=True)
    return Pieces(x_edges, t_edges, np.round(series * _GRAIN) / _GRAIN)
