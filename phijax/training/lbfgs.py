"""L-BFGS in the compiled loop: recognise it, and know when its line search has reached rounding."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float

_LBFGS = optax.ScaleByLBFGSState
_T = TypeVar("_T")


def is_lbfgs(opt_state: Any) -> bool:
    """Whether a state (of arrays or of shapes) holds optax's L-BFGS."""
    return _find(opt_state, _LBFGS) is not None


def _find(tree: Any, kind: type[_T] | tuple[type[_T], ...]) -> _T | None:
    nodes = jax.tree.leaves(tree, is_leaf=lambda node: isinstance(node, kind))
    return next((node for node in nodes if isinstance(node, kind)), None)


class Watched(NamedTuple):
    """Optimizer state of L-BFGS with the loss at the start of its last step."""

    inner: Any
    loss: Float[Array, ""]


def watched(opt_state: Any) -> Any:
    """A fresh optimizer state, of L-BFGS as a `Watched`."""
    return Watched(opt_state, jnp.asarray(jnp.inf)) if is_lbfgs(opt_state) else opt_state


def judged(
    optimizer: optax.GradientTransformation,
    state: Watched,
    params: Any,
    loss: Float[Array, ""],
    same: Bool[Array, ""],
) -> tuple[Any, Bool[Array, ""]]:
    """(L-BFGS's own state for the step at hand, whether the stage has stalled).

    loss: at `params`, now. same: whether points and weights are those of the last step, so that losses compare.
    Where the last step has not lowered the loss by more than rounding, the curvature memory is dropped; where that
    step was already the first without memory, along the gradient, the stage has stalled. The line search's own value
    is no measure: it is compiled apart, and differs by rounding at the very same parameters.
    """
    memory = _find(state.inner, _LBFGS)
    assert memory is not None
    rounding = jnp.finfo(loss.dtype).eps * jnp.abs(loss)
    no_gain = same & ~(loss < state.loss - rounding)
    stalled = no_gain & (jnp.asarray(memory.count) <= 1)

    def restart() -> Any:
        return jax.tree.map(lambda leaf, like: jnp.asarray(leaf, like.dtype), optimizer.init(params), state.inner)

    return jax.lax.cond(no_gain & ~stalled, restart, lambda: state.inner), stalled
