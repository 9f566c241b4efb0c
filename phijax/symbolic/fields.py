"""Fields: the unknown functions, as sympy functions applied to their coordinates."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.core.function import AppliedUndef, UndefinedFunction

from phijax.symbolic.coordinates import check_name, split_names


class Field(AppliedUndef):
    """An unknown applied to arguments: `u(x, t)`, or `u(-1, t)` after substitution.

    On the class (`u.func`): `coordinates`, as declared; `is_complex_field`; `on`, the region that the field lives on.
    """

    coordinates: tuple[sympy.Symbol, ...] = ()
    is_complex_field: bool = False
    on: Any = None

    def __reduce__(self) -> tuple:
        func = self.func  # a class that no module holds: another process makes it anew
        return _applied, (func.__name__, func.coordinates, func.is_complex_field, func.on, self.args)

    @property
    def name(self) -> str:
        """Name of the field, whatever its arguments."""
        return self.func.__name__

    @property
    def declared(self) -> Field:
        """The field at its own coordinates."""
        return self.func(*self.coordinates)

    def diff(self, *symbols: Any, **assumptions: Any) -> sympy.Expr:
        """Derivative by coordinates, as sympy's.

        Raises ValueError for a string or another symbol of a coordinate's name: sympy would make it zero.
        """
        for symbol in symbols:
            self._refuse_namesake(symbol[0] if isinstance(symbol, tuple | list | sympy.Tuple) else symbol)
        return super().diff(*symbols, **assumptions)

    def _eval_subs(self, old: sympy.Basic, new: sympy.Basic) -> sympy.Expr | None:
        self._refuse_namesake(old)
        return super()._eval_subs(old, new)

    def _refuse_namesake(self, symbol: Any) -> None:
        """Refuses what looks like a coordinate and is none: sympy takes it for a symbol that does not occur."""
        if isinstance(symbol, sympy.Dummy) or symbol in self.coordinates:
            return
        name = symbol.name if isinstance(symbol, sympy.Symbol) else symbol
        if isinstance(name, str) and name in {coordinate.name for coordinate in self.coordinates}:
            raise ValueError(
                f"{name!r} is not the coordinate {name!r} of the field {self.name!r} but another symbol of that name; "
                f"use the coordinate that the field was made with."
            )


def field(name: str, *coordinates: sympy.Symbol, complex: bool = False, on: Any = None) -> Field:
    """The unknown `name` as a function of `coordinates`; real unless `complex`.

    on: the region that the field lives on, where that is a part of the domain; default the domain.
    Raises ValueError where the coordinates are none, repeated, or no symbols.
    """
    name = check_name(name, "field")
    for symbol in coordinates:
        if not isinstance(symbol, sympy.Symbol):
            raise ValueError(f"field {name!r}: {symbol!r} is no coordinate; make one with phi.coordinate.")
    if not coordinates:
        raise ValueError(
            f"field {name!r} has no coordinates; write phi.field({name!r}, x), or phi.parameter for a constant."
        )
    names = [symbol.name for symbol in coordinates]
    if len(set(names)) < len(names):
        raise ValueError(f"field {name!r} names a coordinate twice: {', '.join(names)}.")
    if name in names:
        raise ValueError(f"field {name!r} has the name of its own coordinate; rename one of them.")
    if not isinstance(complex, bool):
        raise ValueError(f"field {name!r}: complex={complex!r} must be True or False.")
    attributes = {"coordinates": tuple(coordinates), "is_complex_field": complex, "on": on}
    assumption = {"complex": True} if complex else {"real": True}
    function = UndefinedFunction(name, bases=(Field,), __dict__=dict(attributes), **assumption)
    # sympy compares functions by name and this dictionary: two fields of one name stay two, so that checks can tell.
    function._kwargs = {**function._kwargs, **attributes}
    return function(*coordinates)


def _applied(name: str, coordinates: tuple, complex: bool, on: Any, args: tuple) -> Field:
    return field(name, *coordinates, complex=complex, on=on).func(*args)


def fields(names: str, *coordinates: sympy.Symbol, complex: bool = False, on: Any = None) -> tuple[Field, ...]:
    """Several fields of the same coordinates: `u, v, p = fields("u v p", x, y)`."""
    return tuple(field(name, *coordinates, complex=complex, on=on) for name in split_names(names, "field"))


def fields_in(expression: sympy.Basic) -> dict[str, Field]:
    """Every field of an expression at its own coordinates, by name; also those inside derivatives and limits."""
    found = {}
    for node in sympy.preorder_traversal(expression):
        if isinstance(node, Field):
            found.setdefault(node.name, node.declared)
    return dict(sorted(found.items()))
