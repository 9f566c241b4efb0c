"""Feed: batches for the steps of one stage, new at every step or held for several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

Residuals = Callable[[str, Any], Array]


class FunctionSource(eqx.Module):
    """A hand-written `source(step) -> batch`, with no state."""

    function: Callable[[Any], Any]
    stateful: bool = eqx.field(static=True, default=False)

    def init(self) -> dict:
        return {}

    def draw(self, state: dict, step: Int[Array, ""], residuals: Residuals) -> tuple[dict, Any]:
        return state, self.function(step)


def as_source(source: Any) -> Any:
    """A batch source as the Trainer uses it. TypeError for what is none."""
    if all(hasattr(source, name) for name in ("init", "draw", "stateful")):
        return source
    if callable(source):
        return FunctionSource(source)
    raise TypeError(
        f"train_batch_source gave {type(source).__name__}, which is no batch source: return a NamedBatchSource or a "
        "jittable function source(step) -> {name: batch}."
    )


class Held(NamedTuple):
    """Sampler state where the batch itself is held: it depends on the model of the step that drew it."""

    source: Any
    batch: Any


@dataclass(frozen=True)
class Feed:
    """New points at the first step of a stage and where the global step divides by `hold`; 0 never again.

    Without sampler state the held batch is drawn anew from its own step, so nothing is stored; with it the batch is
    part of the state.
    """

    hold: int

    def begins(self, step: Any, start: Any) -> Any:
        """Whether `step` draws new points."""
        first = step == start
        return first | (step % self.hold == 0) if self.hold else first

    def adopt(self, source: Any, sampler_state: Any, start: int) -> Any:
        """Sampler state for the stage that begins at `start`, from that of the stage before it."""
        own = sampler_state.source if isinstance(sampler_state, Held) else sampler_state
        if not source.stateful or self.hold == 1:
            return own
        shapes = jax.eval_shape(lambda: source.draw(own, jnp.int32(start), _unit)[1])
        return Held(own, jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes))

    def draw(self, source: Any, state: Any, step: Array, start: Array, residuals: Residuals) -> tuple[Any, Any]:
        """(sampler state, batch) of `step`."""
        if self.hold == 1:
            return source.draw(state, step, residuals)
        if not source.stateful:
            drawn = jnp.maximum(start, step - step % self.hold) if self.hold else start
            return source.draw(state, drawn, residuals)

        def new() -> Held:
            return Held(*source.draw(state.source, step, residuals))

        state = jax.lax.cond(self.begins(step, start), new, lambda: state)
        return state, state.batch


def _unit(name: str, batch: Any) -> Array:
    """Residual magnitudes of one, where no model is to be asked."""
    return jnp.ones(jax.tree.leaves(batch)[0].shape[0])


def unseen(source: Any, state: Any, step: Any) -> Any:
    """The batch at `step` on which a run is judged: points of no step before, where the source can give such."""
    if hasattr(source, "unseen"):
        return source.unseen(step)
    return unadapted(source, state.source if isinstance(state, Held) else state, step)


def unadapted(source: Any, state: Any, step: Any) -> Any:
    """The batch that `source` gives at `step` where no model steers it."""
    return source.draw(state, step, _unit)[1]
