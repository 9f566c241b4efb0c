"""Weights that stay as they were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp

from phijax._options import did_you_mean, real

from .base import BalancerState, LossBalancer, Scalars


@dataclass(frozen=True, init=False, repr=False)
class Static(LossBalancer):
    """Constant weights: finite, not negative, 1 where nothing is said.

    weights: factor of the loss by term, "flow/continuity", or by constraint, "flow", for all of its terms; a term's
        own name is the stronger.
    """

    factors: Mapping[str, float]
    every: ClassVar[int] = 0
    refresh: ClassVar[bool] = False

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        if weights is not None and not isinstance(weights, Mapping):
            raise ValueError(f'Static: weights={weights!r} must go by name, such as {{"walls": 10.0}}.')
        object.__setattr__(self, "factors", {name: _factor(name, value) for name, value in (weights or {}).items()})

    def __repr__(self) -> str:
        return f"Static(weights={self.factors!r})"

    def __hash__(self) -> int:
        return hash(frozenset(self.factors.items()))

    def initialize(self, terms: Sequence[str] = ()) -> BalancerState:
        """The given weights on these terms. ValueError for a name that is no term and no constraint."""
        known = {*terms, *map(_constraint, terms)}
        for name in self.factors if terms else ():
            if name not in known:
                raise ValueError(f"Static: no loss term is named {name!r}. {did_you_mean(name, known)}")
        return BalancerState({term: jnp.asarray(self._of(term), jnp.zeros(()).dtype) for term in terms}, {})

    def diagnostics(self, params: Any, *, losses: Any, residuals: Any) -> Scalars:
        """Nothing."""
        return {}

    def update(
        self, state: BalancerState, losses: Scalars, diagnostics: Scalars, *, key: Any, step: Any
    ) -> BalancerState:
        """The same state."""
        return state

    def to_config(self) -> dict[str, Any]:
        """{"kind": "Static", "weights": {name: factor}}."""
        return {"kind": "Static", "weights": dict(self.factors)}

    def _of(self, term: str) -> float:
        return self.factors.get(term, self.factors.get(_constraint(term), 1.0))


def _constraint(term: str) -> str:
    return term.split("/", 1)[0]


def _factor(name: str, value: float) -> float:
    return real("Static", f"weights[{name!r}]", value, "of at least 0", lambda factor: factor >= 0.0)
