"""The fields of a trained problem by name, and any expression of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy

from phijax.evaluation.evaluator import Evaluator, entries_of, side_of
from phijax.evaluation.field_function import FieldFunction
from phijax.evaluation.residuals import constraint_values
from phijax.formulation import Problem
from phijax.formulation.faults import nearest
from phijax.symbolic import Field


class Fields:
    """Every field is an attribute: `solution.u(x=..., t=...)`, or `solution["u"]`."""

    def __init__(self, evaluator: Evaluator):
        self._evaluator = evaluator

    @property
    def problem(self) -> Problem:
        """The problem that was solved."""
        return self._evaluator.problem

    def __getattr__(self, name: str) -> FieldFunction:
        if name.startswith("_") or "_evaluator" not in self.__dict__:  # half-made, as when it is unpickled
            raise AttributeError(name)
        if name not in self.problem.fields:
            raise AttributeError(f"the solution has no field {name!r}; {nearest(name, self.problem.fields)}.")
        return self[name]

    def __getitem__(self, field: str | Field) -> FieldFunction:
        """A field by its name or symbol, also one that is named like a method."""
        name = unicodedata.normalize("NFKC", field) if isinstance(field, str) else getattr(field, "name", str(field))
        if name not in self.problem.fields:
            raise KeyError(f"no field is named {name!r}; {nearest(name, self.problem.fields)}")
        return FieldFunction(self._evaluator, self.problem.fields[name])

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.problem.fields]

    def evaluate(self, expression: Any, /, **coordinates: Any) -> Any:
        """Values of any expression of the fields, such as `u.diff(x) + u`, at coordinates by name.

        A matrix or a sequence gives an array whose first axes are its own, a matrix of one column a single axis; a
        mapping gives {label: values}.
        Raises ValueError for a coordinate that is missing or unknown, LoweringError where JAX has no counterpart.
        """
        if isinstance(expression, Mapping):
            return self._evaluator({str(label): side_of(e) for label, e in expression.items()}, coordinates)
        if not isinstance(expression, sympy.MatrixBase | sympy.NDimArray | list | tuple):
            return self._evaluator({"expression": side_of(expression)}, coordinates)["expression"]
        entries = entries_of(expression)
        named = {f"entry {index}": side_of(entry) for index, entry in np.ndenumerate(entries)}
        values = np.stack(list(self._evaluator(named, coordinates).values()))
        return values.reshape(*entries.shape, *values.shape[1:])

    def residual(self, constraint: str, /, *, normals: Mapping[str, Any] | None = None, **coordinates: Any) -> Any:
        """Residual of a constraint at given points: an array, or {term: array} where it has several equations.

        Coordinates that the constraint's region fixes may be left out. normals: the outward normal's components by
        coordinate, where they change along the region.
        """
        if constraint not in self.problem.constraints:
            raise ValueError(f"no constraint is named {constraint!r}; {nearest(constraint, self.problem.constraints)}.")
        found = constraint_values(self._evaluator, self.problem.constraints[constraint], coordinates, normals)
        return found[constraint] if list(found) == [constraint] else found
