"""Components of the outward normal, as symbols that the region of a condition binds."""

from __future__ import annotations

import sympy


class Normal(sympy.Symbol):
    """Component of the outward unit normal along one coordinate; constant under differentiation."""

    __slots__ = ("coordinate",)
    coordinate: sympy.Symbol

    def __new__(cls, coordinate: sympy.Symbol) -> Normal:
        symbol = super().__xnew__(cls, f"n_{coordinate.name}", real=True)
        symbol.coordinate = coordinate
        return symbol

    @classmethod
    def class_key(cls):
        """Sorts among other symbols, after pi."""
        return sympy.Symbol.class_key()

    def _hashable_content(self):
        return (*super()._hashable_content(), self.coordinate)

    def __getnewargs_ex__(self):
        return (self.coordinate,), {}

    def __reduce__(self):
        return Normal, (self.coordinate,)


def normal(coordinate: sympy.Symbol) -> Normal:
    """Component along `coordinate` of the outward unit normal of the region on which the equation holds."""
    return Normal(coordinate)
