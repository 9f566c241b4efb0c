"""Chebyshev collocation, by which classical solvers of the built-in problems are made, and the error against a reference."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from jaxtyping import Float, Inexact
from numpy.polynomial import chebyshev

from phijax import problems
from phijax.problems.references._norms import relative_l2

Measured = tuple[float | dict[str, float], str]  # error, or errors by name, and the method


def line(degree: int, low: float, high: float) -> tuple[np.ndarray, Float[np.ndarray, "n n"]]:
    """Chebyshev-Lobatto nodes of an interval and the matrix that differentiates there."""
    nodes = -np.cos(np.pi * np.arange(degree + 1) / degree)
    values = chebyshev.chebvander(nodes, degree)
    slopes = chebyshev.chebvander(nodes, degree - 1) @ chebyshev.chebder(np.eye(degree + 1))
    slope = np.linalg.solve(values.T, slopes.T).T
    return low + (high - low) * (1 + nodes) / 2, 2 / (high - low) * slope


def against(name: str, values: dict[str, np.ndarray], **coordinates: np.ndarray) -> float:
    """Largest of the fields' errors at these points."""
    problem = problems.get(name).problem()
    flat = {key: np.ravel(column) for key, column in coordinates.items()}
    exact = problem.reference({key: field.coordinates for key, field in problem.fields.items()}, flat)
    return max(relative_l2(np.ravel(value), exact[key]) for key, value in values.items())


@dataclass(frozen=True)
class Axis:
    """Nodes of one coordinate, the operator along it, and the nodes where the equation holds; elsewhere u is given."""

    nodes: Float[np.ndarray, " n"]
    operator: Float[np.ndarray, "n n"]
    free: slice


def diffusion(degree: int, low: float, high: float, factor: float = 1.0) -> Axis:
    """factor u_xx between two ends where u is given."""
    nodes, slope = line(degree, low, high)
    return Axis(nodes, factor * slope @ slope, slice(1, -1))


def time(degree: int, end: float) -> Axis:
    """-u_t from a given value at 0."""
    nodes, slope = line(degree, 0.0, end)
    return Axis(nodes, -slope, slice(1, None))


def solve_sum(
    axes: list[Axis], given: Callable[..., np.ndarray], source: Callable[..., np.ndarray], shift: float = 0.0
) -> tuple[list[np.ndarray], np.ndarray]:
    """The sum of the axes' operators and of shift, of u, is the source; by the eigenvectors of each direction (Lynch, Rice and
    Thomas 1964). Gives the mesh and u on it. given: u on the faces, by coordinate; its values inside are not used.
    """
    mesh = np.meshgrid(*(axis.nodes for axis in axes), indexing="ij", sparse=True)
    inside = tuple(axis.free for axis in axes)
    u = np.array(np.broadcast_to(given(*mesh), [axis.nodes.size for axis in axes]), float)
    u[inside] = 0.0
    load = np.broadcast_to(source(*mesh), u.shape)[inside] - shift * u[inside]
    for index, axis in enumerate(axes):
        load = load - _along(axis.operator, u, index)[inside]
    roots, modes = zip(*(np.linalg.eig(axis.operator[axis.free, axis.free]) for axis in axes), strict=True)
    for index, vectors in enumerate(modes):
        load = _along(np.linalg.inv(vectors), load, index)
    load = load / (reduce(np.add.outer, roots) + shift)
    for index, vectors in enumerate(modes):
        load = _along(vectors, load, index)
    u[inside] = load.real
    return np.meshgrid(*(axis.nodes for axis in axes), indexing="ij"), u


def _along(matrix: Inexact[np.ndarray, "m n"], values: Inexact[np.ndarray, "..."], index: int) -> np.ndarray:
    return np.moveaxis(np.tensordot(matrix, values, (1, index)), 0, index)
