"""Weights that are inverse to a measure of each term: what GradNorm and NTK share."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from phijax._options import flag, real, whole

from .base import BalancerState, Scalars, stacked, unstacked


def check_options(balancer: Any) -> None:
    """Checks `every`, `smoothing`, `refresh` and `largest` of a frozen balancer, and stores them as plain numbers."""
    owner = type(balancer).__name__
    options = {
        "every": whole(owner, "every", balancer.every, least=1),
        "smoothing": real(owner, "smoothing", balancer.smoothing, "from 0 to below 1", lambda s: 0.0 <= s < 1.0),
        "refresh": flag(owner, "refresh", balancer.refresh),
        "largest": real(owner, "largest", balancer.largest, "of at least 1", lambda bound: bound >= 1.0),
    }
    for name, value in options.items():
        object.__setattr__(balancer, name, value)


def usable(measure: Float[Array, " terms"]) -> Bool[Array, " terms"]:
    """Which terms can be balanced: those with a finite measure above zero."""
    return jnp.isfinite(measure) & (measure > 0.0)


def balanced(state: BalancerState, measures: Scalars, *, mean: bool, smoothing: float, largest: float) -> BalancerState:
    """weight <- smoothing x weight + (1 - smoothing) x total / measure, with total the mean or the sum of the measures.

    The target is at most `largest`. A term whose measure is zero or not finite is not counted and keeps its weight.
    """
    names = sorted(state.weights)
    present, measure = stacked(state.weights, names), stacked(measures, names)
    ok = usable(measure)
    total = jnp.sum(jnp.where(ok, measure, 0.0))
    total = total / jnp.maximum(jnp.sum(ok), 1) if mean else total
    target = jnp.where(ok, jnp.minimum(total / jnp.where(ok, measure, 1.0), largest), present)
    return state._replace(weights=unstacked(smoothing * present + (1.0 - smoothing) * target, names, state))
