"""Levenberg-Marquardt: full steps, their damping set by how well the linear model foretells the loss.

Nielsen, "Damping parameter in Marquardt's method", 1999. Target ratio: Webb, Jerad & Cartis 2026. Geodesic correction:
Transtrum & Sethna, "Improvements to the Levenberg-Marquardt algorithm", 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from phijax._options import did_you_mean, flag, real
from phijax.optimizers.base import LeastSquaresOptimizer, StepInfo
from phijax.optimizers.judging import check_rules, like, progressed
from phijax.optimizers.linearized import Linearized, linearized
from phijax.optimizers.phases import CORRECTION, SOLVE, TRIALS, Phases
from phijax.optimizers.system import LeastSquaresSystem

RULES = ("nielsen", "target_ratio")
CAP, FLOOR = 1e6, 1e-15
LEAST_RATIO = 1e-4  # of Nielsen's rule: below it a step is not taken
FAILURES = 3  # at the cap, before the run ends
WALK = 8  # dampings below the last one that are tried in a step
SMALL = 0.75  # length of the correction over that of the step, above which the series is in doubt


class LevenbergMarquardtState(NamedTuple):
    """damping: of the next step. growth: what it grows by if that fails. failures: steps in a row that failed at the cap.

    loss, best, stale, idle: as `judging` has them.
    """

    damping: Float[Array, ""]
    growth: Float[Array, ""]
    failures: Int[Array, ""]
    loss: Float[Array, ""]
    best: Float[Array, ""]
    stale: Int[Array, ""]
    idle: Int[Array, ""]


@dataclass(frozen=True)
class LevenbergMarquardt(LeastSquaresOptimizer):
    """Steps d = -(J^T J + lambda mean(diag J^T J) I)^-1 J^T r, judged by actual over foretold decrease of the loss.

    rule: "nielsen" takes a step whose ratio is positive and lets lambda follow it; "target_ratio" takes the longest
    step of a ratio of at least `ratio`, walking lambda from its last value by `factor`.
    damping: lambda at the start. correction: adds the geodesic acceleration where it is short against the step.
    refresh: new points every so many steps.
    patience: ends the run after so many changes of points with no lower loss on new points.
    idle: ends it after so many steps that lower the loss of their own points by less than one part in 10^4.
    tolerance: ends it once the loss on new points is at most this.

    A step costs N P^2 + P^3 / 3 operations for N residuals and P parameters, and P^3 / 3 more for each lambda tried.
    """

    rule: str = "nielsen"
    damping: float = 1e-2
    ratio: float = 0.075
    factor: float = 3.0
    correction: bool = False
    refresh: int = 5
    patience: int = 40
    idle: int = 20
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        owner = type(self).__name__
        if self.rule not in RULES:
            raise ValueError(f"{owner}: rule={self.rule!r} is not known. {did_you_mean(self.rule, RULES)}")
        real(owner, "damping", self.damping, f"from {FLOOR:g} to {CAP:g}", lambda number: FLOOR <= number <= CAP)
        real(owner, "ratio", self.ratio, "between 0 and 1", lambda number: 0 < number < 1)
        real(owner, "factor", self.factor, "above 1", lambda number: number > 1)
        flag(owner, "correction", self.correction)
        check_rules(self)

    def init(self, theta: Float[Array, " P"]) -> LevenbergMarquardtState:
        def number(value: float) -> Array:
            return jnp.asarray(value, theta.dtype)

        zero, infinity = jnp.zeros((), jnp.int32), number(np.inf)
        return LevenbergMarquardtState(number(self.damping), number(2.0), zero, infinity, infinity, zero, zero)

    def step(
        self,
        system: LeastSquaresSystem,
        theta: Float[Array, " P"],
        state: LevenbergMarquardtState,
        batch: Mapping[str, Any],
        weights: Mapping[str, Any],
    ) -> tuple[Float[Array, " P"], LevenbergMarquardtState, StepInfo]:
        phases = Phases()
        begun, state = linearized(system, theta, state, batch, weights, phases)
        model = _Model(system, theta, batch, weights, begun, self.correction, phases)
        search = self._nielsen if self.rule == "nielsen" else self._target
        trial, damping, growth = search(model.attempt, float(state.damping), float(state.growth))
        failures = 0 if trial else int(state.failures) + 1
        if trial:
            theta = theta + trial.change
        state = progressed(state, trial.loss if trial else float(state.loss))._replace(
            damping=like(state.damping, damping),
            growth=like(state.growth, growth),
            failures=like(state.failures, failures),
        )
        stuck = None
        if failures >= FAILURES:
            stuck = f"No step lowers the loss, {FAILURES} times up to the largest damping: {float(state.loss):.2e}."
        stop = begun.stop(self, theta, state, stuck)
        used = trial.damping if trial else CAP
        return (
            theta,
            state,
            StepInfo(float(state.loss), trial is not None, stop, used, float(bool(trial)), phases.seconds),
        )

    def _nielsen(self, attempt: Attempt, damping: float, growth: float) -> tuple[_Trial | None, float, float]:
        """(trial to take, damping, growth): lambda falls with the ratio, and grows ever faster while steps fail."""
        while True:
            trial = attempt(damping)
            if trial.ratio > LEAST_RATIO:
                least = 1 / 9 if trial.ratio > 0.75 else 1 / 3
                return trial, max(damping * max(least, 1 - (2 * trial.ratio - 1) ** 3), FLOOR), 2.0
            if damping >= CAP:
                return None, self.damping, 2.0
            damping, growth = min(damping * growth, CAP), 2 * growth

    def _target(self, attempt: Attempt, damping: float, growth: float) -> tuple[_Trial | None, float, float]:
        """(trial to take, its damping, growth): the least lambda on the walk whose ratio is the target's."""
        trial = attempt(damping)
        if trial.ratio >= self.ratio:
            for _ in range(WALK):
                longer = attempt(max(trial.damping / self.factor, FLOOR))
                if longer.ratio < self.ratio or longer.damping == trial.damping:
                    break
                trial = longer
            return trial, trial.damping, growth
        while trial.damping < CAP:
            trial = attempt(min(trial.damping * self.factor, CAP))
            if trial.ratio >= self.ratio:
                return trial, trial.damping, growth
        return None, self.damping, growth


