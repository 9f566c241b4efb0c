"""Observed values, as symbols that the points of a measurement bind."""

from __future__ import annotations

import sympy


class Observed(sympy.Symbol):
    """The value measured at each point, of the column `column`."""

    __slots__ = ("column",)
    column: str

    def __new__(cls, column: str, real: bool = True) -> Observed:
        symbol = super().__xnew__(cls, f"{column}_observed", **({"real": True} if real else {"complex": True}))
        symbol.column = column
        return symbol

    @classmethod
    def class_key(cls):
        """Sorts among other symbols, after pi."""
        return sympy.Symbol.class_key()

    def _hashable_content(self):
        return (*super()._hashable_content(), self.column)

    def __getnewargs_ex__(self):
        return (self.column, bool(self.is_real)), {}

    def __reduce__(self):
        return Observed, (self.column, bool(self.is_real))
