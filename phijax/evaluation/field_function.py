"""A field of a solution as a function of its coordinates."""

from __future__ import annotations

from typing import Any

from phijax.evaluation.evaluator import Evaluator
from phijax.symbolic import Field


class FieldFunction:
    """A field of a solution as a function of its coordinates by name: `solution.u(x=0.5, t=0.25)`."""

    def __init__(self, evaluator: Evaluator, field: Field):
        self._evaluator, self._field = evaluator, field

    def __call__(self, /, *positions: Any, **coordinates: Any) -> Any:
        """Values in the shape to which the coordinates broadcast, as NumPy."""
        if positions:
            names = ", ".join(f"{symbol.name}=..." for symbol in self._field.coordinates)
            raise TypeError(f"coordinates go by name: {self._field.name}({names}).")
        return self._evaluator({self._field.name: self._field}, coordinates)[self._field.name]

    def __repr__(self) -> str:
        return f"<field {self._field.name} of {', '.join(symbol.name for symbol in self._field.coordinates)}>"
