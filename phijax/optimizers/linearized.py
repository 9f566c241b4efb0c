"""Where a least-squares step begins: residuals, Jacobian and normal equations, and what they say of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phijax._devices import Devices
from phijax.optimizers.judging import exhausted, half_precision, idled, judged, rounding_loss, tolerated
from phijax.optimizers.normal import NormalEquations
from phijax.optimizers.phases import GRAM, JACOBIAN, Phases
from phijax.optimizers.system import LeastSquaresSystem


@dataclass(frozen=True)
class Linearized:
    """residual: r at the parameters. loss: r.r. normal: equations of J. new: whether these are the first of new points."""

    residual: Float[Array, " N"]
    jacobian: Float[Array, "N P"]
    loss: float
    normal: NormalEquations
    new: bool
    devices: Devices

    def along(self, v: Float[Array, " P"]) -> Float[Array, " N"]:
        """J v."""
        return self.devices.jit(jnp.matmul)(self.jacobian, v)

    def stop(self, optimizer: Any, theta: Float[Array, " P"], state: Any, stuck: str | None = None) -> str | None:
        """The sentence with which the run ends after the step, else None. stuck: what a step that failed says."""
        return tolerated(self.new, self.loss, optimizer.tolerance) or exhausted(
            state,
            optimizer.patience,
            stuck or idled(state, optimizer.idle),
            lambda: rounding_loss(self.jacobian, theta, self.devices),
        )


def linearized(
    system: LeastSquaresSystem,
    theta: Float[Array, " P"],
    state: Any,
    batch: Mapping[str, Any],
    weights: Mapping[str, Any],
    phases: Phases,
    judge: Callable[[Any, float, float], Any] = judged,
) -> tuple[Linearized, Any]:
    """(what a step starts from, the state once the loss on the points at hand is judged)."""
    with phases(JACOBIAN):
        r, jacobian = jax.block_until_ready(system.jacobian(theta, batch, weights))
    loss = float(jnp.sum(r**2))
    after = judge(state, loss, half_precision(theta))
    with phases(GRAM):
        normal = NormalEquations(jacobian, system.devices)
    return Linearized(r, jacobian, loss, normal, after is not state, system.devices), after
