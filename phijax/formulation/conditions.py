"""What a user writes as a constraint: equations on a region, observed data, a periodic pair, or a part left free.

Nothing is checked here: `Problem` reads these, collects every fault and raises once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from phijax.formulation.csv_files import read_csv
from phijax.geometry import Region
from phijax.symbolic import Field


@dataclass(frozen=True)
class On:
    """Equations on a region, as written; `exact` ones are built into the ansatz."""

    region: Any
    written: Any
    exact: bool = False
    columns: Mapping[str, Any] = field(default_factory=dict)  # observed values that a stored problem brings along


@dataclass(frozen=True)
class Free:
    """A part of the boundary, or of the start, that is meant to have no condition."""

    region: Any


@dataclass(frozen=True)
class Data:
    """A table of observed values: columns by name, as written. fields: those that were given as such, not by name."""

    columns: Mapping[str, Any]
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True)
class Periodic:
    """Equal values, and equal derivatives up to `order`, at the two ends of a coordinate, or on two congruent sides."""

    field: sympy.Expr
    coordinate: Any
    order: int
    other: Any = None


def on(region: Region, *equations: Any, exact: bool = False) -> On:
    """Equations that hold on `region`.

    equations: one or several, a mapping of names to equations, or a mapping of fields to values; a value is a number,
    an expression, a callable of the region's coordinates by name, or an array with one entry a point of the region.
    exact: build them into the ansatz, so that they hold whatever the network's weights. Values, slopes across a side and
    sums of both with known coefficients can be, on whole sides and on whole circles and spheres.
    """
    written = equations[0] if len(equations) == 1 else equations
    return On(region, written, exact)


def free(region: Region) -> Free:
    """Says that no condition on `region` is meant, and silences the warning about it."""
    return Free(region)


def data(table: Any) -> Data:
    """Observed values, one row a point: a mapping, DataFrame, structured array, csv or npz file of columns named by
    coordinate and field.

    A field that no equation holds must be given itself, as in phi.data({x: xs, u: us}), since a name says too little.
    Columns of shape (n,) or (n, 1). Raises TypeError where the table has no named columns, ValueError where a cell of
    the file is no number, OSError where the file is not there.
    """
    if isinstance(table, str | Path):
        path = Path(table)
        if path.suffix == ".csv":
            return Data(read_csv(path))
        if path.suffix != ".npz":
            raise ValueError(f"{path}: observed values are read from .csv, with a line of names, or from .npz.")
        with np.load(path) as stored:
            return Data(dict(stored))
    if isinstance(table, Mapping):
        fields = tuple(key for key in table if isinstance(key, Field))
        names = [unicodedata.normalize("NFKC", getattr(key, "name", str(key))) for key in table]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"phi.data: the column {twice!r} is given twice, by its name and by its symbol; keep one.")
        return Data(dict(zip(names, table.values(), strict=True)), fields)
    names = getattr(getattr(table, "dtype", None), "names", None)  # a structured array, as of numpy.genfromtxt
    if names:
        return Data({name: table[name] for name in names})
    if hasattr(table, "columns"):
        return Data({str(name): np.asarray(table[name]) for name in table.columns})
    raise TypeError(f"phi.data needs named columns, as in phi.data({{'x': xs, 'u': us}}); got {type(table).__name__}.")


def periodic(field: sympy.Expr, coordinate: Any, other: Any = None, *, order: int = 1) -> Periodic:
    """A soft periodic pair: `field`, and its derivatives up to `order`, agree at the two ends of `coordinate`.

    Or on two congruent sides, `periodic(u, wedge.side("first"), wedge.side("last"))`: the one is taken onto the other by a
    shift or by a turn, and slopes across them agree.
    """
    return Periodic(field, coordinate, order, other)
