"""Gauss-Newton with geodesic correction, near-undamped, on points that change every few steps.

Correction: Transtrum & Sethna, "Improvements to the Levenberg-Marquardt algorithm", 2012. Undamped direction:
energy natural gradient, Mueller & Zeinhofer 2023, and its sample-space form, Guzman-Cordero et al. 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from phijax.optimizers.base import LeastSquaresOptimizer, StepInfo
from phijax.optimizers.normal import NormalEquations
from phijax.optimizers.phases import CORRECTION, GRAM, JACOBIAN, SOLVE, TRIALS, Phases
from phijax.optimizers.system import LeastSquaresSystem

STEPS = 2.0 ** -np.arange(-1, 11)
GROUP = 3  # steps whose losses are taken in one call
STRAIGHT_BELOW = 0.1  # steps so short that the correction itself is in doubt
TRIES = 4  # dampings tried on one Jacobian
CAP, FLOOR = 1.0, 1e-15


class GaussNewtonState(NamedTuple):
    """damping: of the next step. floor: below which it does not fall. loss: after the last step.

    best: lowest loss seen on points while they were new. stale: changes of points since then.
    idle: steps since the loss last fell.
    """

    damping: Float[Array, ""]
    floor: Float[Array, ""]
    loss: Float[Array, ""]
    best: Float[Array, ""]
    stale: Int[Array, ""]
    idle: Int[Array, ""]


@dataclass(frozen=True)
class GaussNewton(LeastSquaresOptimizer):
    """Gauss-Newton steps theta + eta d + eta^2 a / 2, a the geodesic correction, eta the best of 2 .. 2^-10.

    damping: at the start, relative to the mean diagonal of J^T J. It falls by `lower` after a step of
    eta >= `long`, rises by `higher` after one of eta < `short` and tenfold after none.
    refresh: new points every so many steps.
    patience: ends the run after so many changes of points with no lower loss on new points.
    idle: ends it after so many steps that lower the loss of their own points by less than one part in 10^4.
    tolerance: ends it once the loss on new points is at most this.

    For networks of up to a few thousand parameters: a step costs N P^2 + P^3 / 3 operations for N residuals.
    Within float64 unless float32's accuracy, about 1e-6 of the solution, will do.
    """

    damping: float = 1e-2
    refresh: int = 5
    long: float = 0.4
    short: float = 0.2
    lower: float = 3.0
    higher: float = 3.0
    patience: int = 40
    idle: int = 20
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        for name, least in (("damping", 0.0), ("refresh", 0), ("patience", 1), ("idle", 1), ("tolerance", 0.0)):
            if getattr(self, name) < least:
                raise ValueError(f"GaussNewton: {name}={getattr(self, name)} must be at least {least}.")

    def init(self, theta: Float[Array, " P"]) -> GaussNewtonState:
        def number(value: float) -> Array:
            return jnp.asarray(value, theta.dtype)

        zero = jnp.zeros((), jnp.int32)
        return GaussNewtonState(number(self.damping), number(FLOOR), number(np.inf), number(np.inf), zero, zero)

    def step(
        self,
        system: LeastSquaresSystem,
        theta: Float[Array, " P"],
        state: GaussNewtonState,
        batch: Mapping[str, Any],
        weights: Mapping[str, Any],
    ) -> tuple[Float[Array, " P"], GaussNewtonState, StepInfo]:
        line, phases = _Line(system, theta, batch, weights), Phases()
        with phases(JACOBIAN):
            r, jacobian = jax.block_until_ready(system.jacobian(theta, batch, weights))
        loss = float(jnp.sum(r**2))
        judged = _judged(state, loss, _same(theta))
        new, state = judged is not state, judged
        best, damping = _Trial(float(state.loss)), _clipped(float(state.damping), float(state.floor))
        with phases(GRAM):
            normal = NormalEquations(jacobian)
        for attempt in range(TRIES):
            damping = _clipped(10 * damping) if attempt else damping
            with phases(SOLVE):
                solve = normal.factor(damping)
                if solve is None:
                    continue
                d = jax.block_until_ready(solve(r))
            with phases(CORRECTION):
                curvature = jax.block_until_ready(system.curvature(theta, d, batch, weights))
            with phases(SOLVE):
                a = jax.block_until_ready(solve(curvature))
            with phases(TRIALS):
                best = line.best(d, a, best)
            if best.eta > 0:
                break
        if best.eta > 0:
            theta = theta + best.eta * best.d + best.eta**2 / 2 * best.a
        state = self._after(state, damping, best)
        if new and loss <= self.tolerance:
            stop = f"The loss on new points is {loss:.2e}, within the tolerance of {self.tolerance:.1e}."
        else:
            stop = self._stop(state, lambda: _rounding(jacobian, theta))
        return theta, state, StepInfo(best.loss, best.eta > 0, stop, damping, best.eta, phases.seconds)

    def _after(self, state: GaussNewtonState, damping: float, best: _Trial) -> GaussNewtonState:
        """The state after a step: the damping follows the length of what the line search took."""
        if best.eta == 0:
            damping = 10 * damping
        elif best.eta >= self.long:
            damping = damping / self.lower
        elif best.eta < self.short:
            damping = damping * self.higher
        fell = best.loss < (1 - 1e-4) * float(state.loss)
        return state._replace(
            damping=_like(state.damping, _clipped(damping)),
            loss=_like(state.loss, best.loss),
            idle=_like(state.idle, 0 if fell else state.idle + 1),
        )

    def _stop(self, state: GaussNewtonState, rounding: Callable[[], float]) -> str | None:
        stale, idle, loss = int(state.stale), int(state.idle), float(state.loss)
        if stale < self.patience and idle < self.idle:
            return None
        if loss <= rounding():
            return f"The precision of {state.loss.dtype} is reached: a loss of {loss:.2e} is made of rounding errors."
        if stale >= self.patience:
            return f"The loss on new points no longer falls: {float(state.best):.2e}, {stale} changes of points ago."
        return f"No step lowers the loss any more: {loss:.2e} for {idle} steps."


def _judged(state: GaussNewtonState, loss: float, same: float) -> GaussNewtonState:
    """The state once the loss on the points at hand is known: on new points it tells of overfitting.

    same: relative difference up to which the points are those of the step before.
    """
    known, floor = float(state.loss), float(state.floor)
    if np.isfinite(known) and abs(loss - known) <= same * known:
        return state
    jump = loss / known if known > 0 else np.inf
    if jump > 20:
        floor = max(10 * floor, float(state.damping))
    elif jump < 5:
        floor = floor / 3
    lower = loss < 0.95 * float(state.best)
    return state._replace(
        loss=_like(state.loss, loss),
        floor=_like(state.floor, _clipped(floor)),
        best=_like(state.best, loss) if lower else state.best,
        stale=_like(state.stale, 0 if lower else state.stale + 1),
    )


def _rounding(jacobian: Float[Array, "N P"], theta: Float[Array, " P"]) -> float:
    """A loss below which rounding decides: 100 units in the last place of every parameter's share of r."""
    unit = float(jnp.finfo(theta.dtype).eps)
    return float((100 * unit) ** 2 * jnp.sum((jacobian * theta[None, :]) ** 2))


