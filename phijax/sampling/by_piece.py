"""So many points on each piece of a boundary, as asked for by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from phijax._numbers import is_whole
from phijax._precision import ambient_precision
from phijax.formulation.faults import nearest
from phijax.geometry import Region
from phijax.sampling.points import Points
from phijax.sampling.samplers import RegionSampler


class ByPiece(eqx.Module):
    """`counts[name]` points on the pieces called `name` of a region: ByPiece(plate.boundary, {"hole": 200, "walls": 50}).

    Weights, of mean one, give each piece the share in the loss that it has in the measure, as points spread over all of
    the region have. Raises ValueError for a name that is no piece, a piece without a count, or a count below one.
    """

    region: Region = eqx.field(static=True)
    counts: tuple[tuple[str, int], ...] = eqx.field(static=True)
    method: str = eqx.field(static=True, default="sobol")

    def __init__(self, region: Region, counts: Mapping[str, int], method: str = "sobol"):
        names = list(dict.fromkeys(name for name, _ in region.pieces))
        for name, count in counts.items():
            if name not in names:
                raise ValueError(f"{region} has no piece {name!r}; {nearest(name, names)}.")
            if not is_whole(count):
                raise ValueError(f"points on the piece {name!r}: {count!r} must be a whole number of at least 1.")
        left = [name for name in names if name not in counts]
        if left:
            raise ValueError(f"points by piece: say how many on {', '.join(map(repr, left))} as well.")
        self.region, self.method = region, method
        self.counts = tuple((name, int(counts[name])) for name in names)

    @property
    def size(self) -> int:
        """Number of points in all."""
        return sum(count for _, count in self.counts)

    def sample(self, key: PRNGKeyArray, n: int) -> Points:
        """All of the points, piece after piece; ValueError unless `n` is their number."""
        if n != self.size:
            raise ValueError(f"the counts by piece of {self.region} make {self.size} points, not {n}.")
        parts, shares = [], []
        for (name, count), own in zip(self.counts, jax.random.split(key, len(self.counts)), strict=True):
            pieces = tuple((label, piece) for label, piece in self.region.pieces if label == name)
            part = pieces[0][1] if len(pieces) == 1 else type(self.region)(pieces)  # type: ignore[call-arg]
            parts.append(RegionSampler(part, self.method).sample(own, count))
            shares.append(part.measure)
        weights = np.repeat(
            np.array(shares) / sum(shares) * n / [c for _, c in self.counts], [c for _, c in self.counts]
        )
        join: Any = lambda *columns: jnp.concatenate(columns)
        joined = jax.tree.map(join, *parts)
        return Points(joined.coordinates, joined.normals, jnp.asarray(weights, ambient_precision()))
