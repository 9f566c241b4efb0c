"""Unresolved: what a selection gives that found nothing. It holds no points, and says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from sympy import Expr, Symbol

from phijax.geometry.region import Region


@dataclass(frozen=True)
class Unresolved(Region):
    """An empty region that carries sentences for the one who uses it. Selecting from it gives itself."""

    over: tuple[Symbol, ...]
    sentences: tuple[str, ...]

    def _refuse(self, *_: Any) -> NoReturn:
        raise ValueError(" ".join(self.sentences))

    coordinates = property(lambda self: self.over)  # type: ignore[assignment]
    faults = property(lambda self: self.sentences)  # type: ignore[assignment]
    dimension = property(lambda self: 0)  # type: ignore[assignment]
    cube_dimension = property(lambda self: None)  # type: ignore[assignment]
    measure = property(lambda self: 0.0)  # type: ignore[assignment]
    bounds = property(lambda self: {})  # type: ignore[assignment]
    empty = property(lambda self: True)  # type: ignore[assignment]
    count = property(lambda self: 0)  # type: ignore[assignment]
    pieces = property(lambda self: ())  # type: ignore[assignment]
    from_cube = place = distance = signed_distance = contains = inside = quadrature = _refuse  # type: ignore[assignment]

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        return self

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return ()

    def body(self, tex: bool = False) -> str:
        return r"\emptyset" if tex else "nothing"

    def __call__(self, *coordinates: Any, where: Any = None) -> Unresolved:
        return self
