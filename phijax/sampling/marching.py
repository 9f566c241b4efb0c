"""Points on a part of an interval that grows from one end to the whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from phijax.sampling.samplers import Sampler


class Marching(eqx.Module):
    """The points of `base`, drawn together towards one end, over a stretch that grows by `growth` every `period` steps.

    An evolution is so followed from its start, where all at once it may end in an equilibrium that has nothing to do
    with its initial values: a solution that leaves the equations only on a short stretch has a small loss as well
    (Krishnapriyan et al. 2021; Wang, Sankaran & Perdikaris 2022).
    coordinate: which one is drawn together, to the value `origin`. first: the share of the whole at the start.
    """

    base: Sampler
    coordinate: str = eqx.field(static=True)
    origin: float = eqx.field(static=True)
    period: int = eqx.field(static=True, default=1)
    first: float = eqx.field(static=True, default=0.1)
    growth: float = eqx.field(static=True, default=1.2)

    def __check_init__(self) -> None:
        if hasattr(self.base, "init"):
            raise ValueError("Marching: the base must be a sampler without state.")
        if self.period < 1:
            raise ValueError(f"Marching: period={self.period} must be at least 1.")
        if not 0 < self.first <= 1 < self.growth:
            raise ValueError(f"Marching: first={self.first} must be in (0, 1], and growth={self.growth} above 1.")

    def init(self, key: PRNGKeyArray) -> Int[Array, ""]:
        """How often the stretch has grown."""
        return jnp.zeros((), jnp.int32)

    def sample(self, state: Int[Array, ""], key: PRNGKeyArray, n: int) -> tuple[Int[Array, ""], Any]:
        """`n` points of the present stretch."""
        points = self.base.sample(key, n)
        whole = points.coordinates[self.coordinate]
        share = jnp.minimum(self.first * self.growth ** state.astype(whole.dtype), 1.0)
        part = self.origin + share * (whole - self.origin)
        return state + 1, replace(points, coordinates={**points.coordinates, self.coordinate: part})
