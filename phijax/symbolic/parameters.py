"""Parameters: unknown constants of the equations, trained with the fields."""

from __future__ import annotations

import math
from typing import Any

import sympy

from phijax.symbolic.coordinates import check_name


class Parameter(sympy.Symbol):
    """An unknown real constant.

    initial: its value before training. positive: whether it is kept above zero. bounds: open interval it is kept in.
    scale: its natural size; a unit step of the optimizer's variable moves it by about so much.
    """

    __slots__ = ("bounds", "initial", "positive_only", "scale")
    initial: float
    positive_only: bool
    bounds: tuple[float, float] | None
    scale: float

    def __new__(
        cls,
        name: str,
        initial: float = 1.0,
        positive: bool = False,
        bounds: tuple[float, float] | None = None,
        scale: float | None = None,
    ) -> Parameter:
        name = check_name(name, "parameter")
        initial = _number(name, "initial", initial)
        if not isinstance(positive, bool):
            raise ValueError(f"parameter {name!r}: positive={positive!r} must be True or False.")
        if bounds is not None:
            if not isinstance(bounds, tuple | list) or len(bounds) != 2:
                raise ValueError(f"parameter {name!r}: bounds={bounds!r} must be a pair, as in (0, 1).")
            low, high = (_number(name, "bounds", value) for value in bounds)
            if not low < high:
                raise ValueError(f"parameter {name!r}: bounds=({low}, {high}) must be (low, high), the lower first.")
            if not low < initial < high:
                raise ValueError(f"parameter {name!r}: initial={initial} is not inside bounds=({low}, {high}).")
            if positive:
                raise ValueError(f"parameter {name!r}: give positive=True or bounds, not both.")
            bounds = (low, high)
        if positive and initial <= 0:
            raise ValueError(f"parameter {name!r} is positive but starts at initial={initial}; start above zero.")
        scale = abs(initial) or 1.0 if scale is None else _number(name, "scale", scale)
        if scale <= 0:
            raise ValueError(f"parameter {name!r}: scale={scale} must be positive.")
        above = positive or (bounds is not None and bounds[0] >= 0)
        symbol = super().__xnew__(cls, name, **({"positive": True} if above else {"real": True}))
        symbol.initial, symbol.positive_only, symbol.bounds, symbol.scale = initial, positive, bounds, scale
        return symbol

    def _arguments(self) -> tuple[Any, ...]:
        return (self.name, self.initial, self.positive_only, self.bounds, self.scale)

    @classmethod
    def class_key(cls):
        """Sorts among other symbols, after pi."""
        return sympy.Symbol.class_key()

    def _hashable_content(self):
        return (*super()._hashable_content(), *self._arguments())

    def __getnewargs_ex__(self):
        return self._arguments(), {}

    def __reduce__(self):
        return Parameter, self._arguments()


def _number(name: str, what: str, value: Any) -> float:
    try:
        value = float(None if isinstance(value, bool | str) else value)
    except (TypeError, ValueError):
        raise ValueError(f"parameter {name!r}: {what}={value!r} is no real number.") from None
    if not math.isfinite(value):
        raise ValueError(f"parameter {name!r}: {what}={value} is not finite.")
    return value


def parameter(
    name: str,
    initial: float = 1.0,
    positive: bool = False,
    bounds: tuple[float, float] | None = None,
    scale: float | None = None,
) -> Parameter:
    """An unknown constant, to be found with the fields.

    initial: value before training. positive: keep it above zero. bounds: keep it inside (low, high).
    scale: its natural size, by default |initial|, or 1.
    Raises ValueError where these contradict each other.
    """
    return Parameter(name, initial, positive, bounds, scale)