class _Trial(NamedTuple):
    """A point theta + eta d + eta^2 a / 2 and its loss; eta = 0 stands for theta itself."""

    loss: float
    eta: float = 0.0
    d: Any = None
    a: Any = None


class _Line(NamedTuple):
    """Losses along a direction, on the points of one step."""

    system: LeastSquaresSystem
    theta: Array
    batch: Any
    weights: Any

    def best(self, d: Array, a: Array, than: _Trial) -> _Trial:
        """The lowest loss along the parabola, and along the straight line where only short steps succeed."""
        trial = self._lowest(d, a, than)
        if trial.eta >= STRAIGHT_BELOW:
            return trial
        return self._lowest(d, jnp.zeros_like(d), trial)

    def _lowest(self, d: Array, a: Array, than: _Trial) -> _Trial:
        """Goes to shorter steps only as long as they may still be better."""
        for first in range(0, len(STEPS), GROUP):
            steps = STEPS[first : first + GROUP]
            losses = np.asarray(
                self.system.losses_along(self.theta, d, a, jnp.asarray(steps, d.dtype), self.batch, self.weights)
            )
            losses = np.where(np.isfinite(losses), losses, np.inf)
            lowest = int(losses.argmin())
            if losses[lowest] < than.loss:
                than = _Trial(float(losses[lowest]), float(steps[lowest]), d, a)
            if than.eta > steps[-1]:
                break
        return than


def _clipped(damping: float, floor: float = FLOOR) -> float:
    return min(max(damping, floor), CAP)


def _same(theta: Array) -> float:
    return float(jnp.finfo(theta.dtype).eps) ** 0.5


def _like(old: Array, value: Any) -> Array:
    return jnp.asarray(value, old.dtype)
