"""Points: what a sampler gives and a residual reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    normals: Mapping[str, Float[Array, "*n"]] | None
    weights: Float[Array, "*n"] | None
    values: Mapping[str, Array] | None

    def __init__(
        self,
        coordinates: Mapping[str, Any],
        normals: Mapping[str, Any] | None = None,
        weights: Any = None,
        values: Mapping[str, Any] | None = None,
    ):
        for table in (coordinates, normals, values):  # before JAX sorts the names
            for name in table if isinstance(table, Mapping) else ():
                if not isinstance(name, str):
                    raise ValueError(f"Points: the column {name!r} goes by its name, a string; write {str(name)!r}.")
        self.coordinates, self.normals, self.weights, self.values = coordinates, normals, weights, values

    @property
    def size(self) -> int:
        """Number of points."""
        return next(iter(self.coordinates.values())).shape[0]
