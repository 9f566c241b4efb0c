"""Self-scaled quasi-Newton methods with a dense inverse Hessian.

Al-Baali, "Numerical experience with a class of self-scaling quasi-Newton algorithms", 1998; for differential equations
Urban, Stefanou & Pons, "Unveiling the optimization process of physics informed neural networks", 2025.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32

from phijax.optimizers.base import LeastSquaresOptimizer, StepInfo
from phijax.optimizers.judging import check_rules, exhausted, half_precision, judged, like, rounding_loss, tolerated
from phijax.optimizers.phases import GRADIENT, SEARCH, UPDATE, Phases
from phijax.optimizers.system import LeastSquaresSystem
from phijax.optimizers.wolfe import Point, strong_wolfe

PARALLEL = 1e-12  # s and H y count as parallel where h b - 1 is not above this: then the class has one member


class QuasiNewtonState(NamedTuple):
    """inverse: H. updates: of H since it was the identity. gradient: at the end of the last step.

    mark: fingerprint of what the loss and the gradient belong to. loss, best, stale: as `judging` has them.
    """

    inverse: Float[Array, "P P"]
    updates: Int[Array, ""]
    gradient: Float[Array, " P"]
    mark: UInt32[Array, ""]
    loss: Float[Array, ""]
    best: Float[Array, ""]
    stale: Int[Array, ""]


class Curvatures(NamedTuple):
    """b = s.B s / s.y and h = y.H y / s.y, with B = H^-1; h b >= 1."""

    b: float
    h: float


@dataclass(frozen=True)
class SelfScaled(LeastSquaresOptimizer):
    """Steps s along -H g to the strong Wolfe conditions (1e-4, 0.9), g the gradient of r.r, and then

    H <- (H - H y y^T H / y.H y + phi v v^T) / tau + s s^T / s.y,  v = sqrt(y.H y) (s / s.y - H y / y.H y),

    with y the change of g. H is kept where points change; it is the identity at first, and again where s.y is not
    positive or where no step along -H g lowers the loss.

    refresh: new points every so many steps.
    patience: ends the run after so many changes of points with no lower loss on new points.
    tolerance: ends it once the loss on new points is at most this.

    A step costs one or two gradients and 4 P^2 operations; H takes P^2 numbers of memory, and so does a checkpoint.
    """

    refresh: int = 200
    patience: int = 20
    tolerance: float = 0.0
    steps: ClassVar[int] = 10_000

    def __post_init__(self) -> None:
        check_rules(self)

    @staticmethod
    @abc.abstractmethod
    def scaling(curvatures: Curvatures, size: int) -> tuple[float, float]:
        """(tau, phi) of an update in `size` dimensions."""

    def init(self, theta: Float[Array, " P"]) -> QuasiNewtonState:
        zero, infinity = jnp.zeros((), jnp.int32), jnp.asarray(np.inf, theta.dtype)
        eye = jnp.eye(theta.size, dtype=theta.dtype)
        return QuasiNewtonState(eye, zero, jnp.zeros_like(theta), jnp.uint32(0), infinity, infinity, zero)

    def step(
        self,
        system: LeastSquaresSystem,
        theta: Float[Array, " P"],
        state: QuasiNewtonState,
        batch: Mapping[str, Any],
        weights: Mapping[str, Any],
    ) -> tuple[Float[Array, " P"], QuasiNewtonState, StepInfo]:
        phases = Phases()
        with phases(GRADIENT):
            known = np.isfinite(state.loss) and system.fingerprint(theta, batch, weights) == state.mark
            loss, gradient = (state.loss, state.gradient) if known else system.value_and_gradient(theta, batch, weights)
        after = judged(state, float(loss), half_precision(theta))
        new, state = after is not state, after
        with phases(UPDATE):
            d = jax.block_until_ready(-(state.inverse @ gradient))
            if not _dot(d, gradient) < 0:
                d, state = -gradient, _restarted(state)
        with phases(SEARCH):
            start = Point(0.0, float(loss), _dot(d, gradient), gradient)
            end = self._search(system, theta, d, start, int(state.updates), batch, weights)
        stuck, moved = None, end.length > 0
        if moved:
            with phases(UPDATE):
                state = self._updated(state, end.length * d, gradient, end)
            theta = theta + end.length * d
        elif int(state.updates):
            state = _restarted(state)
        else:
            stuck = f"No step lowers the loss any more, along the gradient either: {float(loss):.2e}."
        with phases(GRADIENT):
            mark = system.fingerprint(theta, batch, weights)
        state = state._replace(gradient=end.gradient, mark=mark, loss=like(state.loss, end.loss))
        stop = tolerated(new, float(loss), self.tolerance) or exhausted(
            state,
            self.patience,
            stuck,
            lambda: rounding_loss(system.jacobian(theta, batch, weights)[1], theta, system.devices),
        )
        return theta, state, StepInfo(end.loss, moved, stop, step_size=end.length, seconds=phases.seconds)

    def _search(
        self, system: LeastSquaresSystem, theta: Array, d: Array, start: Point, updates: int, batch: Any, weights: Any
    ) -> Point:
        if not start.slope < 0:
            return start  # the gradient is zero

        def at(length: float) -> Point:
            loss, gradient = system.value_and_gradient(theta + length * d, batch, weights)
            return Point(length, float(loss), _dot(gradient, d), gradient)

        # The length along the gradient is unknown: a straight line would take the loss to zero by this one.
        first = 1.0 if updates else min(1.0, -start.loss / start.slope)
        return strong_wolfe(at, start, first)

    def _updated(
        self, state: QuasiNewtonState, s: Float[Array, " P"], before: Float[Array, " P"], end: Point
    ) -> QuasiNewtonState:
        """The state with H after a step s from where the gradient was `before`."""
        y = end.gradient - before
        product = _dot(s, y)
        if not product > half_precision(s) ** 2 * (_dot(s, s) * _dot(y, y)) ** 0.5:
            return _restarted(state)
        turned = state.inverse @ y
        bent = _dot(y, turned)
        # B s = -length g, whatever H is.
        curvatures = Curvatures(b=-end.length * _dot(s, before) / product, h=bent / product)
        if not (curvatures.b > 0 and curvatures.h > 0):
            return _restarted(state)
        tau, phi = self.scaling(curvatures, s.size)
        factors = (jnp.asarray(value, s.dtype) for value in (tau, phi, product, bent))
        inverse = jax.block_until_ready(updated_inverse(state.inverse, s, turned, *factors))
        return state._replace(inverse=inverse, updates=state.updates + 1)


@dataclass(frozen=True)
class SSBFGS(SelfScaled):
    """Self-scaled BFGS: phi = 1, tau = min(1, 1 / b) with b = s.B s / s.y and B = H^-1; the rest as `SelfScaled` has it.

    refresh: new points every so many steps.
    patience: ends the run after so many changes of points with no lower loss on new points.
    tolerance: ends it once the loss on new points is at most this.
    """

    @staticmethod
    def scaling(curvatures: Curvatures, size: int) -> tuple[float, float]:
        return min(1.0, 1 / curvatures.b), 1.0


@dataclass(frozen=True)
class SSBroyden(SelfScaled):
    """Self-scaled update of Broyden's class: tau and phi from b = s.B s / s.y and h = y.H y / s.y, with B = H^-1.

    With a = h b - 1, rho = min(1, h (1 - sqrt(a / (1 + a)))) and theta of the update of B,

    theta = max((rho - 1) / a, min(1 / rho, (1 - b) / b)),  sigma = 1 + theta a,  phi = (1 - theta) / sigma,
    tau = min(1, 1 / b) min(sigma^(-1 / (P - 1)), 1 / theta) for theta > 0, and else
    tau = min(min(1, 1 / b) sigma^(-1 / (P - 1)), sigma).

    These are Al-Baali's, in the form of the program that Urban, Stefanou & Pons published, the second of its three
    rules for theta; what that offers as an option, a scaling of the first H = I, is left out. The rest is as
    `SelfScaled` has it.

    refresh: new points every so many steps.
    patience: ends the run after so many changes of points with no lower loss on new points.
    tolerance: ends it once the loss on new points is at most this.
    """

    @staticmethod
    def scaling(curvatures: Curvatures, size: int) -> tuple[float, float]:
        b, h = curvatures
        a, longest = h * b - 1, min(1.0, 1 / b)
        if a <= PARALLEL:
            return longest, 1.0
        least = min(1.0, h * (1 - (a / (1 + a)) ** 0.5))
        theta = max((least - 1) / a, min(1 / least, (1 - b) / b))
        sigma = 1 + theta * a
        tau = longest * sigma ** (-1 / (size - 1))
        tau = min(tau, longest / theta) if theta > 0 else min(tau, sigma)
        return tau, (1 - theta) / sigma


@jax.jit
def updated_inverse(
    inverse: Float[Array, "P P"],
    s: Float[Array, " P"],
    turned: Float[Array, " P"],
    tau: Float[Array, ""],
    phi: Float[Array, ""],
    product: Float[Array, ""],
    bent: Float[Array, ""],
) -> Float[Array, "P P"]:
    """H after an update. turned: H y. product: s.y. bent: y.H y."""

    def square(u: Array) -> Array:
        return u[:, None] * u[None, :]

    v = jnp.sqrt(bent) * (s / product - turned / bent)
    kept = inverse - square(turned / jnp.sqrt(bent)) + jnp.sign(phi) * square(jnp.sqrt(jnp.abs(phi)) * v)
    return kept / tau + square(s / jnp.sqrt(product))


def _restarted(state: QuasiNewtonState) -> QuasiNewtonState:
    eye = jnp.eye(state.gradient.size, dtype=state.gradient.dtype)
    return state._replace(inverse=eye, updates=jnp.zeros_like(state.updates))


def _dot(a: Array, b: Array) -> float:
    """The inner product, summed in double precision."""
    return float(np.dot(np.asarray(a, np.float64), np.asarray(b, np.float64)))
