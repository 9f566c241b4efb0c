"""Points drawn by importance, with the weights that leave the mean as it is (Nabian, Gladstone & Meidani 2021)."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from phijax._numbers import plain
from phijax._options import real, whole
from phijax.sampling.candidates import Candidates, candidates, check_base, density, weighted
from phijax.sampling.points import Points
from phijax.sampling.samplers import Sampler

_OWNER = "ImportanceSampler"


class ImportanceSampler(eqx.Module):
    """Every `period` steps, n of `pool_factor` n points of `base`, with density (1 - uniform) |r|^exponent / mean + uniform.

    Drawn with replacement, one in each n-th of the cumulative density, and held until the next refresh. Their weights
    are 1 / density, at most 1 / uniform: the mean of weight x f is an unbiased estimate of that of f over the points of
    `base`, for every f that the points do not know of, so that the loss is what it was and its variance lower.
    exponent: 2 has the least variance of the loss at the refresh, 1 suits its gradient.
    """

    base: Sampler
    period: int = eqx.field(static=True, default=10, converter=plain)
    pool_factor: int = eqx.field(static=True, default=8, converter=plain)
    exponent: float = eqx.field(static=True, default=1.0)
    uniform: float = eqx.field(static=True, default=0.25)

    def __check_init__(self) -> None:
        check_base(self.base, _OWNER)
        whole(_OWNER, "period", self.period, least=1)
        whole(_OWNER, "pool_factor", self.pool_factor, least=1)
        real(_OWNER, "exponent", self.exponent, "of at least 0", lambda number: number >= 0)
        real(_OWNER, "uniform", self.uniform, "above 0 and at most 1", lambda number: 0 < number <= 1)

    def init(self, key: PRNGKeyArray) -> None:
        """Nothing lasts from one refresh to the next; the source holds the points."""
        return

    def pool(self, state: None, key: PRNGKeyArray, n: int) -> tuple[Candidates, Any]:
        """Candidates, to be judged by their residuals."""
        found = candidates(self.base, key, self.pool_factor * n)
        return found, found.points

    def update(self, state: Candidates, residuals: Float[Array, "m"]) -> Candidates:
        """The density of the candidates, of mean one, from the magnitudes of their residuals."""
        by_residual = density(residuals, self.exponent, 0.0)
        return Candidates(state.points, (1.0 - self.uniform) * by_residual + self.uniform)

    def sample(self, state: Candidates, key: PRNGKeyArray, n: int) -> tuple[None, Points]:
        """`n` candidates with their weights."""
        dtype = state.density.dtype
        heights = (jnp.arange(n, dtype=dtype) + jax.random.uniform(key, (n,), dtype)) / n
        cumulative = jnp.cumsum(state.density)
        row = jnp.searchsorted(cumulative, heights * cumulative[-1], side="right")
        row = jnp.minimum(row, state.density.shape[0] - 1)  # a height may round up to one
        points = jax.tree.map(lambda leaf: leaf[row], state.points)
        return None, weighted(_OWNER, points, 1.0 / state.density[row])
