"""Random features in place of a trained network: for which problems, how many, and what a trial says of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from phijax.choice.choice import NETWORK, RANDOM_FEATURES, TO_BE_SCALED, TO_BE_TRIED, TO_BE_TRIED_ONCE, Choice
from phijax.choice.given import rates
from phijax.choice.points import interior_rows, with_counts, with_weights
from phijax.choice.trials import FACTOR, Outcome, best_scale
from phijax.formulation import Problem, is_linear
from phijax.networks import RandomFeatures
from phijax.optimizers import LinearLeastSquares
from phijax.training.compiling import compile

# Features by the number of coordinates, in trials, and residuals for each of them. A solve costs 2 N P^2.
FEATURES, MOST_FEATURES = {1: 400, 2: 1200}, 1500
TRIAL_FEATURES = 400
# Where what is given varies by so many radians, 400 features may be too few to tell: a second look with more of them,
# which takes half a minute. Poisson's equation with sines of 16 half waves is at 6e-7 then, and a trained network at 3e-2.
FAST, SECOND_LOOK_FEATURES, SECOND_LOOK_TRIALS = 8.0, 2000, 8
FEWEST_SECONDS_FOR_SECOND_LOOK = 90.0
LEAST_SCALE = 0.25
OPEN = (TO_BE_TRIED, TO_BE_TRIED_ONCE)
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


def has_time_for_second_look(max_seconds: float | None) -> bool:
    """Whether a trial may be followed by one with more features."""
    return max_seconds is None or max_seconds >= FEWEST_SECONDS_FOR_SECOND_LOOK


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
    if choice.method not in (*OPEN, TO_BE_SCALED):
        return choice
    blank = replace(choice, balancer=None, reasons=())
    features = choice if choice.method == TO_BE_SCALED else features_by_rule(blank, problem)
    many = len(problem.domain.coordinates) >= MANY_COORDINATES
    enough = ENOUGH_IN_MANY if many else ENOUGH
    guess = _guess(problem)
    outcome, said = _tried(features, problem, TRIAL_FEATURES, [guess] if guess else [])
    if guess is not None and choice.method != TO_BE_TRIED_ONCE and not outcome.relative <= enough:
        features = _with_rows(replace(features, network=RandomFeatures(SECOND_LOOK_FEATURES)), problem, None)
        guesses = [outcome.each, guess, tuple(FACTOR * scale for scale in guess)]
        few = {"alone": True, "enough": enough, "most": SECOND_LOOK_TRIALS}
        outcome, again = _tried(features, problem, SECOND_LOOK_FEATURES, guesses, **few)
        said = f"{said}; {again}"
    if choice.method in OPEN and not outcome.relative <= enough:
        return choice.because(f"a trained network, though the problem is linear: {said}", method=NETWORK)
    network = replace(features.network, scale=outcome.scale)
    return features.because(f"scale {_shown(outcome.scale)}: {said}", network=network, method=RANDOM_FEATURES)


def _tried(features: Choice, problem: Problem, count: int, guesses: Any, **search: Any) -> tuple[Outcome, str]:
    """The best scale for so many features, and what to say of it."""
    trial = _with_rows(replace(features, network=RandomFeatures(count)), problem, None)
    settings: Any = {"precision": trial.precision, "scales": trial.scales}
    compiled = compile(problem, network=trial.network, points=trial.points, **settings)
    outcome = best_scale(compiled, features.balancer, guesses, **search)
    said = f"of {outcome.trials} scales that were tried on {count} features the best leaves {outcome.relative:.1e} "
    return outcome, f"{said}of the residual on new points"


def _guess(problem: Problem) -> tuple[float, ...] | None:
    """Scales by how fast what is given varies along each coordinate; None where it varies slowly."""
    found = rates(problem)
    if max(found.values()) < FAST:
        return None
    return tuple(max(LEAST_SCALE, 2.0 ** math.floor(math.log2(max(rate, LEAST_SCALE)))) for rate in found.values())


def _shown(scale: float | tuple[float, ...]) -> str:
    return ", ".join(f"{s:g}" for s in scale) if isinstance(scale, tuple) else f"{scale:g}"
