"""Named: a region whose pieces of boundary go by names of the user's."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Expr, Symbol

from phijax.geometry.region import Region
from phijax.geometry.wrapped import Wrapped


@dataclass(frozen=True)
class Named(Wrapped):
    """labels: (piece of the boundary of `base`, which of those called so, its name); the others keep their own."""

    base: Region
    labels: tuple[tuple[str, int, str], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple((piece, int(k), label) for piece, k, label in self.labels))

    @property
    def factors(self) -> tuple[Region, ...]:
        return self.base.factors if len(self.base.factors) > 1 else (self,)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        return Named(self.base.slice_at(symbol, value), self.labels)

    def faces(self) -> tuple[tuple[str, Region], ...]:
        labels, faces = {(piece, k): label for piece, k, label in self.labels}, self.base.faces()
        keys = numbered(faces)
        return tuple((labels.get(key, name), face) for key, (name, face) in zip(keys, faces, strict=True))


def numbered(faces: tuple[tuple[str, Region], ...]) -> list[tuple[str, int]]:
    """The name of each piece, and how many before it go by the same."""
    names = [name for name, _ in faces]
    return [(name, names[:i].count(name)) for i, name in enumerate(names)]
