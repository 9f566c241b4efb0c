"""PointCloud: a finite set of given points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Expr, Symbol

from phijax._read_only import ReadOnly
from phijax.geometry._numbers import as_float, namespace, symbols
from phijax.geometry.placement import Coordinates, Placement, Rule
from phijax.geometry.region import Region
from phijax.symbolic import first_masked

_CHUNK = 4096  # rows of the table of distances held at a time


@dataclass(frozen=True, eq=False)
class PointCloud(Region):
    """Given points: `PointCloud({x: xs, y: ys}, normals={x: nx, y: ny})`, each column of shape (n,).

    Columns are copied and kept in float64. normals: outward unit normals, where the points lie on a boundary.
    Raises ValueError for columns of other shapes or lengths, values that are not finite, normals that are not unit.
    """

    columns: Any
    normals: Any = None

    def __post_init__(self) -> None:
        columns = _table(self.columns, "PointCloud")
        object.__setattr__(self, "columns", columns)
        if self.normals is None:
            return
        normals = _table(self.normals, "PointCloud: normals")
        if set(normals) - set(columns):
            unknown = ", ".join(s.name for s in set(normals) - set(columns))
            raise ValueError(f"PointCloud: normals along {unknown}, which is no coordinate of the points.")
        if len(next(iter(normals.values()))) != len(self):
            raise ValueError(f"PointCloud: {len(next(iter(normals.values())))} normals for {len(self)} points.")
        length = np.sqrt(sum(column**2 for column in normals.values()))
        if np.any(np.abs(length - 1) > 1e-4):
            row = int(np.argmax(np.abs(length - 1)))
            raise ValueError(f"PointCloud: the normal at row {row} has length {length[row]:.6g}; normals must be unit.")
        object.__setattr__(self, "normals", normals)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def _value(self) -> tuple:
        tables = (self.columns, self.normals or {})
        return tuple(tuple((symbol, column.tobytes()) for symbol, column in table.items()) for table in tables)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PointCloud) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash(self._value())

    def __reduce__(self) -> tuple:
        return PointCloud, (self.columns, self.normals)  # NumPy forgets that an array cannot be written to

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return tuple(self.columns)

    @property
    def dimension(self) -> int:
        return 0

    @property
    def cube_dimension(self) -> int:
        return 1

    @property
    def measure(self) -> float:
        return float(len(self))

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        return {symbol: (float(column.min()), float(column.max())) for symbol, column in self.columns.items()}

    @property
    def fixed(self) -> dict[Symbol, Expr]:
        return {}

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        return tuple(self.normals) if self.normals else ()

    def rows(self, dtype: Any) -> Placement:
        """All of the points, in the order given."""
        return self._rows(jnp, dtype)

    def _rows(self, xp: Any, dtype: Any) -> Placement:
        normals = self.normals and {s.name: xp.asarray(c, dtype) for s, c in self.normals.items()}
        return Placement({s.name: xp.asarray(c, dtype) for s, c in self.columns.items()}, normals)

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        xp = namespace(unit)
        index = xp.minimum((unit[:, 0] * len(self)).astype(jnp.int32), len(self) - 1)
        coordinates, normals = self._rows(xp, unit.dtype)
        take = lambda table: table and {name: column[index] for name, column in table.items()}
        return Placement(take(coordinates), take(normals))

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """To the nearest of the points."""
        given = [points[name] for name in self.names]
        xp = namespace(given[0])
        nearest = xp.full_like(given[0], np.inf)
        for start in range(0, len(self), _CHUNK):
            columns = [xp.asarray(c[start : start + _CHUNK], given[0].dtype) for c in self.columns.values()]
            rows = [xp.expand_dims(c, tuple(range(given[0].ndim))) for c in columns]
            square = sum((g[..., None] - row) ** 2 for g, row in zip(given, rows, strict=True))
            nearest = xp.minimum(nearest, xp.sqrt(xp.min(square, axis=-1)))
        return nearest

    def quadrature(self, points_per_axis: int) -> Rule:
        """Every point, with weight one."""
        normals = self.normals and {s.name: column for s, column in self.normals.items()}
        return Rule({s.name: column for s, column in self.columns.items()}, np.ones(len(self)), normals)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        chosen = self.columns[symbol] == as_float(value)
        if not chosen.any():
            raise ValueError(f"none of the {len(self)} points has {symbol} = {value}.")
        pick = lambda table: table and {s: column[chosen] for s, column in table.items()}
        return PointCloud(pick(self.columns), pick(self.normals))

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return ()

    def __repr__(self) -> str:
        return f"PointCloud({len(self)} points in {', '.join(self.names)})"

    def body(self, tex: bool = False) -> str:
        number = f"{len(self)} point{'s' if len(self) > 1 else ''}"
        return rf"\{{\text{{{number}}}\}}" if tex else f"{{{number}}}"


def _table(columns: Any, what: str) -> Mapping[Symbol, Float[np.ndarray, "n"]]:
    """Columns as read-only float64 arrays of one length."""
    if not isinstance(columns, Mapping) or not columns:
        raise ValueError(f"{what}: give a mapping from coordinates to columns, as in {{x: xs, y: ys}}.")
    symbols(columns, what)
    table = {symbol: _column(values, f"{what}: the column of {symbol}") for symbol, values in columns.items()}
    lengths = {symbol.name: len(column) for symbol, column in table.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{what}: the columns must have one length; got {lengths}.")
    return ReadOnly(table)


def _column(values: Any, what: str) -> Float[np.ndarray, "n"]:
    masked = first_masked(values)
    if masked is not None:
        raise ValueError(f"{what} is masked at row {masked}; leave out the points without a value.")
    column = np.array(values, dtype=np.float64)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1 or column.size == 0:
        raise ValueError(f"{what} has shape {column.shape}; it must be (n,) with n at least 1.")
    if not np.all(np.isfinite(column)):
        raise ValueError(f"{what} has a value that is not finite at row {int(np.argmin(np.isfinite(column)))}.")
    column.setflags(write=False)
    return column
