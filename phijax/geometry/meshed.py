"""Meshed: what regions made of simplices have in common; they are compared, stored and evaluated by their arrays."""

from __future__ import annotations

import abc
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Float, Int
from sympy import Symbol

from phijax.geometry._numbers import symbols
from phijax.geometry.pick import take
from phijax.geometry.placement import Coordinates, Placement, Rule
from phijax.geometry.region import Region
from phijax.geometry.simplices import Simplices


class Meshed(Region):
    """A region over `axes` whose points lie on `simplices`. Concrete ones are frozen dataclasses with eq=False."""

    axes: tuple[Symbol, ...]

    @property
    @abc.abstractmethod
    def simplices(self) -> Simplices:
        """What it is made of."""

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return self.axes

    @property
    def dimension(self) -> int:
        return self.simplices.dimension

    @property
    def cube_dimension(self) -> int | None:
        return self.simplices.dimension

    @property
    def measure(self) -> float:
        return float(np.sum(self.simplices.measures))

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        return dict(zip(self.axes, self.simplices.bounds, strict=True))

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        return () if self.simplices.normals is None else self.axes

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        return named_placement(self.axes, *self.simplices.place(unit))

    def quadrature(self, points_per_axis: int) -> Rule:
        """Simplex by simplex, Gauss-Jacobi in collapsed coordinates."""
        nodes, weights, index = self.simplices.quadrature(points_per_axis)
        normals = self.simplices.normals
        return Rule(self._named(nodes.T), weights, None if normals is None else self._named(normals[index].T))

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return ()

    def _named(self, columns: Any) -> dict[str, Any]:
        return dict(zip(self.names, columns, strict=True))

    @functools.cached_property
    def _value(self) -> tuple:
        return _plain(tuple(self.spec[1].values()))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, type(self)) and self._value == other._value)

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._value))

    def __reduce__(self) -> tuple:
        return type(self), tuple(self.spec[1].values())  # NumPy forgets that an array cannot be written to

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


@dataclass(frozen=True, eq=False)
class Merged:
    """Pieces of simplices as one table: the cost of placing points does not grow with the number of pieces."""

    axes: tuple[Symbol, ...]
    simplices: Simplices
    owners: Int[np.ndarray, "m"]

    @classmethod
    def of(cls, regions: tuple[Region, ...]) -> Merged | None:
        """The table, or None where a piece has another shape or the pieces differ in what they have."""
        if not all(isinstance(r, Meshed) and r.cube_dimension and r.axes == regions[0].coordinates for r in regions):
            return None
        tables = [r.simplices for r in regions]  # type: ignore[attr-defined]
        if len({(table.dimension, table.normals is None) for table in tables}) > 1:
            return None
        join = lambda arrays: None if arrays[0] is None else np.concatenate(arrays)
        together = Simplices(join([t.corners for t in tables]), join([t.normals for t in tables]))  # type: ignore[arg-type]
        owners = np.repeat(np.arange(len(tables)), [len(table.corners) for table in tables])
        return cls(regions[0].coordinates, together, owners)

    def piece(self, unit: Float[Array, "n"]) -> Int[Array, "n"]:
        """Index of the piece that the first coordinate of the cube picks."""
        return take(self.owners, self.simplices.index(unit))

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        return named_placement(self.axes, *self.simplices.place(unit))


def named_placement(axes: tuple[Symbol, ...], placed: list, normals: list) -> Placement:
    name = lambda columns: {axis.name: column for axis, column in zip(axes, columns, strict=True)}
    return Placement(name(placed), name(normals) if normals else None)


def checked_axes(coordinates: Any, what: str, count: int) -> tuple[Symbol, ...]:
    """`count` distinct coordinates."""
    axes = symbols(coordinates, what)
    if len(axes) != count:
        raise ValueError(f"{what}: give {count} coordinates, not {len(axes)}.")
    return axes


def checked_table(given: Any, what: str, columns: int) -> Float[np.ndarray, "n d"]:
    """Points as a read-only copy of shape (n, columns) in float64."""
    try:
        table = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: it must be an array of numbers of shape (n, {columns}).") from None
    if table.ndim != 2 or table.shape[1] != columns:
        raise ValueError(f"{what} has shape {table.shape}; it must be (n, {columns}).")
    finite = np.isfinite(table).all(axis=1)
    if not finite.all():
        raise ValueError(f"{what} has a value that is not finite at row {int(np.argmin(finite))}.")
    return read_only(table)


def read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def column_stack(points: Coordinates, names: tuple[str, ...], xp: Any) -> Float[Array, "n d"]:
    """Columns of any one shape as rows."""
    return xp.stack([xp.ravel(points[name]) for name in names], axis=1)


def _plain(value: Any) -> Any:
    """Arrays as bytes, so that they compare and hash by value."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value
