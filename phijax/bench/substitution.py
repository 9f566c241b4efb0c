"""A problem's reference in its compiled terms, with no training: what it leaves of every equation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from jax.core import Tracer
from jaxtyping import Float

from phijax._precision import precision_scope
from phijax.evaluation.residuals import TermResidual, fresh_points, residuals_at
from phijax.formulation import Constraint, Problem
from phijax.geometry import Region
from phijax.lowering import ExactLayout, Expressions
from phijax.lowering.derivatives import channels_of
from phijax.sampling import RegionSampler
from phijax.sampling.points import Points
from phijax.series import Channel, Orders
from phijax.symbolic import Field

POINTS, DATA_ROWS = 40, 200  # of each constraint
RULE_POINTS, MOST_OF_RULES = 6, 4  # an axis, and coordinates from which on points are drawn: a rule's grow by powers
SPARE = 4  # times as many drawn, since those near an edge are left out
STEP, LONG_STEP, LONG_FROM = 1e-4, 1e-3, 4  # of a coordinate's range, and from which order of derivatives the longer
MARGIN = 0.01  # of the domain's least width: within it a gridded reference may have lost its smoothness


def is_closed(problem: Problem) -> bool:
    """Whether the reference has an expression for every field."""
    reference = problem.reference
    return reference is not None and all(reference.expression(name) is not None for name in problem.fields)


def reference_residuals(problem: Problem) -> list[TermResidual]:
    """One entry a term, in float64: the reference stands for the fields, and its values for the parameters.

    Derivatives of a closed form are exact; those of other references are differences of sixth order.
    Raises KeyError for a field that the reference does not give, ValueError where one that is no closed form is integrated.
    """
    closed = is_closed(problem)
    layout = _exact(problem) if closed else _gridded(problem)
    found = []
    with precision_scope("float64"):
        for constraint in problem.constraints.values():
            if constraint.terms:
                points = constraint_points(constraint, margin=MARGIN if constraint.on_domain and not closed else 0.0)
                found += residuals_at(layout.scales, constraint, points, partial(_values, layout, points, closed))
    return found


def _exact(problem: Problem) -> ExactLayout:
    assert problem.reference is not None
    return ExactLayout(problem, problem.reference.values)


def _gridded(problem: Problem) -> ExactLayout:
    """Fields by differences in place of expressions."""
    assert problem.reference is not None
    known = {name: problem.reference.parameter(name) for name in problem.parameters}
    layout = ExactLayout(problem, dict.fromkeys(problem.fields, sympy.S.Zero) | known)
    layout.functions = {name: _by_differences(problem, field) for name, field in problem.fields.items()}
    return layout


def constraint_points(constraint: Constraint, count: int = POINTS, margin: float = 0.0) -> Points:
    """Random points over all pieces of the constraint's region, as NumPy arrays; of data evenly chosen rows.

    count: about how many, and no fewer than one a piece. margin: kept from the region's edge, of its least width.
    """
    random, region = np.random.default_rng(7), constraint.region
    if constraint.columns:
        every = fresh_points(constraint, None, None)
        chosen = np.linspace(0, every.size - 1, min(every.size, DATA_ROWS)).astype(int)
        return jax.tree.map(lambda column: column[chosen], every)
    pieces = [piece for _, piece in region.pieces] or [region]
    each = -(-count // len(pieces))
    drawn = [_of_piece(piece, random, each, margin) for piece in pieces]
    across = dict.fromkeys(name for points in drawn for name in points.normals or {})
    alike = [Points(points.coordinates, _filled(points, across)) for points in drawn]
    return jax.tree.map(lambda *columns: np.concatenate(columns), *alike)


def _filled(points: Points, names: Iterable[str]) -> Any:
    """Components of the normal, zero along coordinates that a piece does not bound."""
    return {name: (points.normals or {}).get(name, np.zeros(points.size)) for name in names} or None


def _of_piece(piece: Region, random: np.random.Generator, count: int, margin: float) -> Points:
    if all(len(factor.coordinates) == 1 for factor in piece.factors):
        return _in_box(piece, random, count, margin)
    if len(piece.coordinates) <= MOST_OF_RULES:
        rule = piece.quadrature(RULE_POINTS)
        nodes = Points(rule.coordinates, rule.normals)
    else:
        nodes = RegionSampler(piece, method="uniform").sample(jax.random.key(0), SPARE * count)
    return _inside(piece, jax.tree.map(np.asarray, nodes), random, count, margin)


def _in_box(piece: Region, random: np.random.Generator, count: int, margin: float) -> Points:
    columns: Any = {}
    for symbol in piece.coordinates:
        low, high = piece.bounds[symbol]
        columns[symbol.name] = random.uniform(low + margin * (high - low), high - margin * (high - low), count)
    if not piece.has_normals:
        return Points(columns)
    outward = {symbol.name: float(sign) for symbol, sign in piece.constant_normal.items()}
    normals: Any = {s.name: np.full(count, outward.get(s.name, 0.0)) for s in piece.normal_coordinates}
    return Points(columns, normals)


def _inside(piece: Region, nodes: Points, random: np.random.Generator, count: int, margin: float) -> Points:
    """Some of the nodes, in random order, inside by the margin."""
    chosen = np.arange(nodes.size)
    if margin:
        width = min(high - low for low, high in piece.bounds.values() if high > low)
        chosen = np.flatnonzero(np.asarray(piece.signed_distance(nodes.coordinates)) <= -margin * width)
    chosen = random.permutation(chosen)[:count]
    return jax.tree.map(lambda column: column[chosen], nodes)


def _values(
    layout: ExactLayout, points: Points, compiled: bool, expressions: Mapping[Any, sympy.Expr]
) -> Mapping[Any, np.ndarray]:
    """{label: (n,)}. A reference that takes numbers and no tracers is asked point by point, without compiling."""
    model, lowered = layout.model(), Expressions(layout, expressions, split_complex=False)  # type: ignore[arg-type]
    if compiled:
        rows = jax.jit(jax.vmap(partial(lowered.pointwise, model)))(jax.tree.map(jnp.asarray, points))
        return {label: np.asarray(column) for label, column in rows.items()}
    each = [
        lowered.pointwise(model, jax.tree.map(lambda column, i=i: jnp.asarray(column[i]), points))
        for i in range(points.size)
    ]
    return {label: np.array([row[label] for row in each]) for label in each[0]}


def _by_differences(problem: Problem, field: Field) -> Callable[..., Mapping[Channel, dict[str, Any]]]:
    bounds = problem.region_of(field).bounds
    limits = np.array([bounds[symbol] for symbol in field.coordinates], float)

    def values(nodes: Float[np.ndarray, "n d"]) -> np.ndarray:
        columns = {symbol.name: nodes[:, axis] for axis, symbol in enumerate(field.coordinates)}
        assert problem.reference is not None
        return problem.reference({field.name: field.coordinates}, columns)[field.name]

    def differences(function: Any, at: Any, wanted: Iterable[Orders]) -> dict[Orders, dict[str, Any]]:
        if isinstance(at, Tracer):
            raise ValueError(
                f"{field.name!r} stands under an integral, where its reference, which takes numbers alone, cannot be put in; "
                f"give a closed form."
            )
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
