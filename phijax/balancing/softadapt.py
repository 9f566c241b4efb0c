"""Weights by the rates at which the losses change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp

from phijax._options import flag, real, whole

from .base import BalancerState, LossBalancer, Scalars, stacked, unit_weights, unstacked


@dataclass(frozen=True)
class SoftAdapt(LossBalancer):
    """Softmax of the rates of change (Heydari, Thompson & Mehmood, 2019): weight_i <- exp(beta s_i) / sum_j exp(beta s_j).

    s_i is the change of loss i since the last update (one difference, the paper's shortest history). Weights sum to
    one and begin equal.

    beta: above 0 favours the terms that fall slowest, below 0 those that fall fastest.
    normalized: s_i over sum_j |s_j|, so that beta does not depend on the size of the losses.
    loss_weighted: each exponential is multiplied by its loss.
    every: steps from one update to the next, at least 1.

    Where all losses are zero, `loss_weighted` has no effect.
    """

    beta: float = 0.1
    normalized: bool = True
    loss_weighted: bool = False
    every: int = 10
    refresh: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", real("SoftAdapt", "beta", self.beta))
        flag("SoftAdapt", "normalized", self.normalized)
        flag("SoftAdapt", "loss_weighted", self.loss_weighted)
        object.__setattr__(self, "every", whole("SoftAdapt", "every", self.every, least=1))

    def initialize(self, terms: Sequence[str] = ()) -> BalancerState:
        """Equal weights of sum one, and no loss seen yet."""
        weights = {term: one / len(terms) for term, one in unit_weights(terms).items()}
        return BalancerState(weights, {"previous": unit_weights(terms), "seen": jnp.zeros((), bool)})

    def diagnostics(self, params: Any, *, losses: Any, residuals: Any) -> Scalars:
        """Nothing."""
        return {}

    def update(
        self, state: BalancerState, losses: Scalars, diagnostics: Scalars, *, key: Any, step: Any
    ) -> BalancerState:
        """The rule above; at the first update all rates are zero."""
        names = sorted(state.weights)
        now = stacked(losses, names)
        rate = jnp.where(state.memory["seen"], now - stacked(state.memory["previous"], names), 0.0)
        if self.normalized:
            size = jnp.sum(jnp.abs(rate))
            rate = jnp.where(size > 0.0, rate / jnp.where(size > 0.0, size, 1.0), 0.0)
        exponent = self.beta * rate
        share = jnp.exp(exponent - jnp.max(exponent))
        if self.loss_weighted:
            weighted = now * share
            share = jnp.where(jnp.sum(weighted) > 0.0, weighted, share)
        memory = {"previous": dict(zip(names, now, strict=True)), "seen": jnp.ones((), bool)}
        return BalancerState(unstacked(share / jnp.sum(share), names, state), memory)
