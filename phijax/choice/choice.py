"""Choice: everything that decides a run, and the sentences that say why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from phijax.balancing import Causal, LossBalancer
from phijax.training.slabs import Slabs

# How a problem is solved: by a trained network, or by random features. The latter two are left to trials before the run:
# whether random features will do, and which scale they take.
NETWORK, RANDOM_FEATURES = "network", "random_features"
TO_BE_TRIED, TO_BE_SCALED = "random_features to be tried", "random_features to be scaled"
TO_BE_TRIED_ONCE = "random_features to be tried, without a second look"


@dataclass(frozen=True)
class Choice:
    """Everything that decides a run, apart from the problem and the seed.

    method: how, or what trials are still to settle. scales: sizes of the networks' outputs by field.
    adaptive: constraints whose points follow the residual. slabs: how time is cut, None where it is taken as a whole.
    causal: weights of points by their time, None for none.
    rows: points whose gradient is taken together, "tune" to measure, None by rule. reasons: one sentence a decision.
    """

    precision: str
    network: Any
    points: Mapping[str, int]
    optimizer: Any
    balancer: LossBalancer
    max_steps: int
    scales: Mapping[str, float] | None = None
    adaptive: tuple[str, ...] = ()
    slabs: Slabs | None = None
    rows: Any = None
    causal: Causal | None = None
    reasons: tuple[str, ...] = field(default=())
    method: str = NETWORK

    def because(self, reason: str, **settled: Any) -> Choice:
        """This choice with more settled, and why."""
        return replace(self, **settled, reasons=(*self.reasons, reason))
