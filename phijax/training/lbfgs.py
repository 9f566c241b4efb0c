"""L-BFGS in the compiled loop: recognise it, and know when its line search has reached rounding."""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float

_LBFGS = optax.ScaleByLBFGSState
_SEARCHES = (optax.ScaleByZoomLinesearchState, optax.ScaleByBacktrackingLinesearchState)
_T = TypeVar("_T")


def is_lbfgs(opt_state: Any) -> bool:
    """Whether a state (of arrays or of shapes) holds optax's L-BFGS."""
    return _find(opt_state, _LBFGS) is not None


def _find(tree: Any, kind: type[_T] | tuple[type[_T], ...]) -> _T | None:
    nodes = jax.tree.leaves(tree, is_leaf=lambda node: isinstance(node, kind))
    return next((node for node in nodes if isinstance(node, kind)), None)


def settle(
    optimizer: optax.GradientTransformation,
    before: tuple[Any, Float[Array, ""]],
    after: tuple[Any, Any],
) -> tuple[Any, Any, Bool[Array, ""]]:
    """(params, opt_state, stalled) of an L-BFGS step from `before` (params, loss) to `after` (params, opt_state).

    A step that lowers the loss by no more than rounding is taken back where it raised it, and the curvature memory
    is dropped once; when the very next step, along the gradient, fares no better, the stage has stalled.
    """
    params, loss = before
    new_params, new_state = after
    search = _find(new_state, _SEARCHES)
    memory = _find(new_state, _LBFGS)
    if search is None or memory is None:
        return new_params, new_state, jnp.zeros((), bool)
    rounding = jnp.finfo(loss.dtype).eps * jnp.abs(loss)
    no_gain = ~(search.value < loss - rounding)
    stalled = no_gain & (jnp.asarray(memory.count) <= 1)

    better = search.value < loss
    kept = jax.tree.map(lambda new, old: jnp.where(better, new, old), new_params, params)

    def restart() -> Any:
        return jax.tree.map(lambda leaf, like: jnp.asarray(leaf, like.dtype), optimizer.init(kept), new_state)

    return kept, jax.lax.cond(no_gain & ~stalled, restart, lambda: new_state), stalled
