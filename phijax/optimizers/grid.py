"""Grid: the best of step lengths 2, 1, 1/2 .. 2^-10 along a direction, by the true loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from phijax.optimizers.system import LeastSquaresSystem

STEPS = 2.0 ** -np.arange(-1, 11)
GROUP = 3  # steps whose losses are taken in one call
STRAIGHT_BELOW = 0.1  # steps so short that the correction itself is in doubt


class Trial(NamedTuple):
    """A point theta + eta d + eta^2 a / 2 and its loss; eta = 0 stands for theta itself."""

    loss: float
    eta: float = 0.0
    d: Any = None
    a: Any = None


class Grid(NamedTuple):
    """Losses along a direction, on the points of one step."""

    system: LeastSquaresSystem
    theta: Float[Array, " P"]
    batch: Any
    weights: Any

    def best(self, d: Array, a: Array, than: Trial) -> Trial:
        """The lowest loss along the parabola, and along the straight line where only short steps succeed."""
        trial = self.lowest(d, a, than)
        if trial.eta >= STRAIGHT_BELOW:
            return trial
        return self.lowest(d, jnp.zeros_like(d), trial)

    def lowest(self, d: Array, a: Array, than: Trial) -> Trial:
        """The lowest loss along one of them; goes to shorter steps only as long as they may still be better."""
        for first in range(0, len(STEPS), GROUP):
            steps = STEPS[first : first + GROUP]
            losses = np.asarray(
                self.system.losses_along(self.theta, d, a, jnp.asarray(steps, d.dtype), self.batch, self.weights)
            )
            losses = np.where(np.isfinite(losses), losses, np.inf)
            lowest = int(losses.argmin())
            if losses[lowest] < than.loss:
                than = Trial(float(losses[lowest]), float(steps[lowest]), d, a)
            if than.eta > steps[-1]:
                break
        return than
