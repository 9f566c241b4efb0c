"""Reads what was written as equations into labelled residuals, collecting faults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import sympy
from sympy.logic.boolalg import BooleanFalse, BooleanTrue

from phijax.formulation.constraint import Column, Term
from phijax.formulation.faults import Fault
from phijax.geometry import Region
from phijax.symbolic import Field, Observed, components, function, is_vector, text

Report = Callable[[str], None]


class EquationReader:
    """Reads the equations of one constraint. `terms` and `columns` are the result, `faults` what was wrong."""

    def __init__(self, name: str, region: Region | None):
        self.name, self.region = name, region
        self.terms: list[Term] = []
        self.columns: dict[str, Column] = {}
        self.faults: list[Fault] = []

    def report(self, message: str) -> None:
        """Notes a fault of this constraint."""
        self.faults.append(Fault(self.name, message))

    def read(self, written: Any) -> EquationReader:
        """Reads one equation, several in a sequence, or a mapping of labels to equations or of fields to values."""
        pairs = list(self._pairs(written))
        if not pairs and not self.faults:
            self.report("holds no equation; write Eq(left, right), or phi.free(region) if none is meant.")
        for label, equation in pairs:
            self._equation(label, equation)
        labels = [term.label for term in self.terms]
        for label in sorted({label for label in labels if labels.count(label) > 1}):
            self.report(f"has two equations called {label!r}; name them apart, as in {{'first': ..., 'second': ...}}.")
        return self

    def _pairs(self, written: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(written, Mapping):
            for key, value in written.items():
                if isinstance(key, str):
                    yield key, value
                elif isinstance(key, sympy.Basic):
                    yield from self._value(key, value, alone=len(written) == 1)
                else:
                    self.report(f"has the key {key!r}; keys are names of equations, or fields.")
        elif isinstance(written, tuple | list) and not isinstance(written, sympy.Basic):
            for position, equation in enumerate(written, 1):
                left = equation.lhs if isinstance(equation, sympy.Equality) else None
                yield left.name if isinstance(left, Field) else str(position), equation
        else:
            yield "", written

    def _equation(self, label: str, written: Any) -> None:
        if isinstance(written, bool | BooleanTrue | BooleanFalse):
            self._decided(label, bool(written), isinstance(written, bool))
        elif isinstance(written, sympy.Equality):
            self._sides(label, written, written.lhs, written.rhs)
        elif isinstance(written, sympy.Rel):
            self.report(f"{text(written)} is an inequality; only equations can be imposed: write Eq(left, right).")
        elif is_vector(written):
            self._sides(label, written, written, None)
        elif isinstance(written, sympy.Expr | int | float | np.number):
            expression = sympy.sympify(written)
            self.terms.append(Term(label, expression, expression))
        else:
            self.report(f"{written!r} is no equation; write Eq(left, right), or a mapping of fields to values.")

    def _sides(self, label: str, written: Any, left: Any, right: Any) -> None:
        if not is_vector(left) and not is_vector(right):
            self.terms.append(Term(label, written, left - right))
            return
        lefts = components(left) if is_vector(left) else None
        rights = components(right) if is_vector(right) else None
        count = len(lefts if lefts is not None else rights or ())
        lefts = lefts if lefts is not None else (left,) * count
        rights = rights if rights is not None else (sympy.Integer(0) if right is None else right,) * count
        if len(lefts) != len(rights):
            self.report(f"{text(written)} has {len(lefts)} components on the left and {len(rights)} on the right.")
            return
        for position, (one, other) in enumerate(zip(lefts, rights, strict=True), 1):
            part = one.name if isinstance(one, Field) else str(position)
            joined = f"{label}_{part}" if label else part
            self.terms.append(Term(joined, sympy.Eq(one, other, evaluate=False), one - other))

    def _decided(self, label: str, value: bool, compared: bool) -> None:
        which = f"equation {label!r} " if label else "its equation "
        cure = "`==` compares at once; write Eq(left, right)" if compared else "look for the same thing on both sides"
        self.report(f"{which}is already {value} before anything is solved; {cure}.")

    # ---- values that sympy cannot hold -----------------------------------------------------------------------------

    def _value(self, target: sympy.Basic, value: Any, alone: bool) -> Iterator[tuple[str, Any]]:
        label = "" if alone else (target.name if isinstance(target, Field) else str(target))
        if (is_vector(value) and not isinstance(value, sympy.Basic | sympy.MatrixBase)) or isinstance(
            value, np.ndarray
        ):
            value = self._observed(target, value)
        elif callable(value) and not isinstance(value, sympy.Basic):
            value = self._applied(target, value)
        if value is None:
            return
        try:
            yield label, sympy.Eq(target, sympy.sympify(value))
        except (sympy.SympifyError, TypeError):
            self.report(f"the value {value!r} of {target} is no number, expression, callable or array.")

    def _observed(self, target: sympy.Basic, value: Any) -> Any:
        column, count = np.asarray(value), getattr(self.region, "count", None)
        if column.size == 1:
            return column.reshape(()).item()
        if not isinstance(target, Field) or count is None:
            self.report(
                f"an array of shape {column.shape} is given for {target}, but the region {self.region} has no list of "
                f"points of its own; give an expression or a callable, or put the values in phi.data."
            )
            return None
        if column.shape not in {(count,), (count, 1)}:
            self.report(
                f"{target} is given values of shape {column.shape}, but the region has {count} points: ({count},)."
            )
            return None
        self.columns[target.name] = Column(column.reshape(count))
        return Observed(target.name)

    def _applied(self, target: sympy.Basic, value: Callable) -> Any:
        """A numeric callable, as a known function of the region's coordinates by name."""
        if self.region is None:
            return None
        symbols = {symbol.name: symbol for symbol in self.region.coordinates}
        shown = getattr(value, "__name__", type(value).__name__)
        names = _argument_names(value)
        if names is None:
            if len(symbols) != 1:
                self.report(
                    f"{shown} takes its argument by position, and the region has the coordinates {', '.join(symbols)}; "
                    f"name the one that is meant, as in lambda {next(iter(symbols))}: {shown}({next(iter(symbols))})."
                )
                return None
            names = list(symbols)
        unknown = [name for name in names if name not in symbols]
        if unknown:
            self.report(
                f"{shown} asks for {unknown[0]!r}, which is no coordinate of the region; known: {', '.join(symbols)}."
            )
            return None
        if not names:
            self.report(f"{shown} takes no argument; give its value instead.")
            return None
        name = shown if shown.isidentifier() and shown not in symbols else f"{target.func.__name__}_value"
        return function(name, value)(*(symbols[name] for name in names))


def _argument_names(value: Callable) -> list[str] | None:
    """Names of a callable's required arguments; None where they can only be given by position."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    named = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    if isinstance(value, np.ufunc) or any(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in parameters):
        return None
    return [p.name for p in parameters if p.kind in named and p.default is inspect.Parameter.empty]
