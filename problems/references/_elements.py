"""Spectral elements on an interval: Gauss-Lobatto nodes, diagonal mass, stiffness with natural (zero-slope) ends."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre
from scipy.sparse import csr_array
from scipy.special import roots_jacobi


def lobatto(
    degree: int,
) -> tuple[Float[np.ndarray, " degree+1"], Float[np.ndarray, " degree+1"], Float[np.ndarray, "degree+1 degree+1"]]:
    """Nodes on [-1, 1], weights and differentiation matrix of the Legendre-Gauss-Lobatto rule."""
    nodes = np.concatenate([[-1.0], roots_jacobi(degree - 1, 1, 1)[0], [1.0]])
    top = legendre.legval(nodes, np.eye(degree + 1)[degree])
    weights = 2 / (degree * (degree + 1) * top**2)
    gaps = nodes[:, None] - nodes[None, :] + np.eye(degree + 1)
    slope = top[:, None] / top[None, :] / gaps
    np.fill_diagonal(slope, 0.0)
    np.fill_diagonal(slope, -slope.sum(axis=1))
    return nodes, weights, slope


@dataclass(frozen=True)
class Elements:
    """The nodes of all elements from left to right, shared ends once."""

    edges: Float[np.ndarray, " elements+1"]
    degree: int
    nodes: Float[np.ndarray, " n"]
    mass: Float[np.ndarray, " n"]
    stiffness: csr_array

    def split(self, values: Float[np.ndarray, "n *rest"]) -> Float[np.ndarray, "elements degree+1 *rest"]:
        """Nodal values, element by element."""
        starts = np.arange(self.edges.size - 1) * self.degree
        return values[starts[:, None] + np.arange(self.degree + 1)]


def elements(edges: Float[np.ndarray, " elements+1"], degree: int) -> Elements:
    """Elements of one degree between the given edges."""
    local_nodes, weights, slope = lobatto(degree)
    local_stiffness = slope.T @ (weights[:, None] * slope)
    count = (edges.size - 1) * degree + 1
    nodes, mass, stiffness = np.zeros(count), np.zeros(count), np.zeros((count, count))
    for index, half in enumerate(np.diff(edges) / 2):
        own = slice(index * degree, (index + 1) * degree + 1)
        nodes[own] = edges[index] + half * (local_nodes + 1)
        mass[own] += half * weights
        stiffness[own, own] += local_stiffness / half
    return Elements(edges, degree, nodes, mass, csr_array(stiffness))
