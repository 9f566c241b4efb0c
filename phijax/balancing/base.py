"""Loss balancers: the contract, the state, and the weighted sum."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from phijax._options import did_you_mean, to_config

Params = Any
Scalars = dict[str, Float[Array, ""]]


class BalancerState(NamedTuple):
    """weights: factor of each loss term, by name. memory: what else the balancer keeps, arrays by name."""

    weights: Scalars
    memory: dict[str, Any]


class LossBalancer(abc.ABC):
    """Weights of the loss terms, constant or adapted; a frozen dataclass, its changing part a `BalancerState`.

    every: steps from one update to the next; 0 means never.
    refresh: whether diagnostics have a new batch at each update, in place of one for the whole run.
    """

    every: int
    refresh: bool

    @abc.abstractmethod
    def initialize(self, terms: Sequence[str] = ()) -> BalancerState:
        """The state at the start for these loss terms; without terms, one that is bound to them later."""

    @abc.abstractmethod
    def diagnostics(
        self,
        params: Params,
        *,
        losses: Callable[[Params], Scalars],
        residuals: Callable[[Params], dict[str, Float[Array, " n"]]],
    ) -> Scalars:
        """What `update` needs to know beyond the losses, by term; {} if nothing. Pure.

        losses, residuals: of the parameters, by term, on the diagnostic batch. `residuals` may be a
        `RowwiseResiduals`, whose rows are differentiated one by one.
        """

    @abc.abstractmethod
    def update(
        self,
        state: BalancerState,
        losses: Scalars,
        diagnostics: Scalars,
        *,
        key: PRNGKeyArray,
        step: Int[Array, ""],
    ) -> BalancerState:
        """The state after seeing the training losses of `step`. Pure; weights stay finite."""

    def combine(self, state: BalancerState, losses: Mapping[str, Float[Array, ""]]) -> Float[Array, ""]:
        """Sum of weight x loss, in order of the names; weights are constant under differentiation."""
        _check_bound(state, losses)
        weights = jax.lax.stop_gradient(state.weights)
        return sum((weights[term] * losses[term] for term in sorted(losses)), start=jnp.zeros(()))

    def weights(self, state: BalancerState) -> Scalars:
        """The present weights by term."""
        return dict(state.weights)

    def to_config(self) -> dict[str, Any]:
        """{"kind": ..., option: value}, which `balancer_from_config` reads back."""
        if not dataclasses.is_dataclass(self):
            raise TypeError(
                f"balancer {type(self).__name__} is no dataclass, so a run folder cannot hold it: leave run_dir out, or "
                f"train with Trainer(checkpoint=...), which needs no record of it."
            )
        return to_config(self)


def unit_weights(terms: Sequence[str]) -> Scalars:
    """Weight one for each term, in the ambient precision."""
    return {term: jnp.ones(()) for term in terms}


def stacked(values: Mapping[str, Float[Array, ""]], names: Sequence[str]) -> Float[Array, " terms"]:
    """The values in the order of `names`."""
    return jnp.stack([values[name] for name in names])


def unstacked(values: Float[Array, " terms"], names: Sequence[str], state: BalancerState) -> Scalars:
    """`values` by name, in the precision of the state's weights; where one is not finite, the weight it had."""
    new = {name: values[i].astype(state.weights[name].dtype) for i, name in enumerate(names)}
    return {name: jnp.where(jnp.isfinite(value), value, state.weights[name]) for name, value in new.items()}


def _check_bound(state: BalancerState, losses: Mapping[str, Any]) -> None:
    if state.weights.keys() == losses.keys():
        return
    if not state.weights:
        raise ValueError("The balancer state has no terms yet; bind it by balancer.initialize(terms).")
    wrong = sorted(state.weights.keys() ^ losses.keys())[0]
    side = "loss term has no weight" if wrong in losses else "weight has no loss term"
    others = state.weights if wrong in losses else losses
    raise ValueError(
        f"Balancer state and losses differ: {side}: {wrong!r}. {did_you_mean(wrong, others)} "
        "Make the state by balancer.initialize(terms) with the terms of this problem."
    )