class _Trial(NamedTuple):
    """The loss after a step, and by which part of what was foretold it falls. change: of the parameters."""

    damping: float
    loss: float
    ratio: float
    change: Any = None


Attempt = Callable[[float], _Trial]


class _Model(NamedTuple):
    """The residuals and their linear model at theta, on the points of one step."""

    system: LeastSquaresSystem
    theta: Array
    batch: Any
    weights: Any
    begun: Linearized
    correction: bool
    phases: Phases

    def attempt(self, damping: float) -> _Trial:
        """The step of one damping; of ratio minus infinity where the matrix can't be factored or the loss not taken."""
        with self.phases(SOLVE):
            solve = self.begun.normal.factor(damping)
            if solve is None:
                return _Trial(damping, np.inf, -np.inf)
            d = jax.block_until_ready(solve(self.begun.residual))
            foretold = float(self.begun.devices.jit(_foretold)(self.begun.residual, self.begun.jacobian, d))
        if self.correction:
            with self.phases(CORRECTION):
                a = solve(self.system.curvature(self.theta, d, self.batch, self.weights))
                d = jax.block_until_ready(_corrected(d, a))
        with self.phases(TRIALS):
            loss = float(jnp.sum(self.system.residual(self.theta + d, self.batch, self.weights) ** 2))
        if not (np.isfinite(loss) and foretold > 0):
            return _Trial(damping, np.inf, -np.inf)
        return _Trial(damping, loss, (self.begun.loss - loss) / foretold, d)


def _foretold(r: Float[Array, " N"], jacobian: Float[Array, "N P"], d: Float[Array, " P"]) -> Float[Array, ""]:
    """|r|^2 - |r + J d|^2, without the difference of nearly equal squares."""
    change = jacobian @ d
    return -jnp.sum((2 * r + change) * change)


@jax.jit
def _corrected(d: Float[Array, " P"], a: Float[Array, " P"]) -> Float[Array, " P"]:
    """d + a / 2, or d alone where a is not short against it."""
    short = 2 * jnp.linalg.norm(a) <= SMALL * jnp.linalg.norm(d)
    return jnp.where(short, d + a / 2, d)
