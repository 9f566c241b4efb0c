"""Judging: whether a run still gets anywhere, by the loss on new points and by what its steps gain.

A state that is judged is a NamedTuple of arrays with `loss`, after the last step; `best`, the lowest loss seen on points
while they were new; `stale`, changes of points since then; and `idle`, steps since the loss last fell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from phijax._devices import ONE_DEVICE, Devices
from phijax._options import real, whole

State = TypeVar("State", bound=Any)


def check_rules(optimizer: Any) -> None:
    """ValueError for options out of range among those that say when points change and when a run ends."""
    owner = type(optimizer).__name__
    for name, least in (("refresh", 0), ("patience", 1), ("idle", 1)):
        if hasattr(optimizer, name):
            whole(owner, name, getattr(optimizer, name), least=least)
    real(owner, "tolerance", optimizer.tolerance, "of at least 0", lambda number: number >= 0)


def judged(state: State, loss: float, same: float) -> State:
    """The state once the loss on the points at hand is known; itself where they are those of the step before.

    same: relative difference of losses up to which they are.
    """
    known = float(state.loss)
    if np.isfinite(known) and abs(loss - known) <= same * known:
        return state
    lower = loss < 0.95 * float(state.best)
    return state._replace(
        loss=like(state.loss, loss),
        best=like(state.best, loss) if lower else state.best,
        stale=like(state.stale, 0 if lower else state.stale + 1),
    )


def progressed(state: State, loss: float) -> State:
    """The state after a step to `loss`: a fall by less than one part in 10^4 is an idle step."""
    fell = loss < (1 - 1e-4) * float(state.loss)
    return state._replace(loss=like(state.loss, loss), idle=like(state.idle, 0 if fell else state.idle + 1))


def tolerated(new: bool, loss: float, tolerance: float) -> str | None:
    """A sentence where the loss on new points is within the tolerance."""
    if new and loss <= tolerance:
        return f"The loss on new points is {loss:.2e}, within the tolerance of {tolerance:.1e}."
    return None


def exhausted(state: Any, patience: int, stuck: str | None, rounding: Callable[[], float]) -> str | None:
    """A sentence where a run ends: by rounding, on new points that gain nothing, or by `stuck`, else None.

    stuck: what the optimizer says of steps that fail, None while they do not. rounding: a loss made of it.
    """
    stale, loss = int(state.stale), float(state.loss)
    if stale < patience and stuck is None:
        return None
    if loss <= rounding():
        return f"The precision of {state.loss.dtype} is reached: a loss of {loss:.2e} is made of rounding errors."
    if stale >= patience:
        return f"The loss on new points no longer falls: {float(state.best):.2e}, {stale} changes of points ago."
    return stuck


def idled(state: Any, idle: int) -> str | None:
    """A sentence where so many steps in a row were idle."""
    if int(state.idle) < idle:
        return None
    return f"No step lowers the loss any more: {float(state.loss):.2e} for {int(state.idle)} steps."


def rounding_loss(jacobian: Float[Array, "N P"], theta: Float[Array, " P"], devices: Devices = ONE_DEVICE) -> float:
    """A loss below which rounding decides: 100 units in the last place of every parameter's share of r."""
    unit = float(jnp.finfo(theta.dtype).eps)
    return float((100 * unit) ** 2 * devices.jit(_squares)(jacobian, theta))


def _squares(jacobian: Float[Array, "N P"], theta: Float[Array, " P"]) -> Float[Array, ""]:
    return jnp.sum((jacobian * theta[None, :]) ** 2)


def half_precision(theta: Array) -> float:
    """Relative difference of half the digits of the parameters' format."""
    return float(jnp.finfo(theta.dtype).eps) ** 0.5


def like(old: Array, value: Any) -> Array:
    """`value` as an array of the dtype of `old`."""
    return jnp.asarray(value, old.dtype)
