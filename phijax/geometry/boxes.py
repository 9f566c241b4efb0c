"""Boxes: many boxes side by side, from which points of a solid are accepted."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from jaxtyping import Array, Bool, Float
from sympy import Symbol

from phijax.geometry._numbers import unstacked
from phijax.geometry.pick import Pick, take
from phijax.geometry.placement import Coordinates, Placement
from phijax.geometry.region import Region


@dataclass(frozen=True, eq=False)
class Boxes(Region):
    """Boxes that share no more than sides, by their lower and upper corners."""

    axes: tuple[Symbol, ...]
    lower: Float[np.ndarray, "b d"]
    upper: Float[np.ndarray, "b d"]

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return self.axes

    @property
    def dimension(self) -> int:
        return len(self.axes)

    @property
    def cube_dimension(self) -> int:
        return len(self.axes)

    @property
    def measure(self) -> float:
        return float(np.sum(self._volumes))

    @functools.cached_property
    def _volumes(self) -> Float[np.ndarray, "b"]:
        return np.prod(self.upper - self.lower, axis=1)

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        ends = zip(self.lower.min(axis=0).tolist(), self.upper.max(axis=0).tolist(), strict=True)
        return dict(zip(self.axes, ends, strict=True))

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        box, first = Pick.of(self._volumes, unit.dtype).split(unit[:, 0])
        lower, width = (take(table.astype(unit.dtype), box) for table in (self.lower, self.upper - self.lower))
        shares = (first, *unstacked(unit[:, 1:]))
        columns = (a + w * s for a, w, s in zip(unstacked(lower), unstacked(width), shares, strict=True))
        return Placement(dict(zip(self.names, columns, strict=True)))

    def inside(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        self._refuse()

    def _refuse(self, *_: Any) -> NoReturn:
        raise ValueError(f"{self} only holds a solid: it has no distance, rule or slice.")

    distance = quadrature = slice_at = _refuse  # type: ignore[assignment]

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return ()

    def body(self, tex: bool = False) -> str:
        words = f"{len(self.lower)} boxes"
        return rf"\text{{{words}}}" if tex else words
