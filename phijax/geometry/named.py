"""Named: a region whose pieces of boundary go by names of the user's."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Symbol

from phijax.geometry.region import Region
from phijax.geometry.wrapped import Wrapped


@dataclass(frozen=True)
class Named(Wrapped):
    """labels: (piece of the boundary of `base`, its name), in pairs; the others keep their own."""

    base: Region
    labels: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple((piece, label) for piece, label in self.labels))

    @property
    def factors(self) -> tuple[Region, ...]:
        return self.base.factors if len(self.base.factors) > 1 else (self,)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        return Named(self.base.slice_at(symbol, value), self.labels)

    def faces(self) -> tuple[tuple[str, Region], ...]:
        labels = dict(self.labels)
        return tuple((labels.get(name, name), face) for name, face in self.base.faces())
