"""Points: what a sampler gives and a residual reads."""

from __future__ import annotations

from collections.abc import Mapping

import equinox as eqx
from jaxtyping import Array, Float


class Points(eqx.Module):
    """`n` points of one region, by name.

    coordinates: each coordinate of the region, shape (n,).
    normals: components of the outward unit normal by coordinate, shape (n,), where the region has one.
    weights: factors of the squared residual in the mean of the loss, shape (n,), of mean one; None means all one.
    values: observed values by field, shape (n,), where the points carry data.
    """

    coordinates: Mapping[str, Float[Array, "*n"]]
    normals: Mapping[str, Float[Array, "*n"]] | None = None
    weights: Float[Array, "*n"] | None = None
    values: Mapping[str, Array] | None = None

    @property
    def size(self) -> int:
        """Number of points."""
        return next(iter(self.coordinates.values())).shape[0]
