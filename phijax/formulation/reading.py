"""Reads (name, constraint) pairs, as users write them, into constraints on concrete regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

from phijax.formulation.conditions import Data, Free, On, Periodic
from phijax.formulation.constraint import Column, Constraint, Term
from phijax.formulation.equations import EquationReader
from phijax.formulation.faults import Fault, nearest
from phijax.formulation.periodic_pairs import read_periodic
from phijax.geometry import PointCloud, Region
from phijax.geometry.unresolved import Unresolved
from phijax.symbolic import Field, Observed, fields_in, first_masked, measured


def read_constraints(domain: Region, pairs: Sequence[tuple[str, Any]]) -> tuple[list[Constraint], list[Fault]]:
    """Constraints in order, and the faults met; a constraint that could not be read is left out."""
    constraints: list[Constraint] = []
    faults: list[Fault] = []
    names: set[str] = set()
    known = _fields_written(pairs)
    for pair in pairs:
        if len(pair) != 2:
            faults.append(Fault(None, f"{pair!r} is no constraint; give (name, constraint) pairs, or a mapping."))
            continue
        name, written = pair
        if not isinstance(name, str) or not name or "/" in name:
            faults.append(Fault(str(name), f"{name!r} cannot name a constraint; use a non-empty string without '/'."))
            continue
        if name in names:
            faults.append(Fault(name, "is declared twice; give the second constraint a name of its own."))
            continue
        names.add(name)
        constraint, found = _read(name, written, domain, known)
        faults += found
        if constraint is not None:
            constraints.append(constraint)
    return constraints, faults


def _read(name: str, written: Any, domain: Region, known: dict[str, Field]) -> tuple[Constraint | None, list[Fault]]:
    if isinstance(written, Data):
        return _read_data(name, written, domain, known)
    if isinstance(written, Periodic):
        return read_periodic(name, written, domain)
    on_domain = not isinstance(written, On | Free)
    region = domain if on_domain else written.region
    if not isinstance(region, Region):
        return None, [Fault(name, f"{region!r} is no region; use one such as domain.boundary or domain.at(t=0).")]
    if isinstance(written, On) and not isinstance(written.exact, bool):
        return None, [Fault(name, f"exact={written.exact!r} must be True or False.")]
    faults = [Fault(name, message) for message in region.faults]
    if not faults:
        region, faults = extend(name, region, domain)
        if faults:
            region = Unresolved(region.coordinates, tuple(fault.message for fault in faults))
    if isinstance(written, Free):
        return (None if faults else Constraint(name, region, kind="free")), faults
    reader = EquationReader(name, region).read(written.written if isinstance(written, On) else written)
    faults += reader.faults
    if not reader.terms:
        return None, faults
    exact = isinstance(written, On) and written.exact
    columns = {**(written.columns if isinstance(written, On) else {}), **reader.columns}
    return Constraint(name, region, tuple(reader.terms), exact, "equation", on_domain, columns), faults


def extend(name: str, region: Region, domain: Region) -> tuple[Region, list[Fault]]:
    """`region` over every coordinate of the domain: at all times, for all values of a parameter."""
    have = set(region.coordinates)
    strange = [symbol for symbol in region.coordinates if symbol not in domain.coordinates]
    if strange:
        known = nearest(strange[0].name, [symbol.name for symbol in domain.coordinates])
        return region, [
            Fault(name, f"its region {region} has the coordinate {strange[0].name!r}, which the domain lacks; {known}.")
        ]
    for factor in domain.factors:
        missing = [symbol for symbol in factor.coordinates if symbol not in have]
        if missing and len(missing) < len(factor.coordinates):
            return region, [
                Fault(name, f"its region {region} fixes a part of {factor} alone; give {missing[0].name!r} as well.")
            ]
        if missing:
            region = region * factor
    return region, []


def _read_data(name: str, data: Data, domain: Region, known: dict[str, Field]) -> tuple[Constraint | None, list[Fault]]:
    faults: list[Fault] = []
    arrays = {column: np.asarray(values) for column, values in data.columns.items()}
    for column, array in arrays.items():
        if array.dtype.kind not in "fiucb":
            faults.append(
                Fault(name, f"column {column!r} holds {array.dtype}, not numbers; convert it, as by .astype(float).")
            )
        elif (masked := first_masked(data.columns[column])) is not None:
            faults.append(
                Fault(name, f"column {column!r} is masked in row {masked}; leave out the rows without a value.")
            )
        elif array.ndim > 2 or (array.ndim == 2 and 1 not in array.shape):
            faults.append(Fault(name, f"column {column!r} has shape {array.shape}; one number a row is needed: (n,)."))
        elif array.size and not np.all(np.isfinite(array)):
            bad = int(np.flatnonzero(~np.isfinite(array.reshape(-1)))[0])
            faults.append(
                Fault(name, f"column {column!r} is not finite in row {bad}; leave out the rows without a value.")
            )
    if faults:
        return None, faults
    arrays = {column: array.reshape(-1) for column, array in arrays.items()}
    if len({len(array) for array in arrays.values()}) > 1:
        lengths = ", ".join(f"{column}: {len(array)}" for column, array in arrays.items())
        return None, [Fault(name, f"its columns have different lengths ({lengths}).")]
    if not arrays or not len(next(iter(arrays.values()))):
        return None, [Fault(name, "its table has no row.")]
    symbols = {symbol.name: symbol for symbol in domain.coordinates}
    unknown = [column for column in arrays if column not in symbols and column not in known]
    for column in unknown:
        faults.append(
            Fault(
                name,
                f"column {column!r} is neither a coordinate nor a field of an equation; "
                f"{nearest(column, [*symbols, *known])}. A field of no equation is given itself: phi.data({{x: xs, u: us}}).",
            )
        )
    observed = [column for column in arrays if column in known and column not in symbols]
    if not observed and not unknown:
        faults.append(
            Fault(name, f"no column is a field, so nothing is observed; known fields: {', '.join(known) or 'none'}.")
        )
    given = {symbols[column]: array for column, array in arrays.items() if column in symbols}
    for column in observed:
        lacking = [c.name for c in known[column].coordinates if c in domain.coordinates and c not in given]
        if lacking:
            faults.append(Fault(name, f"{column!r} depends on {lacking[0]!r}, which is no column of the table."))
    if faults:
        return None, faults
    for column in observed:
        if arrays[column].dtype.kind == "c" and not known[column].func.is_complex_field:
            faults.append(
                Fault(name, f"{column!r} is real and its values are complex; make it by phi.field(..., complex=True).")
            )
    if faults:
        return None, faults
    terms = []
    for column in observed:
        field = known[column]
        symbol = Observed(column, real=not field.func.is_complex_field)
        label = "" if len(observed) == 1 else column
        terms.append(Term(label, sympy.Eq(field, symbol), field - symbol))
    columns = {column: Column(measured(arrays[column])) for column in observed}
    return Constraint(name, PointCloud(given), tuple(terms), False, "data", False, columns), []


def _fields_written(pairs: Sequence[tuple[str, Any]]) -> dict[str, Field]:
    """Fields that occur anywhere in what was written, by name: what a data column may be called."""
    found: dict[str, Field] = {}

    def visit(part: Any) -> None:
        if isinstance(part, On):
            visit(part.written)
        elif isinstance(part, Periodic):
            visit(part.field)
        elif isinstance(part, Data):
            visit(part.fields)
        elif isinstance(part, dict):
            for key, value in part.items():
                visit(key)
                visit(value)
        elif isinstance(part, sympy.Basic | sympy.MatrixBase):
            for name, field in fields_in(part).items():
                found.setdefault(name, field)
        elif isinstance(part, tuple | list):
            for item in part:
                visit(item)

    for pair in pairs:
        visit(pair[-1])
    return found
