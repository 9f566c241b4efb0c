"""Reads what was written as equations into labelled residuals, collecting faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import sympy
from sympy.logic.boolalg import BooleanFalse, BooleanTrue

from phijax.formulation.constraint import Column, Term
from phijax.formulation.faults import Fault
from phijax.formulation.given import read_value
from phijax.geometry import Region
from phijax.symbolic import Field, as_expression, components, is_vector, text


class EquationReader:
    """Reads the equations of one constraint. `terms` and `columns` are the result, `faults` what was wrong."""

    def __init__(self, name: str, region: Region):
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
                    given = read_value(key, value, self.region, self.columns, self.report)
                    label = "" if len(written) == 1 else (key.name if isinstance(key, Field) else text(key))
                    if given is not None:
                        yield label, sympy.Eq(key, given)
                else:
                    self.report(f"has the key {key!r}; keys are names of equations, or fields.")
        elif isinstance(written, tuple | list) or _holds_equations(written):
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
            expression = as_expression(written)
            self.terms.append(Term(label, expression, expression))
        else:
            self.report(f"{written!r} is no equation; write Eq(left, right), or a mapping of fields to values.")

    def _sides(self, label: str, written: Any, left: Any, right: Any) -> None:
        left, right = _explicit(left), _explicit(right)
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
        cure = "look for the same thing on both sides"
        if not value:
            cure = (
                "its sides can never be equal: a vector and a number, a real field and a complex value, or a number "
                "that is not finite"
            )
        if compared:
            cure = "`==` compares at once; write Eq(left, right)"
        self.report(f"{which}is already {value} before anything is solved; {cure}.")


def _holds_equations(written: Any) -> bool:
    return isinstance(written, sympy.Tuple | sympy.MatrixBase) and any(isinstance(e, sympy.Rel) for e in written)


def _explicit(side: Any) -> Any:
    """A product of matrices that sympy keeps as it was written, multiplied out."""
    return side.doit().as_explicit() if isinstance(side, sympy.MatrixExpr) else side
