"""How a source drives samplers with state: when they refresh, and what is held in between.

A sampler with state has `init(key) -> state` and `sample(state, key, n) -> (state, points)`. With a `period` it is
asked only at steps divisible by it. With `update(state, residuals) -> state` it is adaptive: it is told the magnitudes
of the residual, on the points of `pool(state, key, n) -> (state, points)` before it samples, or, where it has no `pool`,
on the points that it gave.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

Magnitude = Callable[[Any], Float[Array, "n"]]


class Drawn(NamedTuple):
    """State of one sampler in a run: its own, and the points that it gave last."""

    own: Any
    points: Any


def begin(sampler: Any, key: PRNGKeyArray, n: int, own: Any = None) -> Drawn:
    """A state with valid points, as if all residuals were equal. own: the sampler's state, a new one where None."""
    first, second = jax.random.split(key)
    return _refreshed(sampler, sampler.init(first) if own is None else own, second, n, _ones)


def proposed(sampler: Any, key: PRNGKeyArray, n: int) -> Any:
    """The points on which a sampler with a pool is first told the residuals."""
    first, second = jax.random.split(key)
    return sampler.pool(sampler.init(first), second, n)[1]


def advance(
    sampler: Any, state: Drawn, key: PRNGKeyArray, step: Any, n: int, magnitude: Magnitude | None
) -> tuple[Drawn, Any]:
    """The state after `step`, and the step's points."""
    if magnitude is None and hasattr(sampler, "update"):
        raise ValueError("an adaptive sampler needs the residuals of the current model; pass them to `draw`.")
    refresh = lambda: _refreshed(sampler, state.own, key, n, magnitude or _ones)
    period = getattr(sampler, "period", 1)
    after = refresh() if period == 1 else jax.lax.cond(step % period == 0, refresh, lambda: state)
    return after, after.points


def _refreshed(sampler: Any, own: Any, key: PRNGKeyArray, n: int, magnitude: Magnitude) -> Drawn:
    if not hasattr(sampler, "pool"):
        own, points = sampler.sample(own, key, n)
        return Drawn(sampler.update(own, magnitude(points)) if hasattr(sampler, "update") else own, points)
    pool_key, pick_key = jax.random.split(key)
    own, candidates = sampler.pool(own, pool_key, n)
    own = sampler.update(own, magnitude(candidates))
    return Drawn(*sampler.sample(own, pick_key, n))


def _ones(points: Any) -> Float[Array, "n"]:
    leaf = jax.tree.leaves(points)[0]
    return jnp.ones(leaf.shape[:1], leaf.dtype)
