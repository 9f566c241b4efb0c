"""Quadrature on the unit ball and sphere: one axis by Gauss-Gegenbauer, the rest by the rule one dimension down."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

NodesAndWeights = tuple[Float[np.ndarray, "d m"], Float[np.ndarray, "m"]]


def ball(dimension: int, points: int) -> NodesAndWeights:
    """points^dimension nodes, exact for polynomials of degree 2 points - 1."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    rule = nodes[None], weights
    for d in range(2, dimension + 1):
        rule = _one_more_axis(*rule, *_gegenbauer(points, d / 2))
    return rule


def sphere(dimension: int, points: int) -> NodesAndWeights:
    """Of R^dimension: 2 points^(dimension - 1) nodes, exact for polynomials of degree 2 points - 1."""
    angles = math.pi * np.arange(2 * points) / points
    rule = np.stack([np.cos(angles), np.sin(angles)]), np.full(2 * points, math.pi / points)
    for d in range(3, dimension + 1):
        rule = _one_more_axis(*rule, *_gegenbauer(points, (d - 2) / 2))
    return rule


def _gegenbauer(points: int, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [-1, 1] for the weight (1 - x^2)^(alpha - 1/2)."""
    from scipy.special import roots_gegenbauer

    nodes, weights = roots_gegenbauer(points, alpha)
    return nodes, weights


def _one_more_axis(
    nodes: np.ndarray, weights: np.ndarray, axis: np.ndarray, axis_weights: np.ndarray
) -> NodesAndWeights:
    """At each value of the new axis, the rule of one dimension less, shrunk to the slice."""
    shrunk = nodes[:, :, None] * np.sqrt(1 - axis**2)
    last = np.broadcast_to(axis, shrunk.shape[1:])
    joined = np.concatenate([shrunk, last[None]]).reshape(len(nodes) + 1, -1)
    return joined, np.outer(weights, axis_weights).ravel()
