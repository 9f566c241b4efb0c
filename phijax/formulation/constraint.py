"""Constraint: a name, a region, and residuals that vanish on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import sympy

from phijax._read_only import ReadOnly
from phijax.geometry import Region
from phijax.symbolic import Field, fields_in

Kind = Literal["equation", "data", "free"]


class Column:
    """An observed column, compared by its numbers; a copy that cannot be written to."""

    def __init__(self, values: Any):
        self.values = np.array(values)
        self.values.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Column) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash((self.values.shape, self.values.tobytes()))

    def __reduce__(self) -> tuple:
        return Column, (self.values,)  # NumPy forgets that an array cannot be written to


@dataclass(frozen=True)
class Term:
    """One equation: `label` within its constraint ("" for the only one), what was written, lhs - rhs."""

    label: str
    written: sympy.Basic
    residual: sympy.Expr

    @property
    def fields(self) -> dict[str, Field]:
        """Unknown functions in the residual."""
        return fields_in(self.residual)


@dataclass(frozen=True)
class Constraint:
    """Equations on a region, by name. `on_domain`: a bare equation; `columns`: observed values by column."""

    name: str
    region: Region
    terms: tuple[Term, ...] = ()
    exact: bool = False
    kind: Kind = "equation"
    on_domain: bool = False
    columns: Mapping[str, Column] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", ReadOnly(self.columns))

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the loss terms: the constraint's own, or `constraint/label`."""
        return tuple(f"{self.name}/{term.label}" if term.label else self.name for term in self.terms)
