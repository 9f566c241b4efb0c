"""Image: a region moved by an affine map, whose coefficients may depend on time and parameters: shapes that move.

A ball of changing radius, an interval with a moving end and a rotating blade are images of regions that do not change.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from jaxtyping import Array, Bool, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import as_float, namespace
from phijax.geometry.ball import Ball
from phijax.geometry.ellipsoid import distance_to_ellipsoid
from phijax.geometry.placement import Coordinates, Placement, Rule, written
from phijax.geometry.predicate import evaluate
from phijax.geometry.region import Region
from phijax.geometry.wrapped import Wrapped

_STEPS = 65  # values of each coordinate that a moving region depends on, by which its bounds are found
_RULE_POINTS = 64  # an axis, for the measure of a curved surface
Ranges = Mapping[Symbol, tuple[float, float]]


@dataclass(frozen=True)
class Image(Wrapped):
    """matrix @ x + shift for the points x of `base`; made by `image`, which says it more plainly where that can be done.

    Uniform points of `base` give uniform ones unless it is a curved surface and the map no similarity.
    """

    base: Region
    matrix: tuple[tuple[Expr, ...], ...]
    shift: tuple[Expr, ...]

    @functools.cached_property
    def depends(self) -> frozenset[Symbol]:
        entries = [*itertools.chain(*self.matrix), *self.shift]
        found: Any = frozenset().union(*(entry.free_symbols for entry in entries), self.base.depends)
        return found

    @property
    def fixed(self) -> dict[Symbol, Expr]:
        return {}

    @property
    def cover(self) -> Region:
        return self if self.cube_dimension is not None else Image(self.base.cover, self.matrix, self.shift)

    def accept(self, unit: Float[Array, "n c"], placement: Placement) -> Bool[Array, "n"]:
        if self.cube_dimension is not None:
            return Region.accept(self, unit, placement)
        return self.base.accept(unit, self._back(placement))

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        return self.coordinates if self.base.has_normals else ()

    @property
    def constant_normal(self) -> dict[Symbol, int]:
        if len(self.coordinates) > 1:
            return {}
        return {symbol: sign * _sign(self.matrix[0][0]) for symbol, sign in self.base.constant_normal.items()}

    @functools.cached_property
    def similarity(self) -> Expr | None:
        """The factor by which all lengths grow, None where they grow by different ones."""
        square = sympy.Matrix(self.matrix).T * sympy.Matrix(self.matrix)
        first = square[0, 0]
        if all(_vanishes(entry) for entry in square - first * sympy.eye(len(self.shift))):
            return sympy.sqrt(sympy.simplify(first))
        return None

    @property
    def uniform(self) -> bool:
        """Whether the image of uniform points is uniform, at given values of what it depends on."""
        whole = self.dimension in (0, len(self.coordinates))
        return whole or bool(self.base.constant_normal) or self.similarity is not None

    @functools.cached_property
    def determinant(self) -> Expr:
        determinant: Any = sympy.Matrix(self.matrix).det()
        return sympy.simplify(determinant)

    @functools.cached_property
    def inverse(self) -> tuple[tuple[Expr, ...], ...]:
        inverse = sympy.Matrix(self.matrix).adjugate() / self.determinant
        return tuple(tuple(inverse.row(i)) for i in range(len(self.shift)))

    @functools.cached_property
    def measure(self) -> float:
        if self.uniform and self.cube_dimension is not None:
            unit: Any = np.full((1, self.cube_dimension), 0.5)
            return float(self.base.measure * self.stretch(self.place(unit), {})[0])
        if self.uniform:
            size = self.determinant if self.dimension == len(self.coordinates) else self.similarity**self.dimension  # type: ignore[operator]
            return self.base.measure * abs(as_float(size))
        return float(np.sum(self.quadrature(_RULE_POINTS).weights))

    @functools.cached_property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        return self.bounds_over({})

    def bounds_over(self, ranges: Ranges) -> dict[Symbol, tuple[float, float]]:
        """Of all of the images, for values of what the map depends on within `ranges`."""
        around: Any = grid_over({symbol: ranges[symbol] for symbol in self.depends})
        if isinstance(self.base, Ball):
            middle, radius = [as_float(c) for c in self.base.center], as_float(self.base.radius)
            at = [self._row(i, middle, around) for i in range(len(middle))]
            reach = [
                radius * np.sqrt(sum(np.square(entry) for entry in self._entries(i, around)))
                for i in range(len(middle))
            ]
            pairs = [(np.min(m - r), np.max(m + r)) for m, r in zip(at, reach, strict=True)]
        else:
            corners = list(itertools.product(*(self.base.bounds[s] for s in self.coordinates)))
            rows = [[self._row(i, corner, around) for corner in corners] for i in range(len(self.shift))]
            pairs = [(np.min(row), np.max(row)) for row in rows]
        return {s: (float(low), float(high)) for s, (low, high) in zip(self.coordinates, pairs, strict=True)}

    def _entries(self, i: int, around: Coordinates) -> list[Any]:
        return [evaluate(entry, around, np) for entry in self.matrix[i]]

    def _row(self, i: int, columns: Any, around: Coordinates, xp: Any = np) -> Any:
        terms = [evaluate(e, around, xp) * column for e, column in zip(self.matrix[i], columns, strict=True) if e != 0]
        return sum(terms, evaluate(self.shift[i], around, xp))

    def place(self, unit: Float[Array, "n c"], around: Coordinates | None = None) -> Placement:
        """around: values of what the map depends on, (n,) each."""
        return self.carried(self.base.place(unit), around or {})

    def carried(self, placement: Placement, around: Coordinates) -> Placement:
        """The images of points of `base`."""
        columns = [placement.coordinates[name] for name in self.names]
        xp = namespace(columns[0])
        moved = {name: self._row(i, columns, around, xp) + 0 * columns[0] for i, name in enumerate(self.names)}
        if placement.normals is None:
            return Placement(moved)
        flat = {name: column for name, column in placement.normals.items() if name not in self.names}
        normals = [placement.normals[name] for name in self.names]
        turned = [
            sum(evaluate(self.inverse[j][i], around, xp) * n for j, n in enumerate(normals))
            for i in range(len(normals))
        ]
        if len(turned) == 1:
            return Placement(moved, flat | {self.names[0]: xp.sign(turned[0])})
        length = xp.sqrt(sum(column**2 for column in turned))
        return Placement(moved, flat | {name: c / length for name, c in zip(self.names, turned, strict=True)})

    def stretch(self, placement: Placement, around: Coordinates) -> Float[Array, "n"]:
        """By what factor the measure of the set grows about images of points."""
        column = placement.coordinates[self.names[0]]
        xp = namespace(column)
        if self.dimension == len(self.coordinates):
            return xp.abs(evaluate(self.determinant, around, xp)) + 0 * column
        if placement.normals is not None and self.dimension == len(self.coordinates) - 1:
            normals = [placement.normals[name] for name in self.names]
            pulled = [
                sum(evaluate(self.matrix[i][j], around, xp) * n for i, n in enumerate(normals))
                for j in range(len(normals))
            ]
            return xp.abs(evaluate(self.determinant, around, xp)) / xp.sqrt(sum(part**2 for part in pulled))
        if self.similarity is None and self.dimension:
            raise ValueError(f"{self.base} has no normals, so only moves that keep its shape are measured.")
        size = sympy.S.One if not self.dimension else self.similarity
        return evaluate(size, around, xp) ** self.dimension + 0 * column  # type: ignore[operator]

    def density(self, placement: Placement) -> Float[Array, "n"]:
        return self.base.measure * self.stretch(placement, placement.coordinates)

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """Exact where the shape is kept, and of ellipsoids at rest; else right in sign, and no more than the distance."""
        xp = namespace(points[self.names[0]])
        if isinstance(self.base, Ball) and self.similarity is None and not self.depends:
            return self._to_ellipsoid(points)
        inner = self.base.distance(self._pulled(points))
        if self.similarity is not None:
            return inner * evaluate(self.similarity, points, xp)
        entries = [evaluate(entry, points, xp) for row in self.inverse for entry in row]
        return inner / xp.sqrt(sum(xp.square(entry) for entry in entries))

    def _pulled(self, points: Coordinates) -> Coordinates:
        """The points of `base` whose images they are."""
        xp = namespace(points[self.names[0]])
        offsets = [points[name] - evaluate(b, points, xp) for name, b in zip(self.names, self.shift, strict=True)]
        pulled: Any = [
            sum(evaluate(entry, points, xp) * offset for entry, offset in zip(row, offsets, strict=True))
            for row in self.inverse
        ]
        return dict(zip(self.names, pulled, strict=True))

    def _back(self, placement: Placement) -> Placement:
        """Points of `base`, with its normals, whose images they are."""
        columns = placement.coordinates
        pulled = dict(self._pulled(columns))
        if placement.normals is None:
            return Placement(pulled)
        xp = namespace(columns[self.names[0]])
        given = [placement.normals[name] for name in self.names]
        own: Any = [
            sum(evaluate(self.matrix[i][j], columns, xp) * n for i, n in enumerate(given)) for j in range(len(given))
        ]
        length = xp.sqrt(sum(part**2 for part in own))
        return Placement(pulled, {name: part / length for name, part in zip(self.names, own, strict=True)})

    def inside(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        if tolerance is not None and abs(tolerance) <= np.finfo(points[self.names[0]].dtype).tiny:
            return self.base.inside(self._pulled(points), tolerance)
        return Region.inside(self, points, tolerance)

    def _to_ellipsoid(self, points: Coordinates) -> Float[Array, "*n"]:
        assert isinstance(self.base, Ball)
        columns = [points[name] for name in self.names]
        matrix = np.array([[as_float(entry) for entry in row] for row in self.matrix]) * as_float(self.base.radius)
        axes, radii, _ = np.linalg.svd(matrix)
        center = [self._row(i, [as_float(c) for c in self.base.center], {}) for i in range(len(columns))]
        offsets = [column - c for column, c in zip(columns, center, strict=True)]
        own: Any = [sum(float(axes[j, i]) * offset for j, offset in enumerate(offsets)) for i in range(len(columns))]
        return distance_to_ellipsoid(own, radii)

    def quadrature(self, points_per_axis: int) -> Rule:
        rule = self.base.quadrature(points_per_axis)
        moved = self.carried(rule.nodes, {})
        return moved.weighted(rule.weights * np.asarray(self.stretch(moved, {})))

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        if self.depends:
            raise ValueError(f"{self} moves; multiply it by the region of {_listed(self.depends)} first.")
        raise ValueError(
            f"{symbol} = {value} across {self.body()}: its slices are no regions here; use phi.Polygon or phi.Point."
        )

    def faces(self) -> tuple[tuple[str, Region], ...]:
        from phijax.geometry.motions import image

        return tuple((name, image(face, self.matrix, self.shift)) for name, face in self.base.faces())

    def body(self, tex: bool = False) -> str:
        rows = [
            written(sum(e * s for e, s in zip(row, self.coordinates, strict=True)) + b, tex)  # type: ignore[arg-type]
            for row, b in zip(self.matrix, self.shift, strict=True)
        ]
        moved = rows[0] if len(rows) == 1 else f"({', '.join(rows)})"
        return rf"\left\{{{moved} : {self.base.latex()}\right\}}" if tex else f"{{{moved} for {self.base}}}"


def grid_over(ranges: Ranges) -> dict[str, Float[np.ndarray, "n"]]:
    """Values of some coordinates, evenly over the product of their ranges; empty for none."""
    if not ranges:
        return {}
    steps = max(3, math.ceil(4096 ** (1 / len(ranges)))) if len(ranges) > 2 else _STEPS
    axes = [np.linspace(low, high, steps) for low, high in ranges.values()]
    mesh = np.meshgrid(*axes, indexing="ij")
    return {symbol.name: column.ravel() for symbol, column in zip(ranges, mesh, strict=True)}


def _listed(found: Any) -> str:
    return ", ".join(sorted(symbol.name for symbol in found))


def _sign(entry: Expr) -> int:
    return -1 if not entry.free_symbols and as_float(entry) < 0 else 1


def _vanishes(entry: Expr) -> bool:
    if not entry.free_symbols:
        return abs(as_float(entry)) < 1e-12
    return sympy.simplify(entry) == 0
