"""SPRING: natural gradient in the space of residuals, with momentum.

Goldshlager, Abrahamsen & Lin, "A Kaczmarz-inspired approach to accelerate the optimization of neural network
wavefunctions", 2024; for differential equations Guzman-Cordero et al. 2025.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from phijax._options import real
from phijax.optimizers.base import LeastSquaresOptimizer, StepInfo
from phijax.optimizers.grid import Grid, Trial
from phijax.optimizers.judging import check_rules, like, progressed
from phijax.optimizers.linearized import linearized
from phijax.optimizers.phases import SOLVE, TRIALS, Phases
from phijax.optimizers.system import LeastSquaresSystem

TRIES = 5  # dampings without momentum where no length lowers the loss, each ten times the one before


class SPRINGState(NamedTuple):
    """momentum: phi of the last step. loss, best, stale, idle: as `judging` has them."""

    momentum: Float[Array, " P"]
    loss: Float[Array, ""]
    best: Float[Array, ""]
    stale: Int[Array, ""]
    idle: Int[Array, ""]


@dataclass(frozen=True)
class SPRING(LeastSquaresOptimizer):
    """phi <- mu phi + J^T (J J^T + c I)^-1 (r - mu J phi), then theta - eta phi, eta the best of 2 .. 2^-10.

    With fewer parameters than residuals (J^T J + c I)^-1 J^T takes the place of J^T (J J^T + c I)^-1.
    momentum: mu. damping: c relative to the mean diagonal of J^T J. Where no eta lowers the loss phi starts anew,
    with c raised tenfold until one does.
    refresh: new points every so many steps.
    patience: ends the run after so many changes of points with no lower loss on new points.
    idle: ends it after so many steps that lower the loss of their own points by less than one part in 10^4.
    tolerance: ends it once the loss on new points is at most this.
    """

    momentum: float = 0.9
    damping: float = 1e-6
    refresh: int = 3
    patience: int = 40
    idle: int = 20
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        owner = type(self).__name__
        real(owner, "momentum", self.momentum, "of at least 0 and below 1", lambda number: 0 <= number < 1)
        real(owner, "damping", self.damping, "above 0", lambda number: number > 0)
        check_rules(self)

    def init(self, theta: Float[Array, " P"]) -> SPRINGState:
        zero, infinity = jnp.zeros((), jnp.int32), jnp.asarray(np.inf, theta.dtype)
        return SPRINGState(jnp.zeros_like(theta), infinity, infinity, zero, zero)

    def step(
        self,
        system: LeastSquaresSystem,
        theta: Float[Array, " P"],
        state: SPRINGState,
        batch: Mapping[str, Any],
        weights: Mapping[str, Any],
    ) -> tuple[Float[Array, " P"], SPRINGState, StepInfo]:
        phases = Phases()
        begun, state = linearized(system, theta, state, batch, weights, phases)
        grid, best, damping = Grid(system, theta, batch, weights), Trial(begun.loss), self.damping
        for attempt in range(1 + TRIES):
            damping = self.damping * 10.0 ** max(attempt - 1, 0)
            carried = self.momentum * state.momentum if attempt == 0 else jnp.zeros_like(theta)
            with phases(SOLVE):
                solve = begun.normal.factor(damping)
                if solve is None:
                    continue
                d = jax.block_until_ready(solve(begun.residual - begun.along(carried)) - carried)
            with phases(TRIALS):
                best = grid.lowest(d, jnp.zeros_like(d), best)
            if best.eta > 0:
                break
        moved = best.eta > 0
        if moved:
            theta = theta + best.eta * best.d
        momentum = -best.d if moved else jnp.zeros_like(theta)
        state = progressed(state._replace(momentum=like(theta, momentum)), best.loss)
        stop = begun.stop(self, theta, state)
        return theta, state, StepInfo(best.loss, moved, stop, damping, best.eta, phases.seconds)
