"""Random features in place of a trained network: for which problems, how many, and what a trial says of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from phijax.choice.choice import NETWORK, RANDOM_FEATURES, TO_BE_SCALED, TO_BE_TRIED, Choice
from phijax.choice.points import interior_rows, with_counts, with_weights
from phijax.choice.trials import best_scale
from phijax.formulation import Problem, is_linear
from phijax.networks import RandomFeatures
from phijax.optimizers import LinearLeastSquares
from phijax.training.compiling import compile

# Features by the number of coordinates, in trials, and residuals for each of them. A solve costs 2 N P^2.
FEATURES, MOST_FEATURES = {1: 400, 2: 1200}, 1500
TRIAL_FEATURES = 400
ROWS_PER_FEATURE = 3
# Part of the residual that a trial may leave: beyond it something is not smooth, and a network that trains does better.
# Many coordinates are hard for either.
ENOUGH, ENOUGH_IN_MANY = 1e-3, 1e-2
MANY_COORDINATES = 4
FEWEST_SECONDS_FOR_TRIALS = 30.0


def why_no_trial(problem: Problem, max_seconds: float | None) -> str | None:
    """Why random features are not even tried where nothing is asked for; None where they are."""
    if any(constraint.columns for constraint in problem.trained.values()):
        return "measured values may be noisy, and so many features would fit the noise"
    if max_seconds is not None and max_seconds < FEWEST_SECONDS_FOR_TRIALS:
        return f"max_seconds={max_seconds:g} leaves no time for trials"
    return why_not(problem)


def why_not(problem: Problem) -> str | None:
    """Why a problem has no linear least-squares solution, None where it has one."""
    for name in problem.parameters:
        return f"the parameter {name!r} is unknown as well"
    if not is_linear(problem):
        return "it is not linear in its fields"
    return None


def features_by_rule(
    chosen: Choice, problem: Problem, network: RandomFeatures | None = None, points: Any = None
) -> Choice:
    """The choice with random features for its network. Without a `network`, their scale is left to trials.

    Raises ValueError for a problem that is not linear.
    """
    reason = why_not(problem)
    if reason is not None:
        raise ValueError(f'{problem.name!r} cannot be solved by method="random_features": {reason}; leave method= out.')
    count = FEATURES.get(len(problem.domain.coordinates), MOST_FEATURES)
    method = TO_BE_SCALED if network is None else RANDOM_FEATURES
    spec = RandomFeatures(count) if network is None else network
    chosen = replace(
        chosen,
        method=method,
        network=spec,
        optimizer=LinearLeastSquares(),
        max_steps=LinearLeastSquares.steps,
        adaptive=(),
        slabs=None,
    )
    chosen = chosen.because("random features: the problem is linear, so that one least-squares solve is the answer")
    chosen = _with_rows(chosen, problem, points)
    return chosen if chosen.balancer is not None else with_weights(chosen, problem, by_curvature=True)


def _with_rows(chosen: Choice, problem: Problem, points: Any) -> Choice:
    interior = -(-ROWS_PER_FEATURE * chosen.network.features // interior_rows(problem))
    why = f"{chosen.network.features} features and {ROWS_PER_FEATURE} equations for each, so "
    return with_counts(chosen, problem, points, interior, max(chosen.network.features // 4, 64), why)


def settled(problem: Problem, choice: Choice) -> Choice:
    """The choice with what trials are to decide decided. A problem has one outcome, whatever seed and clock."""
    if choice.method not in (TO_BE_TRIED, TO_BE_SCALED):
        return choice
    blank = replace(choice, balancer=None, reasons=())
    features = choice if choice.method == TO_BE_SCALED else features_by_rule(blank, problem)
    trial = _with_rows(replace(features, network=RandomFeatures(TRIAL_FEATURES)), problem, None)
    outcome = best_scale(
        compile(problem, network=trial.network, points=trial.points, precision=trial.precision, scales=trial.scales),
        features.balancer,
    )
    said = f"of {outcome.trials} scales that were tried on {TRIAL_FEATURES} features the best leaves {outcome.relative:.1e} "
    said += "of the residual on new points"
    many = len(problem.domain.coordinates) >= MANY_COORDINATES
    if choice.method == TO_BE_TRIED and not outcome.relative <= (ENOUGH_IN_MANY if many else ENOUGH):
        return choice.because(f"a trained network, though the problem is linear: {said}", method=NETWORK)
    network = replace(features.network, scale=outcome.scale)
    return features.because(f"scale {_shown(outcome.scale)}: {said}", network=network, method=RANDOM_FEATURES)


def _shown(scale: float | tuple[float, ...]) -> str:
    return ", ".join(f"{s:g}" for s in scale) if isinstance(scale, tuple) else f"{scale:g}"
