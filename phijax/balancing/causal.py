"""Causal weights of points: what is later in time counts once what is earlier is solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from phijax._options import real, whole


@dataclass(frozen=True)
class Causal:
    """Weight exp(-tolerance x sum of the losses of all earlier chunks) (Wang, Sankaran & Perdikaris 2024).

    chunks: equal parts of time, of which each has the mean of the squared residuals at its points as its loss.
    tolerance: per unit of loss, so that a solution whose residuals add up to less than 1 / tolerance is wholly seen.
    """

    chunks: int = 16
    tolerance: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "chunks", whole("Causal", "chunks", self.chunks, least=2))
        object.__setattr__(self, "tolerance", real("Causal", "tolerance", self.tolerance, "above 0", lambda e: e > 0))

    @classmethod
    def of(cls, causal: Any) -> Causal | None:
        """What True, False, None or a Causal stands for; TypeError for anything else."""
        if causal is None or causal is False:
            return None
        if causal is True:
            return cls()
        if not isinstance(causal, cls):
            raise TypeError(f"causal={causal!r} must be True, False, or Causal(chunks=16, tolerance=1.0).")
        return causal

    def chunk(self, at: Float[Array, "n"]) -> Array:
        """The chunk in which each time lies, as shares of the whole time."""
        return jnp.clip(jnp.floor(at * self.chunks).astype(jnp.int32), 0, self.chunks - 1)

    def losses(self, at: Float[Array, "n"], squares: Float[Array, "n"]) -> Float[Array, "chunks"]:
        """The mean square of each chunk, zero of one that holds no point."""
        chunk = self.chunk(at)
        sums = jax.ops.segment_sum(squares, chunk, self.chunks)
        counts = jax.ops.segment_sum(jnp.ones_like(squares), chunk, self.chunks)
        return sums / jnp.maximum(counts, 1)

    def weights(self, losses: Float[Array, "chunks"]) -> Float[Array, "chunks"]:
        """The weight of each chunk, one for the first; constant under differentiation."""
        before = jnp.concatenate([jnp.zeros(1, losses.dtype), jnp.cumsum(losses)[:-1]])
        return jax.lax.stop_gradient(jnp.exp(-self.tolerance * before))
