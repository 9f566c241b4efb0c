"""Weights by the progress of the losses since the start and since the last update, with random lookback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phijax._options import real, whole

from .base import BalancerState, LossBalancer, Scalars, stacked, unit_weights, unstacked


@dataclass(frozen=True)
class ReLoBRaLo(LossBalancer):
    """Relative loss balancing with random lookback (Bischof & Kraus, 2021), for m terms:

        balance_i(s) = m exp(L_i(t) / (T L_i(s))) / sum_j exp(L_j(t) / (T L_j(s)))
        history_i    = r weight_i + (1 - r) balance_i(0),      r one with probability rho, else zero
        weight_i    <- alpha history_i + (1 - alpha) balance_i(t - 1)

    Times are updates of the balancer. Weights have mean one.

    temperature: T, above 0; small makes the slowest term take all.
    alpha: share of the history, from 0 to 1. rho: how often the lookback stays at the present weights, from 0 to 1.
    every: steps from one update to the next, at least 1.

    A loss that was zero counts as unchanged since then.
    """

    temperature: float = 0.1
    alpha: float = 0.999
    rho: float = 0.999
    every: int = 1
    refresh: ClassVar[bool] = False

    def __post_init__(self) -> None:
        temperature = real("ReLoBRaLo", "temperature", self.temperature, "above 0", lambda t: t > 0.0)
        object.__setattr__(self, "temperature", temperature)
        for name in ("alpha", "rho"):
            share = real("ReLoBRaLo", name, getattr(self, name), "from 0 to 1", lambda share: 0.0 <= share <= 1.0)
            object.__setattr__(self, name, share)
        object.__setattr__(self, "every", whole("ReLoBRaLo", "every", self.every, least=1))

    def initialize(self, terms: Sequence[str] = ()) -> BalancerState:
        """Weights of one, and no loss seen yet."""
        memory = {"first": unit_weights(terms), "previous": unit_weights(terms), "seen": jnp.zeros((), bool)}
        return BalancerState(unit_weights(terms), memory)

    def diagnostics(self, params: Any, *, losses: Any, residuals: Any) -> Scalars:
        """Nothing."""
        return {}

    def update(
        self, state: BalancerState, losses: Scalars, diagnostics: Scalars, *, key: PRNGKeyArray, step: Any
    ) -> BalancerState:
        """The rule above, from the losses of this update, the one before and the first; `key` draws the lookback."""
        names = sorted(state.weights)
        seen, present, now = state.memory["seen"], stacked(state.weights, names), stacked(losses, names)
        first = jnp.where(seen, stacked(state.memory["first"], names), now)
        previous = jnp.where(seen, stacked(state.memory["previous"], names), now)
        stay = jax.random.bernoulli(key, self.rho)
        history = jnp.where(stay, present, self._balance(now, first))
        weights = self.alpha * history + (1.0 - self.alpha) * self._balance(now, previous)
        memory = {
            "first": dict(zip(names, first, strict=True)),
            "previous": dict(zip(names, now, strict=True)),
            "seen": jnp.ones((), bool),
        }
        return BalancerState(unstacked(weights, names, state), memory)

    def _balance(self, now: Float[Array, " m"], then: Float[Array, " m"]) -> Float[Array, " m"]:
        bound = jnp.sqrt(jnp.finfo(now.dtype).max)  # where a loss was next to zero
        ratio = jnp.where(then > 0.0, jnp.minimum(now / jnp.where(then > 0.0, then, 1.0), bound), 1.0)
        return now.size * jax.nn.softmax(ratio / self.temperature)
