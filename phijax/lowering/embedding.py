"""Embedding: how coordinates enter a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from phijax.series import Channels, Series, concatenate, coordinates
from phijax.series.functions import cos, sin


@dataclass(frozen=True)
class Embedding:
    """How one coordinate enters a network: scaled to [-1, 1], or as cosine and sine where it is periodic."""

    low: float
    high: float
    periodic: bool

    @property
    def size(self) -> int:
        """Number of inputs it becomes."""
        return 2 if self.periodic else 1

    @property
    def slope(self) -> float:
        """Change of the input by the coordinate, or of the angle whose cosine and sine it is."""
        return (2 * np.pi if self.periodic else 2) / (self.high - self.low)

    @property
    def origin(self) -> float:
        """The coordinate that enters as zero."""
        return self.low if self.periodic else (self.low + self.high) / 2


def embed(embeddings: Sequence[Embedding], at: Float[Array, " d"]) -> Float[Array, " in"]:
    """Inputs of the network at one point."""
    scaled = _slopes(embeddings, at) * (at - _origins(embeddings, at))
    if not any(embedding.periodic for embedding in embeddings):
        return scaled
    parts = [[jnp.cos(z), jnp.sin(z)] if e.periodic else [z] for e, z in zip(embeddings, scaled, strict=True)]
    return jnp.stack([value for part in parts for value in part])


def embed_series(
    embeddings: Sequence[Embedding], at: Float[Array, " d"], channels: Channels, directions: Array | None = None
) -> Series:
    """The same as series in the coordinates, or along `directions`."""
    slopes = _slopes(embeddings, at)
    scaled = coordinates(at, channels, directions).shifted(-_origins(embeddings, at)).linear(lambda c: slopes * c)
    if not any(embedding.periodic for embedding in embeddings):
        return scaled
    parts = []
    for position, embedding in enumerate(embeddings):
        one = scaled.linear(lambda c, i=position: c[i : i + 1])
        parts += [one.compose(cos), one.compose(sin)] if embedding.periodic else [one]
    return concatenate(parts)


def _slopes(embeddings: Sequence[Embedding], at: Array) -> Array:
    return jnp.asarray([embedding.slope for embedding in embeddings], at.dtype)


def _origins(embeddings: Sequence[Embedding], at: Array) -> Array:
    return jnp.asarray([embedding.origin for embedding in embeddings], at.dtype)
