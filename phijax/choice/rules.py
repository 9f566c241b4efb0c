"""Rules: what is settled from the problem alone, where the caller did not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax

from phijax._numbers import is_whole
from phijax._precision import check_precision, precision_scope
from phijax.balancing import Causal
from phijax.choice.choice import NETWORK, RANDOM_FEATURES, TO_BE_TRIED, TO_BE_TRIED_ONCE, Choice
from phijax.choice.features import features_by_rule, has_time_for_second_look, why_no_trial
from phijax.choice.points import interior_rows, is_interior, with_counts, with_weights
from phijax.choice.samplers import corners_of
from phijax.formulation import Problem, carries_waves, evolution_of, is_linear, value_scale
from phijax.formulation.faults import nearest
from phijax.lowering import Layout
from phijax.networks import MLP, RandomFeatures
from phijax.optimizers import FIRST_ORDER_STEPS, GaussNewton, Race, optimizer_from_config, steps_of, warmed_adam
from phijax.training.causal import CausalWeights
from phijax.training.compiling import check_network, check_problem
from phijax.training.lbfgs import is_lbfgs
from phijax.training.slabs import Slabs
from phijax.training.stages import Plan, Stage
from phijax.training.trainer import check_balancer

# A Gauss-Newton step costs N P^2 + P^3 / 3: above this many parameters first-order steps are the better buy.
MOST_LEAST_SQUARES_PARAMETERS = 2500
# Residuals a parameter: near-undamped steps fit what few points they are shown.
ROWS_PER_PARAMETER = 3
# New points every so many least-squares steps: fewer overfit less, and each change costs a look at a larger pool.
REFRESH = 3
# Seconds from which on a network of twice the parameters, whose steps cost eight times as much, gets further; and what a
# given time makes of the steps that a run without one ends by.
LONG, MORE_STEPS_IN_A_TIME = 300.0, 10
# Changes of points without progress that such a run bears: Allen-Cahn's loss fell tenfold after one of 40.
LONG_PATIENCE = 160
WIDTH, LONG_WIDTH, SLAB_WIDTH = 20, 30, 16
# Damping that falls faster and rises later than the default's: ten times ahead on flows and fronts after a hundred steps,
# four times behind on dispersive waves.
BOLD: dict[str, Any] = {"long": 0.2, "short": 0.1, "lower": 5.0, "higher": 2.0}
# A run of fewer steps than so many times those of a race has none.
ROOM_FOR_A_RACE = 2
# In slabs of time, by the square of the fields' size: the loss at which one is left, and what is no solution of it.
SLABS, SLAB_TOLERANCE, SLAB_SOLVED = 8, 1e-10, 1e-3
SLAB_ROWS_PER_PARAMETER, LONG_SLAB_ROWS_PER_PARAMETER = 1, 3
# Slabs of a field in space are fewer, and left at a larger loss.
WAVE_SLABS, WAVE_TOLERANCE, LONG_WAVE_TOLERANCE = 4, 1e-9, 1e-12
SLAB_SHARE = 4  # steps of a whole over those of a slab


def choose(
    problem: Problem,
    *,
    precision: str | None = None,
    network: Any = None,
    points: int | Mapping[str, int] | None = None,
    optimizer: Any = None,
    balancer: Any = None,
    max_steps: int | None = None,
    slabs: int | Slabs | None = None,
    rows: Any = None,
    method: str | None = None,
    max_seconds: float | None = None,
    causal: bool | Causal | None = None,
) -> Choice:
    """What was given, and for the rest a choice by rule, or one that `settled` is to make. optimizer: an object, stages of
    some, or their table. method: "network", "random_features", or None for either."""
    _check_given(problem, network, balancer, max_steps, method)
    causal = Causal.of(causal)
    if causal is not None:
        CausalWeights.bound(causal, problem)  # refuses what has no time, before there is a folder
    schedule = steps_of(optimizer)
    if isinstance(optimizer, Mapping):
        optimizer = optimizer_from_config(optimizer)
    if optimizer is not None:
        Plan.of(optimizer)
    if method == RANDOM_FEATURES:
        _check_features(network=network, optimizer=optimizer, slabs=slabs, causal=causal)
        scales = {name: value_scale(problem, field) for name, field in problem.fields.items()}
        blank = Choice(check_precision(precision or "float64"), None, {}, None, balancer, 1, scales, rows=rows)
        return features_by_rule(blank, problem, network, points)
    settled = (network, points, optimizer, balancer, max_steps, slabs, rows, causal)
    scales = {name: value_scale(problem, field) for name, field in problem.fields.items()}
    chosen = Choice("float64", network, {}, optimizer, balancer, 0, scales, rows=rows, causal=causal)
    chosen = _with_network(_with_slabs(chosen, problem, slabs), problem, max_seconds)
    count = parameter_count(problem, chosen.network)
    chosen = _with_optimizer(chosen, problem, count, max_steps, long=_is_long(max_seconds))
    if precision is None:
        wide = _is_least_squares(chosen.optimizer)
        precision = "float64" if wide else "float32"
        reason = (
            "least squares goes on below float32's floor" if wide else "first-order steps stop above float32's floor"
        )
        chosen = chosen.because(f"{precision}: {reason}", precision=precision)
    chosen = replace(chosen, precision=check_precision(precision))
    chosen = _with_points(chosen, problem, points, count, long=_is_long(max_seconds))
    if balancer is None:
        chosen = with_weights(chosen, problem, _ends_by_curvature(chosen, problem))
    corners = corners_of(problem, problem.domain)
    if corners:
        shown = " and ".join("(" + ", ".join(f"{value:.4g}" for _, value in corner) + ")" for corner in corners[:4])
        more = f" and {len(corners) - 4} more" if len(corners) > 4 else ""
        chosen = chosen.because(f"equations weigh less near corners without bounded derivatives, at {shown}{more}")
    if max_steps is None:
        steps = _steps(chosen, schedule or FIRST_ORDER_STEPS, max_seconds)
        chosen = chosen.because(
            f"at most {steps} steps; the run ends earlier by the optimizer's own rule", max_steps=steps
        )
    else:
        chosen = replace(chosen, max_steps=max_steps)
    untouched = method is None and precision == "float64" and all(setting is None for setting in settled)
    if untouched and why_no_trial(problem, max_seconds) is None:
        return replace(chosen, method=TO_BE_TRIED if has_time_for_second_look(max_seconds) else TO_BE_TRIED_ONCE)
    return chosen


def _check_given(problem: Problem, network: Any, balancer: Any, max_steps: Any, method: Any) -> None:
    check_problem(problem)
    if method not in (None, NETWORK, RANDOM_FEATURES):
        raise ValueError(f"method={method!r} is no way to solve; {nearest(str(method), (NETWORK, RANDOM_FEATURES))}.")
    if network is not None:
        check_network(network, problem)
    check_balancer(balancer)
    if max_steps is not None and not is_whole(max_steps):
        raise ValueError(f"max_steps={max_steps!r} must be a whole number of at least 1.")


def _check_features(**given: Any) -> None:
    for name, value in given.items():
        if value is not None and not (name == "network" and isinstance(value, RandomFeatures)):
            shown = repr(value) if " at 0x" not in repr(value) else f"{type(value).__name__}(...)"
            raise ValueError(
                f'method="random_features" with {name}={shown}: it settles the {name} itself; leave {name}= out'
                f"{', or give phi.RandomFeatures(...)' if name == 'network' else ''}."
            )


def _is_long(max_seconds: float | None) -> bool:
    """Whether there is time for a larger network, more points and patience."""
    return max_seconds is not None and max_seconds >= LONG


def parameter_count(problem: Problem, network: Any) -> int:
    """Number of trained numbers; nothing is computed."""
    return sum(leaf.size for leaf in jax.tree.leaves(_shapes(problem, network)))


def _shapes(problem: Problem, network: Any) -> Any:
    """The trained numbers as shapes alone."""
    with precision_scope("float64"):
        shapes = eqx.filter_eval_shape(Layout(problem, network).initial, jax.random.key(0))
        return eqx.filter(shapes, lambda leaf: hasattr(leaf, "dtype"))


def _is_least_squares(optimizer: Any) -> bool:
    """Whether any of its stages is."""
    return any(stage.least_squares for stage in Plan.of(optimizer).stages)


def _ends_by_curvature(chosen: Choice, problem: Problem) -> bool:
    """Whether its last stage goes by more than the gradient of a step: least squares, or L-BFGS."""
    last = Plan.of(chosen.optimizer).stages[-1]
    if last.least_squares:
        return True
    with precision_scope("float64"):
        return is_lbfgs(jax.eval_shape(last.optimizer.init, _shapes(problem, chosen.network)))


def _steps(chosen: Choice, first_order: int, max_seconds: float | None) -> int:
    """Steps of all stages, in all slabs. first_order: of an optax optimizer whose stage has no steps of its own."""
    parts, share = (1, 1) if chosen.slabs is None else (chosen.slabs.count, SLAB_SHARE)
    more = 1 if max_seconds is None else MORE_STEPS_IN_A_TIME

    def of(stage: Stage) -> int:
        return stage.steps or (more * stage.optimizer.steps if stage.least_squares else first_order) // share

    return parts * sum(of(stage) for stage in Plan.of(chosen.optimizer).stages)


def _with_slabs(chosen: Choice, problem: Problem, slabs: int | Slabs | None) -> Choice:
    solved = SLAB_SOLVED * _size(chosen) ** 2
    if slabs == 1 and not _goes_in_slabs(problem):
        return chosen  # one part is the whole
    if slabs is not None:
        return replace(chosen, slabs=slabs if isinstance(slabs, Slabs) else Slabs(slabs, solved=solved))
    if chosen.causal is not None:
        return chosen  # the other way to go through time, on the whole of it
    if not _affordable(chosen, problem):
        return chosen  # first-order steps have no end of their own, so that the first slab would take them all
    if not _goes_in_slabs(problem) or is_linear(problem):
        return chosen
    if len(problem.domain.coordinates) == 1:
        count, why = SLABS, "a whole may end in a state of rest"
    elif carries_waves(problem):
        count, why = WAVE_SLABS, "waves are followed more easily for a short while"
    else:
        return chosen
    said = f"{count} slabs of {evolution_of(problem).time}, each solved from the end of the one before: {why}"
    return chosen.because(said, slabs=Slabs(count, solved=solved))


def _goes_in_slabs(problem: Problem) -> bool:
    try:
        evolution_of(problem)
    except ValueError:
        return False
    return True


def _affordable(chosen: Choice, problem: Problem) -> bool:
    """Whether steps are by least squares: as given, or by the size of the network that is given."""
    if chosen.optimizer is not None:
        return _is_least_squares(chosen.optimizer)
    return chosen.network is None or parameter_count(problem, chosen.network) <= MOST_LEAST_SQUARES_PARAMETERS


def _with_network(chosen: Choice, problem: Problem, max_seconds: float | None) -> Choice:
    """The network that steps with a factorization are affordable for in the time; a slab takes less of one."""
    if chosen.network is not None:
        return chosen
    wide = _is_long(max_seconds)
    widths = (SLAB_WIDTH, WIDTH) if _slabs_of_a_field_in_space(chosen, problem) else (WIDTH, LONG_WIDTH)
    return replace(chosen, network=MLP(width=widths[wide], depth=3))


def _slabs_of_a_field_in_space(chosen: Choice, problem: Problem) -> bool:
    return chosen.slabs is not None and chosen.slabs.count > 1 and len(problem.domain.coordinates) > 1


def _size(chosen: Choice) -> float:
    """The largest size of a field."""
    return max((chosen.scales or {}).values(), default=1.0)


def _with_optimizer(chosen: Choice, problem: Problem, count: int, max_steps: int | None, long: bool) -> Choice:
    if chosen.optimizer is not None:
        return chosen
    if count <= MOST_LEAST_SQUARES_PARAMETERS or chosen.slabs is not None:
        careful = GaussNewton(refresh=REFRESH, **({"patience": LONG_PATIENCE} if long else {}))
        if chosen.slabs is not None:
            waves = _slabs_of_a_field_in_space(chosen, problem)
            wave = LONG_WAVE_TOLERANCE if long else WAVE_TOLERANCE
            tolerance = (wave if waves else SLAB_TOLERANCE) * _size(chosen) ** 2
            slab = replace(careful, tolerance=tolerance)
            return chosen.because("Gauss-Newton: it ends by itself where a slab is solved", optimizer=slab)
        why = f"Gauss-Newton: {count} parameters are few enough for its factorization"
        race = Race((replace(careful, **BOLD), careful))
        if max_steps is not None and max_steps < len(race.candidates) * ROOM_FOR_A_RACE * race.trial:
            return chosen.because(why, optimizer=careful)
        return chosen.because(f"{why}; two ways to lower its damping race", optimizer=race)
    return chosen.because(f"Adam: {count} parameters are too many for a factorization a step", optimizer=warmed_adam())


def _with_points(chosen: Choice, problem: Problem, points: Any, count: int, long: bool) -> Choice:
    if points is not None and not isinstance(points, Mapping):
        return with_counts(chosen, problem, points, 0, 0)
    if not _is_least_squares(chosen.optimizer):
        chosen = _with_adaptive(chosen, problem)
        return with_counts(chosen, problem, points, 4096, 512)
    in_slabs = LONG_SLAB_ROWS_PER_PARAMETER if long else SLAB_ROWS_PER_PARAMETER
    each = ROWS_PER_PARAMETER if chosen.slabs is None else in_slabs
    interior = math.ceil(each * count / interior_rows(problem))
    why = f"equations a parameter: {each}, so "
    return with_counts(_with_adaptive(chosen, problem), problem, points, interior, max(interior // 8, 64), why)


def _with_adaptive(chosen: Choice, problem: Problem) -> Choice:
    inside = [name for name, constraint in problem.trained.items() if is_interior(constraint)]
    adaptive = tuple(name for name in inside if len(problem.constraints[name].region.coordinates) > 1)
    if not adaptive:
        return chosen
    return chosen.because(f"points of {', '.join(adaptive)} follow the residual", adaptive=adaptive)
