"""Thinned: a region whose map from the cube is not uniform, made so by leaving out points where there are too many."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Bool, Float

from phijax.geometry._numbers import evenly_spread
from phijax.geometry.placement import Coordinates, Placement
from phijax.geometry.region import Region
from phijax.geometry.wrapped import Wrapped

_PROBES = 16384
_SPARE = 1.02  # over the largest density that was seen
_RULE_POINTS = 24  # an axis


@dataclass(frozen=True)
class Thinned(Wrapped):
    """The points of `base`, each kept with a probability in proportion to its density: curved images, shapes that move."""

    base: Region

    @property
    def factors(self) -> tuple[Region, ...]:
        return self.base.factors if len(self.base.factors) > 1 else (self,)

    @property
    def cube_dimension(self) -> None:
        return None

    @property
    def cover(self) -> Region:
        return Coined(self.base)

    @functools.cached_property
    def measure(self) -> float:
        return float(np.sum(self.base.quadrature(_RULE_POINTS).weights))

    def accept(self, unit: Float[Array, "n c"], placement: Placement) -> Bool[Array, "n"]:
        coin = unit[:, self.cover.cube_dimension - 1]  # type: ignore[operator]
        return coin * self.cover.measure < self.base.density(placement)


@dataclass(frozen=True)
class Coined(Wrapped):
    """`base` as its map has it, with one more coordinate of the cube, which decides what is kept."""

    base: Region

    @property
    def cube_dimension(self) -> int:
        return (self.base.cube_dimension or 0) + 1

    @functools.cached_property
    def measure(self) -> float:
        """The largest density, over the cube: so much would the set be if all were kept."""
        unit: Any = evenly_spread(_PROBES, self.base.cube_dimension or 0)
        return _SPARE * float(np.max(self.base.density(self.base.place(unit))))

    def place(self, unit: Float[Array, "n c"], around: Coordinates | None = None) -> Placement:
        return self.base.place(unit[:, : self.base.cube_dimension])
