"""A problem's reference in its compiled terms, with no training: what it leaves of every equation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from jaxtyping import Float

from phijax._precision import precision_scope
from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.residuals import TermResidual, fresh_points, fresh_residuals, residuals_at
from phijax.formulation import Constraint, Problem
from phijax.lowering import ExactLayout, Expressions
from phijax.lowering.derivatives import channels_of
from phijax.sampling.points import Points
from phijax.series import Channel, Orders
from phijax.symbolic import Field

POINTS = 40  # of each constraint
STEP, LONG_STEP, LONG_FROM = 1e-4, 1e-3, 4  # of a coordinate's range, and from which order of derivatives the longer
MARGIN = 0.01  # of the domain's least width: within it a gridded reference may have lost its smoothness


def is_closed(problem: Problem) -> bool:
    """Whether the reference has an expression for every field."""
    reference = problem.reference
    return reference is not None and all(reference.expression(name) is not None for name in problem.fields)


def reference_residuals(problem: Problem) -> list[TermResidual]:
    """One entry a term, in float64: the reference stands for the fields, and its values for the parameters.

    Derivatives of a closed form are exact; those of other references are differences of sixth order.
    Raises KeyError for a field that the reference does not give.
    """
    assert problem.reference is not None
    if is_closed(problem):
        layout = ExactLayout(problem, problem.reference.values)
        return fresh_residuals(Evaluator(layout, layout.model(), "float64"), POINTS)
    known = {name: problem.reference.parameter(name) for name in problem.parameters}
    layout = ExactLayout(problem, dict.fromkeys(problem.fields, sympy.S.Zero) | known)
    layout.functions = {name: _by_differences(problem, field) for name, field in problem.fields.items()}
    found = []
    with precision_scope("float64"):
        for constraint in problem.constraints.values():
            points = _points(problem, constraint)
            found += residuals_at(
                layout, constraint, points, lambda lowered, at=points: _one_by_one(layout, lowered, at)
            )
    return found


def _points(problem: Problem, constraint: Constraint) -> Points:
    """Of the domain those that lie inside by the margin."""
    if not constraint.on_domain:
        return fresh_points(constraint, jax.random.key(0), POINTS)
    drawn = fresh_points(constraint, jax.random.key(0), 4 * POINTS)
    margin = MARGIN * min(high - low for low, high in problem.domain.bounds.values() if high > low)
    inside = np.flatnonzero(np.asarray(problem.domain.signed_distance(drawn.coordinates)) <= -margin)[:POINTS]
    return jax.tree.map(lambda column: column[inside], drawn)


def _one_by_one(layout: ExactLayout, lowered: Expressions, points: Points) -> Mapping[Any, np.ndarray]:
    """Nothing is compiled, since the reference takes numbers and no tracers."""
    model = layout.model()
    rows = [
        lowered.pointwise(model, jax.tree.map(lambda column, i=i: jnp.asarray(column[i]), points))
        for i in range(points.size)
    ]
    return {label: np.array([row[label] for row in rows]) for label in rows[0]}


def _by_differences(problem: Problem, field: Field) -> Callable[..., Mapping[Channel, dict[str, Any]]]:
    bounds = problem.region_of(field).bounds
    limits = np.array([bounds[symbol] for symbol in field.coordinates], float)

    def values(nodes: Float[np.ndarray, "n d"]) -> np.ndarray:
        columns = {symbol.name: nodes[:, axis] for axis, symbol in enumerate(field.coordinates)}
        assert problem.reference is not None
        return problem.reference({field.name: field.coordinates}, columns)[field.name]

    def differences(function: Any, at: Any, wanted: Iterable[Orders]) -> dict[Orders, dict[str, Any]]:
        found = central_differences(values, np.asarray(at), limits, wanted)
        return {orders: {field.name: jnp.asarray(value)} for orders, value in found.items()}

    def at(network: Any, c: Any, wanted: set[Channel], key: Any = None) -> Mapping[Channel, dict[str, Any]]:
        return channels_of(lambda _: None, c, wanted, differences)

    return at


def central_differences(
    values: Callable[[Float[np.ndarray, "n d"]], np.ndarray],
    at: Float[np.ndarray, " d"],
    limits: Float[np.ndarray, "d 2"],
    wanted: Iterable[Orders],
) -> dict[Orders, Any]:
    """{orders: derivative} of sixth order at one point, by one call of `values`; near a limit from its inner side."""
    stencils = {orders: [_stencil(n, at[i], *limits[i]) for i, n in enumerate(orders)] for orders in wanted}
    nodes = {orders: list(itertools.product(*(places for places, _ in axes))) for orders, axes in stencils.items()}
    got = np.split(
        np.asarray(values(np.array(list(itertools.chain(*nodes.values()))))),
        np.cumsum([len(own) for own in nodes.values()])[:-1],
    )
    return {
        orders: np.sum(own * np.array([np.prod(w) for w in itertools.product(*(weights for _, weights in axes))]))
        for own, (orders, axes) in zip(got, stencils.items(), strict=True)
    }


def _stencil(order: int, at: float, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Places and weights along one axis: exact for polynomials of as high a degree as there are places."""
    if order == 0:
        return np.array([at]), np.ones(1)
    step = (high - low) * (STEP if order < LONG_FROM else LONG_STEP)
    half = (order + 1) // 2 + 2
    shift = max(np.ceil((low - at) / step + half), 0.0) + min(np.floor((high - at) / step - half), 0.0)
    offsets = np.arange(-half, half + 1) + shift
    powers = np.vander(offsets, increasing=True).T
    wanted = np.zeros(len(offsets))
    wanted[order] = np.prod(np.arange(1, order + 1))
    return at + step * offsets, np.linalg.solve(powers, wanted) / step**order
