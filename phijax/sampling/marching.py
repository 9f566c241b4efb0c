"""Points whose weight moves from one end of an interval over the whole, as fast as the equations are solved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from phijax.sampling.samplers import Sampler, ambient


class Stretch(NamedTuple):
    """share: of the interval, from its origin on. largest: root mean square of the residual, at its largest so far."""

    share: Float[Array, ""]
    largest: Float[Array, ""]


class Spread(NamedTuple):
    """Points of one refresh, and which of them lie in the stretch."""

    stretch: Stretch
    points: Any
    inside: Bool[Array, " n"]


class Marching(eqx.Module):
    """Points of an interval whose weight is on a stretch from one end, which grows by `growth` once it is solved.

    An evolution is so followed from its start, where all at once it may end in an equilibrium that has nothing to do
    with its initial values: a solution that leaves the equations only on a short stretch has a small loss as well
    (Krishnapriyan et al. 2021; Wang, Sankaran & Perdikaris 2022). Half of the points lie in the stretch, the others
    anywhere; their weights make up for that.

    base: gives points of the interval. coordinate: the one along it, which starts at `origin`, over `length`.
    period: steps from one look to the next. first: share of the whole at the start. solved: the stretch grows where the
    residual in it is below this part of the largest seen. beyond: weight of the equations outside the stretch, inside
    it is 1; with none the fields grow there without bound, and with much of it they settle at once.
    """

    base: Sampler
    coordinate: str = eqx.field(static=True)
    origin: float = eqx.field(static=True)
    length: float = eqx.field(static=True)
    period: int = eqx.field(static=True, default=1)
    first: float = eqx.field(static=True, default=0.1)
    growth: float = eqx.field(static=True, default=1.2)
    solved: float = eqx.field(static=True, default=0.01)
    beyond: float = eqx.field(static=True, default=3e-3)

    def __check_init__(self) -> None:
        if hasattr(self.base, "init"):
            raise ValueError("Marching: the base must be a sampler without state.")
        if self.period < 1:
            raise ValueError(f"Marching: period={self.period} must be at least 1.")
        if not (0 < self.first <= 1 < self.growth and 0 <= self.beyond <= 1):
            raise ValueError(
                f"Marching: first={self.first} and beyond={self.beyond} must be shares, and growth={self.growth} above 1."
            )

    def init(self, key: PRNGKeyArray) -> Stretch:
        """The first stretch, with no residual seen."""
        return Stretch(ambient(self.first), ambient(0.0))

    def pool(self, state: Stretch, key: PRNGKeyArray, n: int) -> tuple[Spread, Any]:
        """The points that `sample` gives."""
        points = self.base.sample(key, n)
        whole = points.coordinates[self.coordinate]
        drawn = jnp.where(jnp.arange(n) < n // 2, state.share, 1.0) * (whole - self.origin)
        inside = jnp.abs(drawn) <= state.share * self.length
        weights = jnp.where(inside, 1.0, self.beyond) / (jnp.where(inside, 0.5 / state.share, 0.0) + 0.5)
        coordinates = {**points.coordinates, self.coordinate: self.origin + drawn}
        points = replace(points, coordinates=coordinates, weights=weights / jnp.mean(weights))
        return Spread(state, points, inside), points

    def update(self, state: Spread, residuals: Float[Array, " n"]) -> Spread:
        """The stretch of the next refresh, longer where that of this one is solved."""
        share, largest = state.stretch
        square = residuals**2
        largest = jnp.maximum(largest, jnp.sqrt(jnp.mean(square)))
        here = jnp.sqrt(jnp.sum(jnp.where(state.inside, square, 0.0)) / jnp.maximum(jnp.sum(state.inside), 1))
        grown = jnp.minimum(self.growth * share, 1.0)
        return state._replace(stretch=Stretch(jnp.where(here < self.solved * largest, grown, share), largest))

    def sample(self, state: Spread, key: PRNGKeyArray, n: int) -> tuple[Stretch, Any]:
        """`n` points, with weights of mean one."""
        return state.stretch, state.points
