"""Quadrature on the unit simplex: Gauss-Jacobi in collapsed coordinates (Stroud 1971)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def simplex(dimension: int, points: int) -> tuple[Float[np.ndarray, "m k"], Float[np.ndarray, "m"]]:
    """points^dimension nodes, exact for polynomials of degree 2 points - 1; the weights sum to one.

    Nodes are factors 1 > R_1 > ... > R_k > 0 of the steps from each vertex to the next.
    """
    ratios = [_jacobi(points, dimension - 1 - i) for i in range(dimension)]
    mesh = np.meshgrid(*(nodes for nodes, _ in ratios), indexing="ij")
    weights = np.meshgrid(*(weights for _, weights in ratios), indexing="ij")
    steps = np.cumprod([axis.ravel() for axis in mesh], axis=0)
    return steps.T, np.prod([axis.ravel() for axis in weights], axis=0)


def _jacobi(points: int, power: int) -> tuple[np.ndarray, np.ndarray]:
    """On (0, 1) with the weight x^power, scaled to sum to one."""
    from scipy.special import roots_jacobi

    nodes, weights = roots_jacobi(points, 0, power) if power else np.polynomial.legendre.leggauss(points)
    return (1 + nodes) / 2, weights / np.sum(weights)
