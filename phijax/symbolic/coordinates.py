"""Coordinates: named symbols that are of kind space, time or parameter."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, get_args

import sympy

Kind = Literal["space", "time", "parameter"]
KINDS: tuple[str, ...] = get_args(Kind)


def check_name(name: str, what: str) -> str:
    """`name` as Python reads it, or a ValueError: names become columns, keyword arguments and rows of tables."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{what} name {name!r} is no identifier; use letters, digits and _, beginning with a letter.")
    return unicodedata.normalize("NFKC", name)  # as Python does: two characters look like mu, and keywords hold one


def split_names(names: str, what: str) -> list[str]:
    """The names in a string such as "x y" or "x, y", each checked, none twice."""
    if not isinstance(names, str) or not re.split(r"[,\s]+", names.strip())[0]:
        raise ValueError(f"{what} names must be given in one string, as in 'x y'; got {names!r}.")
    found = [check_name(name, what) for name in re.split(r"[,\s]+", names.strip()) if name]
    twice = sorted({name for name in found if found.count(name) > 1})
    if twice:
        raise ValueError(f"{what} {twice[0]!r} is named twice in {names!r}.")
    return found


class Coordinate(sympy.Symbol):
    """A real symbol whose `role` is "space", "time" or "parameter"; equal to another of the same name, role and chart.

    chart: of curvilinear coordinates (kind, names of all coordinates of the chart in order), else None.
    """

    __slots__ = ("chart", "role")  # not `kind`, which is sympy's own word for what a node is and must stay as it is
    role: str
    chart: tuple[str, ...] | None

    def __new__(cls, name: str, kind: Kind = "space", chart: tuple[str, ...] | None = None) -> Coordinate:
        if kind not in KINDS:
            raise ValueError(f"coordinate {name!r}: kind={kind!r} is not known; choose 'space', 'time' or 'parameter'.")
        symbol = super().__xnew__(cls, check_name(name, "coordinate"), real=True)
        symbol.role, symbol.chart = kind, chart
        return symbol

    @classmethod
    def class_key(cls):
        """Sorts among other symbols, after pi."""
        return sympy.Symbol.class_key()

    def _hashable_content(self):
        return (*super()._hashable_content(), self.role, str(self.chart))  # one type, so that sympy can sort them

    def __getnewargs_ex__(self):
        return (self.name, self.role, self.chart), {}

    def __reduce__(self):
        return Coordinate, (self.name, self.role, self.chart)


def coordinate(name: str, kind: Kind = "space") -> Coordinate:
    """One coordinate, of space unless `kind` says "time" or "parameter".

    Raises ValueError for a name that is no identifier or a kind that does not exist.
    """
    return Coordinate(name, kind)


def coordinates(names: str, kind: Kind = "space") -> tuple[Coordinate, ...]:
    """Several coordinates at once, named in one string: `x, y = coordinates("x y")`."""
    return tuple(Coordinate(name, kind) for name in split_names(names, "coordinate"))


def time(name: str = "t") -> Coordinate:
    """The coordinate of time."""
    return Coordinate(name, "time")


def kind_of(symbol: sympy.Symbol) -> str:
    """Kind of a coordinate; a plain sympy symbol used as one counts as space."""
    return getattr(symbol, "role", "space")
