"""Standard errors of unknown constants, and whether the equations and data determine them at all.

Least squares in the constants after the networks have taken up what they can (the Schur complement of J^T J), with the
sandwich estimate of White (1980), since measured and modelled residuals are of different size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from phijax._precision import precision_scope
from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.residuals import fresh_points
from phijax.lowering import constraint_expressions, value_of
from phijax.optimizers import LeastSquaresSystem

MOST_PARAMETERS = 3000  # above, the Jacobian costs more than the answer is worth
ROWS_PER_PARAMETER = 4
RIDGE = 1e-10  # of the mean diagonal: directions that would take larger steps than any optimizer are not free
# Share of the constants' own that is left when the networks have taken up what they can. Where a constant is not determined
# 4e-5 was measured with a network of 2 layers of 20 and 2e-4 with one of 10, which follows less well; 2e-3 and more where
# it is. A single layer of 6 follows so badly (4e-2) that nothing can be told by it.
LEAST_INFORMATION = 5e-4
NEGLIGIBLE = math.sqrt(LEAST_INFORMATION)  # part of a move of constants


class Estimate(NamedTuple):
    """errors: standard errors of variables, infinite where they are not determined.

    free: (k, last), moves of the variables that leave every residual as it is, in as few of them as will do.
    """

    errors: Float[np.ndarray, " last"]
    free: Float[np.ndarray, "k last"]


class Uncertainty(NamedTuple):
    """errors: {parameter: standard error}, infinite where it is not determined, None where that is not known.

    moves: {parameter: change} of those that together leave every residual as it is once the networks follow.
    """

    errors: dict[str, float | None]
    moves: tuple[dict[str, float], ...] = ()


def uncertainty(evaluator: Evaluator, weights: Mapping[str, float]) -> Uncertainty:
    """What the equations and data leave open of the unknown constants.

    weights: of the loss terms, one where none is given.
    """
    names = sorted(evaluator.problem.parameters)
    with precision_scope(evaluator.precision):
        params, others = eqx.partition(evaluator.model, eqx.is_inexact_array)
        carried, static = eqx.partition(others, eqx.is_array)
        size = sum(leaf.size for leaf in jax.tree.leaves(params))
        if not names or size > MOST_PARAMETERS:
            return Uncertainty(dict.fromkeys(names))
        made = evaluator.kept(
            "standard errors", lambda: LeastSquaresSystem(_blocks(evaluator, static), params, carried)
        )
        system, theta = made.carrying(carried), ravel_pytree(params)[0]
        batch = _batch(evaluator, size)
        known = {term: weights.get(term, 1.0) for term in _terms(evaluator, batch)}
        residual, jacobian = system.jacobian(theta, batch, known)
        found = estimate(np.asarray(jacobian, np.float64), np.asarray(residual, np.float64), len(names))
        if found is None:
            return Uncertainty(dict.fromkeys(names))
        slopes = np.array([_slope(evaluator, name) for name in names])
    moves = [
        {name: float(change) for name, change in zip(names, move, strict=True) if change}
        for move in found.free * slopes
    ]
    return Uncertainty(dict(zip(names, (found.errors * np.abs(slopes)).tolist(), strict=True)), tuple(moves))


def estimate(jacobian: Float[np.ndarray, "n p"], residual: Float[np.ndarray, " n"], last: int) -> Estimate | None:
    """What is left open of the `last` variables; None where there are no more rows than variables."""
    from scipy.linalg import cho_factor, cho_solve

    rows, size = jacobian.shape
    if rows <= size:
        return None
    networks, constants = jacobian[:, : size - last], jacobian[:, size - last :]
    left = constants
    if networks.shape[1]:
        gram = networks.T @ networks
        gram[np.diag_indices_from(gram)] += RIDGE * np.trace(gram) / len(gram)
        left = constants - networks @ cho_solve(cho_factor(gram), networks.T @ constants)
    own = np.sqrt(np.sum(constants**2, axis=0))
    own[own == 0] = 1.0
    information, directions = np.linalg.eigh((left / own).T @ (left / own))
    seen = information > LEAST_INFORMATION
    inverse = (directions[:, seen] / information[seen]) @ directions[:, seen].T
    influence = inverse @ (left / own).T
    errors = np.sqrt(np.sum((influence * residual) ** 2, axis=1) * rows / (rows - size)) / own
    undetermined = np.any(np.abs(directions[:, ~seen]) > NEGLIGIBLE, axis=1)
    return Estimate(np.where(undetermined, np.inf, errors), _sparse(directions[:, ~seen].T) / own)


def _sparse(basis: Float[np.ndarray, "k n"]) -> Float[np.ndarray, "k n"]:
    """The same space by rows of as few entries as elimination leaves: each has one that the others lack."""
    basis = basis.copy()
    for row in range(len(basis)):
        pivot = int(np.argmax(np.abs(basis[row])))
        basis[row] /= basis[row, pivot]
        others = np.arange(len(basis)) != row
        basis[others] -= np.outer(basis[others, pivot], basis[row])
    return np.where(np.abs(basis) > NEGLIGIBLE * np.max(np.abs(basis), axis=1, initial=0, keepdims=True), basis, 0.0)


def _blocks(evaluator: Evaluator, static: Any) -> dict[str, Any]:
    blocks = {}
    for name, constraint in evaluator.problem.trained.items():
        pointwise = constraint_expressions(evaluator.layout, constraint).pointwise
        blocks[name] = lambda params, point, pointwise=pointwise: pointwise(eqx.combine(params, static), point)
    return blocks


def _batch(evaluator: Evaluator, size: int) -> dict[str, Any]:
    """Fresh points, so many that the rows outnumber the variables."""
    trained = evaluator.problem.trained
    inside = [c for c in trained.values() if c.region.dimension == len(c.region.coordinates)] or list(trained.values())
    count = math.ceil(ROWS_PER_PARAMETER * size / sum(len(c.terms) for c in inside))
    batch = {}
    for position, (name, constraint) in enumerate(trained.items()):
        n = count if constraint in inside else max(count // 8, 64)
        points = fresh_points(constraint, jax.random.key(position), n)
        batch[name] = jax.tree.map(jnp.asarray, points)
    return batch


def _terms(evaluator: Evaluator, batch: Mapping[str, Any]) -> list[str]:
    """Names of the loss terms, the parts of complex ones apart."""
    labels = {name: constraint_expressions(evaluator.layout, evaluator.problem.trained[name]).labels for name in batch}
    return [f"{name}/{label}" if label else name for name, each in labels.items() for label in each]


def _slope(evaluator: Evaluator, name: str) -> float:
    """How fast the parameter moves with the variable that stands for it."""
    parameter, raw = evaluator.problem.parameters[name], evaluator.model.parameters[name]
    return float(jax.grad(lambda variable: value_of(parameter, variable))(raw))
