"""Probes: evenly spread points by which a declaration looks at a region; of NumPy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float

from phijax.geometry._numbers import evenly_spread

if TYPE_CHECKING:
    from phijax.geometry.region import Region


def probed(region: Region, count: int) -> tuple[dict[str, Float[np.ndarray, "n"]], Bool[np.ndarray, "n"]]:
    """`count` points of the region's cover by name, and which of them are of the region."""
    cover = region.cover
    unit: Any = evenly_spread(count, cover.cube_dimension or 0)
    placed: Any = cover.place(unit)
    return placed.coordinates, np.asarray(region.accept(unit, placed))
