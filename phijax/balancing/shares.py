"""Weights that are inverse to a measure of each term: what GradNorm and NTK share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from phijax._options import flag, real, whole

from .base import BalancerState, LossBalancer, Scalars, stacked, unit_weights, unstacked


@dataclass(frozen=True)
class InverseBalancer(LossBalancer):
    """weight <- smoothing x weight + (1 - smoothing) x total / measure, where `diagnostics` gives the measures.

    The total is the mean of the measures or their sum, and the target is at most `largest`. A term whose measure is
    zero or not finite is not counted and keeps its weight.
    """

    every: int
    smoothing: float
    refresh: bool
    largest: float
    mean: ClassVar[bool]

    def __post_init__(self) -> None:
        owner = type(self).__name__
        options = {
            "every": whole(owner, "every", self.every, least=1),
            "smoothing": real(owner, "smoothing", self.smoothing, "from 0 to below 1", lambda s: 0.0 <= s < 1.0),
            "refresh": flag(owner, "refresh", self.refresh),
            "largest": real(owner, "largest", self.largest, "of at least 1", lambda bound: bound >= 1.0),
        }
        for name, value in options.items():
            object.__setattr__(self, name, value)

    def initialize(self, terms: Sequence[str] = ()) -> BalancerState:
        """Weights of one."""
        return BalancerState(unit_weights(terms), {})

    def update(
        self, state: BalancerState, losses: Scalars, diagnostics: Scalars, *, key: Any, step: Any
    ) -> BalancerState:
        """Moves the weights towards total over own measure."""
        names = sorted(state.weights)
        present, measure = stacked(state.weights, names), stacked(diagnostics, names)
        ok = usable(measure)
        total = jnp.sum(jnp.where(ok, measure, 0.0))
        total = total / jnp.maximum(jnp.sum(ok), 1) if self.mean else total
        target = jnp.where(ok, jnp.minimum(total / jnp.where(ok, measure, 1.0), self.largest), present)
        moved = self.smoothing * present + (1.0 - self.smoothing) * target
        return state._replace(weights=unstacked(moved, names, state))


def usable(measure: Float[Array, " terms"]) -> Bool[Array, " terms"]:
    """Which terms can be balanced: those with a finite measure above zero."""
    return jnp.isfinite(measure) & (measure > 0.0)
