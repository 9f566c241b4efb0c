"""Gauss-Newton with geodesic correction, near-undamped, on points that change every few steps.

Correction: Transtrum & Sethna, "Improvements to the Levenberg-Marquardt algorithm", 2012. Undamped direction:
energy natural gradient, Mueller & Zeinhofer 2023, and its sample-space form, Guzman-Cordero et al. 2025.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from phijax.optimizers.base import LeastSquaresOptimizer, StepInfo
from phijax.optimizers.grid import Grid
from phijax.optimizers.grid import Trial as _Trial
from phijax.optimizers.judging import judged, like, progressed
from phijax.optimizers.linearized import linearized
from phijax.optimizers.phases import CORRECTION, SOLVE, TRIALS, Phases
from phijax.optimizers.system import LeastSquaresSystem

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
        grid, phases = Grid(system, theta, batch, weights), Phases()
        begun, state = linearized(system, theta, state, batch, weights, phases, _judged)
        best, damping = _Trial(float(state.loss)), _clipped(float(state.damping), float(state.floor))
        for attempt in range(TRIES):
            damping = _clipped(10 * damping) if attempt else damping
            with phases(SOLVE):
                solve = begun.normal.factor(damping)
                if solve is None:
                    continue
                d = jax.block_until_ready(solve(begun.residual))
            with phases(CORRECTION):
                curvature = jax.block_until_ready(system.curvature(theta, d, batch, weights))
            with phases(SOLVE):
                a = jax.block_until_ready(solve(curvature))
            with phases(TRIALS):
                best = grid.best(d, a, best)
            if best.eta > 0:
                break
        if best.eta > 0:
            theta = theta + best.eta * best.d + best.eta**2 / 2 * best.a
        state = self._after(state, damping, best)
        stop = begun.stop(self, theta, state)
        return theta, state, StepInfo(best.loss, best.eta > 0, stop, damping, best.eta, phases.seconds)

    def _after(self, state: GaussNewtonState, damping: float, best: _Trial) -> GaussNewtonState:
        """The state after a step: the damping follows the length of what the line search took."""
        if best.eta == 0:
            damping = 10 * damping
        elif best.eta >= self.long:
            damping = damping / self.lower
        elif best.eta < self.short:
            damping = damping * self.higher
        return progressed(state._replace(damping=like(state.damping, _clipped(damping))), best.loss)


def _judged(state: GaussNewtonState, loss: float, same: float) -> GaussNewtonState:
    """The state once the loss on the points at hand is known: on new points it tells of overfitting.

    same: relative difference up to which the points are those of the step before.
    """
    after = judged(state, loss, same)
    if after is state:
        return state
    known, floor = float(state.loss), float(state.floor)
    jump = loss / known if known > 0 else np.inf
    if jump > 20:
        floor = max(10 * floor, float(state.damping))
    elif jump < 5:
        floor = floor / 3
    return after._replace(floor=like(state.floor, _clipped(floor)))


def _clipped(damping: float, floor: float = FLOOR) -> float:
    return min(max(damping, floor), CAP)
