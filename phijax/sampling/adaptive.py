"""Residual-based adaptive distribution of points (RAD; Wu, Zhu, Tan, Kartha & Lu 2023)."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phijax.sampling.samplers import Sampler, check_sampler


class Pool(NamedTuple):
    """Candidates of one refresh, and the logarithm of the density with which they are picked."""

    points: Any
    log_density: Float[Array, "m"]


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
        check_sampler(self.base, "ResidualAdaptive")
        if hasattr(self.base, "init"):
            raise ValueError("ResidualAdaptive: the base must be a sampler without state.")
        for name, least in (("period", 1), ("pool_factor", 1), ("exponent", 0), ("offset", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"ResidualAdaptive: {name}={getattr(self, name)} must be at least {least}.")

    def init(self, key: PRNGKeyArray) -> None:
        """Nothing lasts from one refresh to the next; the source holds the points."""
        return

    def pool(self, state: None, key: PRNGKeyArray, n: int) -> tuple[Pool, Any]:
        """Candidates, to be judged by their residuals."""
        points = self.base.sample(key, self._pool_size(n))
        rows = jax.tree.leaves(points)[0].shape[0]
        return Pool(points, jnp.zeros(rows, jax.tree.leaves(points)[0].dtype)), points

    def _pool_size(self, n: int) -> int:
        size = self.pool_factor * n
        return min(size, getattr(self.base, "size", size))

    def update(self, state: Pool, residuals: Float[Array, "m"]) -> Pool:
        """The density of the candidates, from the magnitudes of their residuals."""
        return Pool(state.points, jnp.log(density(residuals, self.exponent, self.offset)))

    def sample(self, state: Pool, key: PRNGKeyArray, n: int) -> tuple[None, Any]:
        """`n` different candidates, each draw in proportion to the density (Gumbel top-n; Kool et al. 2019)."""
        noise = jax.random.gumbel(key, state.log_density.shape, state.log_density.dtype)
        _, rows = jax.lax.top_k(state.log_density + noise, n)
        return None, jax.tree.map(lambda leaf: leaf[rows], state.points)


def density(residuals: Float[Array, "m"], exponent: float, offset: float) -> Float[Array, "m"]:
    """|r|^exponent / mean + offset, up to a factor; flat where all residuals are zero, zero for one that is not finite."""
    size = jnp.abs(residuals)
    size = jnp.where(jnp.isfinite(size), size, 0)
    largest = jnp.max(size)
    relative = jnp.where(largest > 0, size / jnp.where(largest > 0, largest, 1), 1) ** exponent
    return relative / jnp.mean(relative) + offset
