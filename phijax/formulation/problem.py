"""Problem: an ordered mapping from names to constraints on a domain, checked as a whole when it is made."""

from __future__ import annotations

import warnings as python_warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from phijax._read_only import ReadOnly
from phijax.formulation.checks import check, warn
from phijax.formulation.conditions import Data, On
from phijax.formulation.constraint import Constraint
from phijax.formulation.faults import DeclarationError, DeclarationWarning, Fault
from phijax.formulation.reading import read_constraints
from phijax.formulation.reference import Reference, reference_faults
from phijax.geometry import Region
from phijax.symbolic import Field, Parameter, fields_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Problem:
    """Equations on a domain, immutable.

    domain: the region on which bare equations hold. constraints: a mapping of names to constraints, or (name,
    constraint) pairs; their order is the order in which sampler keys are split. reference: a known solution, as a
    mapping of fields and parameters to expressions, callables and numbers, or a Reference. name: what tables call it.
    Raises DeclarationError with every fault at once; warns with DeclarationWarning.
    """

    def __init__(
        self,
        domain: Region,
        constraints: Mapping[str, Any] | Iterable[tuple[str, Any]],
        *,
        name: str = "problem",
        reference: Reference | Mapping[Any, Any] | None = None,
    ):
        if not isinstance(domain, Region):
            raise DeclarationError(
                [Fault(None, f"the domain {domain!r} is no region; begin with phi.Interval(x, a, b).")]
            )
        if domain.faults:
            raise DeclarationError([Fault(None, f"the domain: {message}") for message in domain.faults])
        if domain.depends:
            listed = ", ".join(sorted(symbol.name for symbol in domain.depends))
            message = (
                f"the domain {domain} moves with {listed}; multiply it by the region of {listed}, as in "
                f"domain * phi.Interval({listed}, 0, 1)."
            )
            raise DeclarationError([Fault(None, message)])
        pairs = _pairs(constraints)
        read, faults = read_constraints(domain, pairs)
        self.name, self.domain, self._written = name, domain, tuple(pairs)
        self.constraints: Mapping[str, Constraint] = ReadOnly({c.name: c for c in read})
        self.reference = Reference(reference) if isinstance(reference, Mapping) else reference
        faults += check(self)
        faults += [] if faults or reference is None else reference_faults(self)
        if faults:
            raise DeclarationError(dict.fromkeys(faults))
        self.warnings: tuple[str, ...] = tuple(str(fault) for fault in warn(self))
        self._made = True
        for message in self.warnings:
            python_warnings.warn(message, DeclarationWarning, stacklevel=2)

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_made", False):
            raise AttributeError(f"a Problem cannot be changed; {name!r} is set when it is made, or by problem.add.")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Problem cannot be changed; {name!r} is part of it as long as it lives.")

    def add(self, name: str, constraint: Any) -> Problem:
        """A new problem with one constraint more, last in order. A name that exists is refused."""
        return Problem(self.domain, [*self._written, (name, constraint)], name=self.name, reference=self.reference)

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """Unknown functions at their own coordinates, by name, in order of first use."""
        found: dict[str, Field] = {}
        for expression in self._residuals():
            for name, field in fields_in(expression).items():
                found.setdefault(name, field)
        return ReadOnly(found)

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """Unknown constants, by name, in order of first use."""
        found: dict[str, Parameter] = {}
        for expression in self._residuals():
            for symbol in sorted(expression.atoms(Parameter), key=lambda s: s.name):
                found.setdefault(symbol.name, symbol)
        return ReadOnly(found)

    @property
    def trained(self) -> dict[str, Constraint]:
        """Constraints that have a sampler and loss terms: neither free nor built into the ansatz."""
        return {name: c for name, c in self.constraints.items() if c.kind != "free" and not c.exact}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the declaration; equal for equal mathematics in equal order, whatever the process."""
        from phijax.formulation.serialization import fingerprint

        return fingerprint(self)

    def _residuals(self) -> Iterable[sympy.Expr]:
        return (term.residual for constraint in self.constraints.values() for term in constraint.terms)

    def region_of(self, field: Field) -> Region:
        """Where a field lives: its own region, or the domain."""
        return field.func.on if field.func.on is not None else self.domain

    def plot(self, path: str | Path | None = None, *, points: int | Mapping[str, int] | None = None) -> Figure:
        """A picture of the domain and of the points that each constraint's sampler draws; written to `path` if given.

        points: how many are shown, for all or by constraint.
        """
        from phijax.drawing import plot

        return plot(self, path, points=points)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __str__(self) -> str:
        from phijax.formulation.printing import as_text

        return as_text(self)

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        from phijax.formulation.printing import as_latex

        return as_latex(self)


def _pairs(constraints: Any) -> list[tuple[Any, ...]]:
    """(name, constraint) pairs, with mappings and lists copied, so that a later change of the user's is none here."""
    if isinstance(constraints, Mapping):
        return [(name, _copied(written)) for name, written in constraints.items()]
    if isinstance(constraints, str) or not isinstance(constraints, Iterable):
        raise DeclarationError([Fault(None, f"{constraints!r} is no mapping of names to constraints.")])
    return [tuple(map(_copied, pair)) if isinstance(pair, tuple | list) else (pair,) for pair in constraints]


def _copied(written: Any) -> Any:
    if isinstance(written, On):
        return replace(written, written=_copied(written.written))
    if isinstance(written, Data):
        return replace(
            written, columns={name: np.array(column, subok=True) for name, column in written.columns.items()}
        )
    if isinstance(written, dict):
        return {key: _copied(value) for key, value in written.items()}
    if isinstance(written, list):
        return [_copied(item) for item in written]
    return written.copy() if isinstance(written, np.ndarray | sympy.MutableDenseMatrix) else written
