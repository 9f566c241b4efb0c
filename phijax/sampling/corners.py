"""Weights that fall off towards corners, where the residual of a solution is not square-integrable."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from phijax.sampling.candidates import weighted
from phijax.sampling.samplers import Sampler

Corner = tuple[tuple[str, float], ...]


class CornerWeights(eqx.Module):
    """Points of `base` whose weights are the product over the corners of r^2 / (r^2 + reach^2), to a mean of one.

    corners: each by its coordinates' names and values. At a corner that reaches into the region, least squares of the bare
    residual tend to a function without the singular part, for no sum of smooth functions has a residual as small.
    """

    base: Sampler
    corners: tuple[Corner, ...] = eqx.field(static=True)
    reach: float = eqx.field(static=True)

    def sample(self, key: PRNGKeyArray, n: int) -> Any:
        """`n` points of the base, weighted."""
        points = self.base.sample(key, n)
        factors: Any = 1.0
        for corner in self.corners:
            square = sum((points.coordinates[name] - value) ** 2 for name, value in corner)
            factors = factors * square / (square + self.reach**2)
        return weighted("CornerWeights", points, factors / jnp.mean(factors))
