"""Linear least squares: where residuals are linear in the parameters, one step is the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from phijax._options import real
from phijax.optimizers.base import LeastSquaresOptimizer, StepInfo
from phijax.optimizers.normal import one_thread
from phijax.optimizers.phases import JACOBIAN, SOLVE, TRIALS, Phases
from phijax.optimizers.system import LeastSquaresSystem

# How far the residual may miss what a linear one gives: a part of it at the start, and units in the last place of the sums
# of coefficients, which cost digits where these are large.
LINEAR, DIGITS = 1e-6, 100.0
# Part of the loss at the start up to which equations are said to be solved, and not only to be met on average.
SOLVED = 1e-6


class LinearState(NamedTuple):
    """taken: steps. before, after: the loss on the points of the solve. rank: directions told apart."""

    taken: Int[Array, ""]
    before: Float[Array, ""]
    after: Float[Array, ""]
    rank: Int[Array, ""]


@dataclass(frozen=True)
class LinearLeastSquares(LeastSquaresOptimizer):
    """The least-squares solution of smallest norm, by a complete orthogonal factorization of the Jacobian.

    Normal equations would square its condition number, and stop at half of the digits (Golub & Van Loan 2013, section 5.3).
    The first step solves; the second, on new points, only looks at what it has reached, and ends the run.
    cutoff: singular directions below this part of the largest are left out; None takes ten units in the last place.
    Raises ValueError where the residual turns out not to be linear in the parameters.
    """

    cutoff: float | None = None

    refresh = 1
    steps = 2

    def __post_init__(self) -> None:
        if self.cutoff is not None:
            real("LinearLeastSquares", "cutoff", self.cutoff, "from 0 to below 1", lambda value: 0 <= value < 1)

    def init(self, theta: Float[Array, " P"]) -> LinearState:
        zero = jnp.zeros((), theta.dtype)
        return LinearState(jnp.int32(0), zero, zero, jnp.int32(0))

    def step(
        self,
        system: LeastSquaresSystem,
        theta: Float[Array, " P"],
        state: LinearState,
        batch: Mapping[str, Any],
        weights: Mapping[str, Any],
    ) -> tuple[Float[Array, " P"], LinearState, StepInfo]:
        phases = Phases()
        if int(state.taken):
            with phases(TRIALS):
                new = _loss(system, theta, batch, weights)
            return theta, state._replace(taken=state.taken + 1), StepInfo(new, False, _sentence(state, new))
        with phases(JACOBIAN):
            r, jacobian = jax.block_until_ready(system.jacobian(theta, batch, weights))
        with phases(SOLVE):
            d, rank, predicted, slack = self._solved(np.asarray(system.devices.whole(jacobian)), np.asarray(r))
        theta = theta + jnp.asarray(d, theta.dtype)
        with phases(TRIALS):
            found = np.asarray(system.residual(theta, batch, weights))
        before, loss = float(jnp.sum(r**2)), float(np.sum(found**2))
        if not np.linalg.norm(found - predicted) <= slack:
            expected = float(np.sum(predicted**2))
            raise ValueError(
                f"LinearLeastSquares: the residual is not linear in the parameters: a loss of {expected:.2e} was to be expected "
                f"and {loss:.2e} was found; take GaussNewton, or a network with linear parameters such as RandomFeatures."
            )
        solved = LinearState(
            jnp.int32(1), jnp.asarray(before, theta.dtype), jnp.asarray(loss, theta.dtype), jnp.int32(rank)
        )
        return theta, solved, StepInfo(loss, True, seconds=phases.seconds)

    def _solved(self, jacobian: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, int, np.ndarray, float]:
        """(step, rank, residual after it, how far that may be off)."""
        from scipy.linalg import lstsq

        cutoff = 10 * np.finfo(r.dtype).eps if self.cutoff is None else self.cutoff
        with one_thread():
            found: Any = lstsq(jacobian, -r, cond=cutoff, lapack_driver="gelsy", check_finite=False)
        d, _, rank, _ = found
        rounding = np.finfo(r.dtype).eps * np.linalg.norm(np.linalg.norm(jacobian, axis=0) * d)
        return d, int(rank), r + jacobian @ d, float(LINEAR * np.linalg.norm(r) + DIGITS * math.sqrt(len(d)) * rounding)


def _loss(system: LeastSquaresSystem, theta: Array, batch: Mapping[str, Any], weights: Mapping[str, Any]) -> float:
    return float(jnp.sum(system.residual(theta, batch, weights) ** 2))


def _sentence(state: LinearState, new: float) -> str:
    before, after, rank = float(state.before), float(state.after), int(state.rank)
    how = "" if new <= SOLVED * before else " in the sense of least squares alone"
    return (
        f"The linear problem is solved{how}: the loss fell from {before:.1e} to {after:.1e}, and is {new:.1e} on new points; "
        f"{rank} directions were told apart."
    )
