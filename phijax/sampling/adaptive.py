"""Residual-based adaptive distribution of points (RAD; Wu, Zhu, Tan, Kartha & Lu 2023)."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phijax.sampling.candidates import Candidates, candidates, check_base, density, picked
from phijax.sampling.samplers import Sampler


class ResidualAdaptive(eqx.Module):
    """Every `period` steps, n of `pool_factor` n points of `base`, with density |r|^exponent / mean + offset.

    Picked without replacement, and held until the next refresh; the first is at step 0.
    """

    base: Sampler
    period: int = eqx.field(static=True, default=10)
    pool_factor: int = eqx.field(static=True, default=8)
    exponent: float = eqx.field(static=True, default=1.0)
    offset: float = eqx.field(static=True, default=1.0)

    def __check_init__(self) -> None:
        check_base(self.base, "ResidualAdaptive")
        for name, least in (("period", 1), ("pool_factor", 1), ("exponent", 0), ("offset", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"ResidualAdaptive: {name}={getattr(self, name)} must be at least {least}.")

    def init(self, key: PRNGKeyArray) -> None:
        """Nothing lasts from one refresh to the next; the source holds the points."""
        return

    def pool(self, state: None, key: PRNGKeyArray, n: int) -> tuple[Candidates, Any]:
        """Candidates, to be judged by their residuals."""
        found = candidates(self.base, key, self.pool_factor * n)
        return found, found.points

    def update(self, state: Candidates, residuals: Float[Array, "m"]) -> Candidates:
        """The density of the candidates, from the magnitudes of their residuals, as their own weights make them."""
        own = getattr(state.points, "weights", None)
        sized = residuals if own is None else residuals * jnp.sqrt(own)
        return Candidates(state.points, density(sized, self.exponent, self.offset))

    def sample(self, state: Candidates, key: PRNGKeyArray, n: int) -> tuple[None, Any]:
        """`n` different candidates."""
        rows = picked(key, state.density, n)
        return None, jax.tree.map(lambda leaf: leaf[rows], state.points)
