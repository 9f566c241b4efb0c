"""Legendre series on [0, 1]: values, derivatives, and the series that are clamped at both ends."""

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre


def basis(x: Float[np.ndarray, " n"], degree: int, order: int = 0) -> Float[np.ndarray, "n degree+1"]:
    """The derivative of an order of P_k(2 x - 1) for k = 0 .. degree, at x."""
    series = legendre.legder(np.eye(degree + 1), order) if order else np.eye(degree + 1)
    return 2.0**order * legendre.legvander(2 * x - 1, series.shape[0] - 1) @ series


def clamped(degree: int) -> Float[np.ndarray, "degree+1 degree-3"]:
    """Series whose value and slope vanish at both ends, orthogonal in their second derivatives (Shen 1994)."""
    k = np.arange(degree - 3)
    columns = np.zeros((degree + 1, degree - 3))
    columns[k, k] = 1.0
    columns[k + 2, k] = -2 * (2 * k + 5) / (2 * k + 7)
    columns[k + 4, k] = (2 * k + 3) / (2 * k + 7)
    return columns / np.sqrt(2 * (2 * k + 3) ** 2 * (2 * k + 5))


def ends(degree: int) -> Float[np.ndarray, "4 degree+1"]:
    """Takes a series to its values at 0 and 1 and its slopes there."""
    both = np.array([0.0, 1.0])
    return np.concatenate([basis(both, degree), basis(both, degree, 1)])


def gauss(count: int) -> tuple[Float[np.ndarray, " count"], Float[np.ndarray, " count"]]:
    """Nodes and weights of the Gauss rule on [0, 1]."""
    nodes, weights = legendre.leggauss(count)
    return (1 + nodes) / 2, weights / 2
