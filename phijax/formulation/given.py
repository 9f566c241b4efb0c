"""Reads the values of fields that users give: numbers, expressions, callables of the region's coordinates, arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy
from sympy.logic.boolalg import BooleanAtom

from phijax.formulation.constraint import Column
from phijax.geometry import PointCloud, Region
from phijax.symbolic import (
    Field,
    KnownFunction,
    Observed,
    Table,
    as_expression,
    first_masked,
    function,
    is_vector,
    measured,
    text,
)

Report = Callable[[str], None]


def read_value(
    target: sympy.Basic, value: Any, region: Region, columns: dict[str, Column], report: Report
) -> sympy.Basic | None:
    """What stands for `value` in the equation target = value; None where a fault was reported. Arrays go to `columns`."""
    if isinstance(value, bool | np.bool_ | BooleanAtom):
        report(f"the value {value} of {text(target)} is no number; write 1 or 0.")
        return None
    if isinstance(value, sympy.Basic | sympy.MatrixBase):
        found: Any = value
    elif is_vector(value) or getattr(value, "ndim", 0):
        found = _observed(target, value, region, columns, report)
    elif callable(value):
        found = _applied(target, value, region, report)
    else:
        try:
            found = as_expression(value)
        except TypeError:
            report(f"the value {value!r} of {text(target)} is no number, expression, callable or array.")
            return None
    if isinstance(found, sympy.Expr) and found.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
        report(f"the value {found} of {text(target)} is not finite.")
        return None
    return found


def _observed(
    target: sympy.Basic, value: Any, region: Region, columns: dict[str, Column], report: Report
) -> sympy.Basic | None:
    """A column of values, one a point of the region, as a symbol that the points bind."""
    column = np.asarray(value)
    shown = text(target)
    if column.dtype.kind not in "fiucb":
        report(f"{shown} is given an array of {column.dtype}, not of numbers.")
        return None
    if column.size == 1:
        return as_expression(column.reshape(()))
    real = not (isinstance(target, Field) and target.func.is_complex_field)
    if region.faults:
        return Observed(shown, real=real)  # whether it fits cannot be said; the region's own fault is reported
    if not isinstance(target, Field) or not isinstance(region, PointCloud):
        report(
            f"an array of shape {column.shape} is given for {shown}, but {region} is no list of points; give an "
            f"expression or a callable, or put points and values in phi.data."
        )
    elif column.shape not in {(len(region),), (len(region), 1)}:
        report(f"{shown} is given values of shape {column.shape}, but the region has {len(region)} points.")
    elif (masked := first_masked(value)) is not None:
        report(f"the values of {shown} are masked in row {masked}; leave out the points without a value.")
    elif not np.all(np.isfinite(column)):
        report(f"the values of {shown} are not finite in row {int(np.argmin(np.isfinite(column.reshape(-1))))}.")
    elif column.dtype.kind == "c" and real:
        report(f"{shown} is real and its values are complex; make it by phi.field(..., complex=True).")
    else:
        columns[target.name] = Column(measured(column.reshape(-1)))
        return Observed(target.name, real=real)
    return None


def _applied(target: sympy.Basic, value: Any, region: Region, report: Report) -> sympy.Expr | None:
    """A numeric callable, as a known function of the region's coordinates by name."""
    symbols = {symbol.name: symbol for symbol in region.coordinates}
    shown = value.name if isinstance(value, KnownFunction) else getattr(value, "__name__", type(value).__name__)
    if isinstance(value, sympy.FunctionClass):
        report(f"{shown} is sympy's function without its argument; write {shown}({next(iter(symbols))}).")
        return None
    names = _argument_names(value, symbols)
    if names is None and len(symbols) == 1:
        names = list(symbols)
    if names is None:
        report(
            f"{shown} takes its argument by position, and the region has the coordinates {', '.join(symbols)}; "
            f"name the one that is meant, as in lambda {next(iter(symbols))}: {shown}({next(iter(symbols))})."
        )
        return None
    unknown = [name for name in names if name not in symbols]
    if unknown:
        report(
            f"{shown} asks for {unknown[0]!r}, which is no coordinate of the region; known: {', '.join(symbols)}. A "
            f"setting of its own comes last and has a default."
        )
    elif not names:
        report(f"{shown} takes no coordinate by position; give its value, or a function such as lambda x: ... .")
    else:
        arguments = (symbols[name] for name in names)
        name = shown if shown.isidentifier() and shown not in symbols else f"{getattr(target, 'name', 'given')}_value"
        return value(*arguments) if isinstance(value, KnownFunction) else function(name, value)(*arguments)
    return None


def _argument_names(value: Any, coordinates: dict[str, sympy.Symbol]) -> list[str] | None:
    """Names of the arguments to be passed by position; None where they have no names.

    Arguments with a default are left out, unless a coordinate has their name.
    """
    if isinstance(value, KnownFunction):
        return (
            list(value.source.axes) if isinstance(value.source, Table) else _argument_names(value.source, coordinates)
        )
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return None
    nameless = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL}
    if isinstance(value, np.ufunc) or (parameters and parameters[0].kind in nameless):
        return None
    named = [p for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    wanted = [p.default is inspect.Parameter.empty or p.name in coordinates for p in named]
    # What stands before the last one that is wanted is passed too, since a known function is called by position.
    return [p.name for p in named[: max((i + 1 for i, each in enumerate(wanted) if each), default=0)]]
