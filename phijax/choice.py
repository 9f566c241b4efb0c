"""Choice: what `solve` settles where its caller did not, by rule from the problem, and the sentences that say why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import equinox as eqx
import jax

from phijax._numbers import is_whole
from phijax._precision import check_precision, precision_scope
from phijax.balancing import LossBalancer, Static
from phijax.formulation import Constraint, Problem, value_scale
from phijax.lowering import Layout
from phijax.lowering.normalize import normalize
from phijax.lowering.residual import is_complex
from phijax.networks import MLP
from phijax.optimizers import FIRST_ORDER_STEPS, GaussNewton, LeastSquaresOptimizer, optimizer_from_config, warmed_adam
from phijax.sampling import Marching, RegionSampler, ResidualAdaptive
from phijax.training.compiling import check_network, check_problem
from phijax.training.stages import Plan
from phijax.training.trainer import check_balancer

# A Gauss-Newton step costs N P^2 + P^3 / 3: above this many parameters first-order steps are the better buy.
MOST_LEAST_SQUARES_PARAMETERS = 2500
# Residuals a parameter: near-undamped steps fit what few points they are shown.
ROWS_PER_PARAMETER = 3
# New points every so many least-squares steps: fewer overfit less, and each change costs a look at a larger pool.
REFRESH = 3
# Where points spread over an interval the loss rises whenever they do: that is no sign of an end.
MARCHING = GaussNewton(refresh=2, patience=1000, idle=60)
SOFT_WEIGHT = 100.0
LEAST_SQUARES_STEPS = 400


@dataclass(frozen=True)
class Choice:
    """Everything that decides a run, apart from the problem and the seed.

    scales: sizes of the networks' outputs by field. adaptive: constraints whose points follow the residual.
    marching: where the points of a constraint start from and then spread over its interval. reasons: one sentence a
    decision.
    """

    precision: str
    network: Any
    points: Mapping[str, int]
    optimizer: Any
    balancer: LossBalancer
    max_steps: int
    scales: Mapping[str, float] | None = None
    adaptive: tuple[str, ...] = ()
    marching: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[str, ...] = field(default=())

    def because(self, reason: str, **settled: Any) -> Choice:
        """This choice with more settled, and why."""
        return replace(self, **settled, reasons=(*self.reasons, reason))


def samplers_of(problem: Problem, choice: Choice) -> dict[str, Any]:
    """The samplers of the constraints whose points follow the residual, or an evolution."""
    period = max(getattr(choice.optimizer, "refresh", 0), 1) if _is_least_squares(choice.optimizer) else 100

    def base(name: str) -> RegionSampler:
        return RegionSampler(problem.constraints[name].region)

    following: dict[str, Any] = {name: ResidualAdaptive(base(name), period=period) for name in choice.adaptive}
    for name, origin in choice.marching.items():
        region = problem.constraints[name].region
        (coordinate,) = region.coordinates
        low, high = region.bounds[coordinate]
        following[name] = Marching(base(name), coordinate.name, origin, high - low, period=period)
    return following


def choose(
    problem: Problem,
    *,
    precision: str | None = None,
    network: Any = None,
    points: int | Mapping[str, int] | None = None,
    optimizer: Any = None,
    balancer: Any = None,
    max_steps: int | None = None,
) -> Choice:
    """What was given, and for the rest a choice by rule. optimizer: an object, or its table."""
    check_problem(problem)
    if network is not None:
        check_network(network, problem)
    check_balancer(balancer)
    if max_steps is not None and not is_whole(max_steps):
        raise ValueError(f"max_steps={max_steps!r} must be a whole number of at least 1.")
    if isinstance(optimizer, Mapping):
        optimizer = optimizer_from_config(optimizer)
    elif optimizer is not None:
        Plan.of(optimizer)
    network = MLP(width=20, depth=3) if network is None else network
    count = parameter_count(problem, network)
    scales = {name: value_scale(problem, field) for name, field in problem.fields.items()}
    chosen = Choice("float64", network, {}, optimizer, balancer, 0, scales)
    chosen = _with_optimizer(chosen, count)
    if precision is None:
        wide = _is_least_squares(chosen.optimizer)
        precision = "float64" if wide else "float32"
        reason = (
            "least squares goes on below float32's floor" if wide else "first-order steps stop above float32's floor"
        )
        chosen = chosen.because(f"{precision}: {reason}", precision=precision)
    chosen = replace(chosen, precision=check_precision(precision))
    chosen = _with_points(chosen, problem, points, count)
    if optimizer is None and chosen.marching and _is_least_squares(chosen.optimizer):
        chosen = replace(chosen, optimizer=MARCHING)
    if balancer is None:
        chosen = _with_weights(chosen, problem)
    if max_steps is None:
        steps = LEAST_SQUARES_STEPS if _is_least_squares(chosen.optimizer) else FIRST_ORDER_STEPS
        chosen = chosen.because(
            f"at most {steps} steps; the run ends earlier by the optimizer's own rule", max_steps=steps
        )
    else:
        chosen = replace(chosen, max_steps=max_steps)
    return chosen


def parameter_count(problem: Problem, network: Any) -> int:
    """Number of trained numbers; nothing is computed."""
    with precision_scope("float64"):
        shapes = eqx.filter_eval_shape(Layout(problem, network).initial, jax.random.key(0))
        return sum(leaf.size for leaf in jax.tree.leaves(shapes) if hasattr(leaf, "dtype"))


def _is_least_squares(optimizer: Any) -> bool:
    return isinstance(optimizer, LeastSquaresOptimizer)


def _with_optimizer(chosen: Choice, count: int) -> Choice:
    if chosen.optimizer is not None:
        return chosen
    if count <= MOST_LEAST_SQUARES_PARAMETERS:
        return chosen.because(
            f"Gauss-Newton: {count} parameters are few enough for its factorization",
            optimizer=GaussNewton(refresh=REFRESH),
        )
    return chosen.because(f"Adam: {count} parameters are too many for a factorization a step", optimizer=warmed_adam())


def _with_points(chosen: Choice, problem: Problem, points: Any, count: int) -> Choice:
    trained = problem.trained
    if points is not None and not isinstance(points, Mapping):
        return replace(chosen, points=dict.fromkeys(trained, points))
    asked = dict(points or {})
    inside = [name for name, c in trained.items() if _is_interior(c)]
    rows = sum(_rows(c) for name, c in trained.items() if name in inside) or 1
    if _is_least_squares(chosen.optimizer):
        interior = math.ceil(ROWS_PER_PARAMETER * count / rows)
        faces = max(interior // 8, 64)
        why = f"{ROWS_PER_PARAMETER} equations a parameter: {interior} points inside, {faces} on each boundary"
    else:
        interior, faces = 4096, 512
        why = f"{interior} points inside, {faces} on each boundary"
    counts = {name: (interior if name in inside else faces) for name in trained}
    adaptive = tuple(name for name in inside if len(trained[name].region.coordinates) > 1)
    if adaptive:
        chosen = chosen.because(f"points of {', '.join(adaptive)} follow the residual", adaptive=adaptive)
    start = _start(problem)
    if start is not None:
        chosen = chosen.because(
            f"points spread from {start:g} over the interval, since all that is prescribed is prescribed there",
            marching=dict.fromkeys(inside, start),
        )
    return chosen.because(why, points={**counts, **asked})


def _rows(constraint: Constraint) -> int:
    """Residuals a point: a complex term has two."""
    return sum(2 if is_complex(normalize(term.residual)) else 1 for term in constraint.terms)


def _start(problem: Problem) -> float | None:
    """The end of an interval at which all conditions of a problem in one coordinate are prescribed, if there is one."""
    if len(problem.domain.coordinates) != 1:
        return None
    coordinate = problem.domain.coordinates[0]
    conditions = [c for c in problem.constraints.values() if not _is_interior(c)]
    if not conditions or any(c.columns or c.region.dimension for c in conditions):
        return None
    places = {c.region.bounds.get(coordinate) for c in conditions}
    starts = [end for end in problem.domain.bounds[coordinate] if places == {(end, end)}]
    return float(starts[0]) if starts else None


def _is_interior(constraint: Constraint) -> bool:
    """Whether the constraint is an equation on a full-dimensional region."""
    return constraint.kind == "equation" and constraint.region.dimension == len(constraint.region.coordinates)


def _with_weights(chosen: Choice, problem: Problem) -> Choice:
    soft = {name: SOFT_WEIGHT for name, c in problem.trained.items() if not _is_interior(c)}
    if not soft or len(soft) == len(problem.trained):
        return replace(chosen, balancer=Static())
    return chosen.because(f"weight {SOFT_WEIGHT:g} for conditions, 1 for equations", balancer=Static(soft))
