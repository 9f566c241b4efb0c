"""Region: what every set of points over named coordinates can say of itself."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from sympy import Expr, Symbol
from sympy import latex as sympy_latex

from phijax.geometry._numbers import namespace
from phijax.geometry.placement import Coordinates, Placement, Rule, at_points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from phijax.geometry.boundary import Boundary
    from phijax.geometry.unresolved import Unresolved


class Region(abc.ABC):
    """An immutable set of points over named coordinates. Regions of equal value are equal.

    dimension: of the set itself, so 1 for the boundary of a disk.
    cube_dimension: of the unit cube that `from_cube` maps onto the set; None where there is no such map.
    measure: length, area, volume; the number of points of a set of points.
    bounds: of the smallest box that holds the set, as floats.
    faults: what a selection could not resolve, one sentence each; reported when the region is used.
    """

    @property
    @abc.abstractmethod
    def coordinates(self) -> tuple[Symbol, ...]: ...

    @property
    @abc.abstractmethod
    def dimension(self) -> int: ...

    @property
    @abc.abstractmethod
    def cube_dimension(self) -> int | None: ...

    @property
    @abc.abstractmethod
    def measure(self) -> float: ...

    @property
    @abc.abstractmethod
    def bounds(self) -> dict[Symbol, tuple[float, float]]: ...

    @abc.abstractmethod
    def place(self, unit: Float[Array, "n c"]) -> Placement:
        """`from_cube` without its check of the shape; NumPy for NumPy, so that a declaration asks nothing of JAX."""

    @abc.abstractmethod
    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """`signed_distance` of arrays of NumPy or JAX, in their precision."""

    @abc.abstractmethod
    def quadrature(self, points_per_axis: int) -> Rule:
        """A rule for integrals over the set, exact for polynomials of degree 2 points_per_axis - 1."""

    @abc.abstractmethod
    def body(self, tex: bool = False) -> str:
        """The set without its coordinates, as text or LaTeX."""

    @abc.abstractmethod
    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        """The part where `symbol`, one of the coordinates, is `value`."""

    @abc.abstractmethod
    def faces(self) -> tuple[tuple[str, Region], ...]:
        """Named pieces of the boundary in space."""

    # What a region is made of; composites say more.

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return tuple(symbol.name for symbol in self.coordinates)

    @property
    def factors(self) -> tuple[Region, ...]:
        """The regions over disjoint coordinates whose product this is."""
        return (self,)

    @property
    def pieces(self) -> tuple[tuple[str, Region], ...]:
        """The named regions whose union this is."""
        return ((self.face_name or str(self), self),)

    @property
    def face_name(self) -> str | None:
        """Name of this piece of a boundary, as `side` takes it; None where it is none."""
        return None

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        """The coordinates across which the region bounds a larger one; empty where it has no normal."""
        return ()

    @property
    def has_normals(self) -> bool:
        return bool(self.normal_coordinates)

    @property
    def fixed(self) -> dict[Symbol, Expr]:
        """Coordinates that have one value in the whole region."""
        return {}

    @property
    def constant_normal(self) -> dict[Symbol, int]:
        """{coordinate: -1 or +1} for a piece whose outward normal is along one coordinate, as on sides of boxes."""
        return {}

    @property
    def periodic(self) -> frozenset[Symbol]:
        """Coordinates whose two ends are one point."""
        return frozenset()

    @property
    def depends(self) -> frozenset[Symbol]:
        """Coordinates that the set lacks and moves with: it has a measure and points as a factor of a product with them."""
        return frozenset()

    @property
    def count(self) -> int | None:
        """Number of points of a finite set, None for others."""
        return round(self.measure) if self.dimension == 0 else None

    @property
    def breaks(self) -> Float[np.ndarray, "m"]:
        """Of a curve: where in (0, 1) its map has corners, in order; a rule over it is made between them."""
        return np.zeros(0)

    @property
    def cover(self) -> Region:
        """A region with a map from the cube that holds this one; itself where it has the map."""
        return self

    @property
    def faults(self) -> tuple[str, ...]:
        return ()

    @property
    def empty(self) -> bool:
        """Whether the set has no points."""
        return False

    @property
    def spec(self) -> tuple[str, dict[str, Any]]:
        """(kind, fields): `REGIONS[kind](**fields)` is an equal region."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.init}  # type: ignore[arg-type]
        return type(self).__name__, fields

    # Points.

    def from_cube(self, unit: Float[Array, "n c"]) -> Placement:
        """Points at `unit` of the open unit cube of `cube_dimension`; uniform in, uniform out. In the dtype of `unit`.

        Points of a set with interior are strictly inside it; on a side the fixed coordinate is exactly the bound.
        """
        if self.cube_dimension is None:
            raise ValueError(f"{self} has no map from a cube: draw its points by acceptance (RegionSampler does).")
        unit = jnp.asarray(unit)
        if unit.ndim != 2 or unit.shape[1] != self.cube_dimension:
            raise ValueError(
                f"{self} takes points of the unit cube of shape (n, {self.cube_dimension}), not {unit.shape}."
            )
        return self.place(unit)

    def density(self, placement: Placement) -> Float[Array, "n"]:
        """How much of the set a unit of the cube becomes about points; `measure` where the map is uniform."""
        column = next(iter(placement.coordinates.values()))
        return namespace(column).full_like(column, self.measure)

    def accept(self, unit: Float[Array, "n c"], placement: Placement) -> Bool[Array, "n"]:
        """Which of the points `placement = cover.from_cube(unit)` are of this region; uniform in it, then."""
        return namespace(unit).ones(unit.shape[:1], bool)

    def signed_distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """Euclidean distance to the edge of the set, negative inside; without sign where the set has no interior.

        Exact for products of intervals, balls and points. NumPy in float64 for NumPy arrays and numbers; JAX for JAX.
        """
        return at_points(self, self.distance, points)

    def contains(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        """Which points lie in the closed set, to a distance of `tolerance`.

        The default is 0 for a set with interior, else a few roundings of its largest bound.
        """
        return at_points(self, lambda given: self.inside(given, tolerance), points)

    def inside(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        """`contains` of arrays of NumPy or JAX, in their precision."""
        distance = self.distance(points)
        if tolerance is None:
            thin = self.dimension < len(self.coordinates)
            size = max((abs(b) for pair in self.bounds.values() for b in pair), default=0.0)
            tolerance = 16 * float(np.finfo(distance.dtype).eps) * max(size, 1.0) if thin else 0.0
        return distance <= tolerance

    # Making regions out of regions.

    def __mul__(self, other: Region) -> Region:
        from phijax.geometry.product import product

        return product(self, other) if isinstance(other, Region) else NotImplemented

    def __or__(self, other: Region) -> Region:
        from phijax.geometry.combination import UNION, combined

        return combined(UNION, self, other) if isinstance(other, Region) else NotImplemented

    def __and__(self, other: Region) -> Region:
        from phijax.geometry.combination import INTERSECTION, combined

        return combined(INTERSECTION, self, other) if isinstance(other, Region) else NotImplemented

    def __sub__(self, other: Region) -> Region:
        from phijax.geometry.combination import DIFFERENCE, combined

        return combined(DIFFERENCE, self, other) if isinstance(other, Region) else NotImplemented

    def translate(self, **amounts: Any) -> Region:
        """Moved by so much along coordinates: `translate(x=1, y=t)`. Amounts may depend on time and parameters."""
        from phijax.geometry.motions import translate

        return translate(self, amounts)

    def rotate(self, angle: Any, axis: Any = None, about: Any = None) -> Region:
        """Turned by an angle in radians, from the first space coordinate to the second, or about `axis` in three.

        axis: a coordinate's name or a vector. about: a point that stays, the origin unless given.
        """
        from phijax.geometry.motions import rotate

        return rotate(self, angle, axis, about)

    def scale(self, factor: Any = None, /, about: Any = None, **factors: Any) -> Region:
        """Stretched by one factor, `scale(2)`, or by one along each coordinate, `scale(x=2, y=1/2)`."""
        from phijax.geometry.motions import scale

        return scale(self, factor, about, factors)

    def mirror(self, **planes: Any) -> Region:
        """Reflected across planes: `mirror(x=0)`."""
        from phijax.geometry.motions import mirror

        return mirror(self, planes)

    def repeat(self, count: int, **steps: Any) -> Region:
        """The union of `count` copies, each moved on by the steps: `repeat(5, x=0.2)`."""
        from phijax.geometry.motions import repeat

        return repeat(self, count, steps)

    def named(self, name: str | None = None, /, **sides: str) -> Region:
        """The region with names for pieces of its boundary: one for all of it, or `named(left="inlet", top="wall")`.

        Several pieces may share a name; `side(name)` is then all of them. Names last through `|`, `&`, `-`, `*` and motions.
        Raises ValueError for a side that is not there.
        """
        from phijax.geometry.selectors import named

        return named(self, name, sides)

    def at(self, values: Mapping[Symbol, Any] | None = None, /, **named: Any) -> Region:
        """The slice where coordinates have given values, by name: `at(t=0)`. It keeps them as constant columns.

        Never raises: what can't be resolved is in `faults`.
        """
        from phijax.geometry.selectors import at

        return at(self, {**{getattr(s, "name", str(s)): v for s, v in (values or {}).items()}, **named})

    def side(self, name: str) -> Region:
        """A piece of the boundary by its name, with the outward normal; all of them where several share the name.

        Names are those given by `named`. Sides of intervals and boxes are also 'left' 'right' across the first space
        coordinate where there are at most two, 'bottom' 'top' across the second, 'x-' 'x+' across any.
        Never raises: what can't be resolved is in `faults`.
        """
        from phijax.geometry.selectors import side

        return side(self, name)

    @property
    def boundary(self) -> Boundary | Unresolved:
        """All faces in space, with outward normals. Call it to select: `boundary(x)`, `boundary(where=x > 0)`."""
        from phijax.geometry.selectors import boundary

        return boundary(self)

    # Seeing.

    def plot(self, path: str | Path | None = None) -> Figure:
        """A picture of the set, with its boundary's named pieces and outward normals; written to `path` if given."""
        from phijax.drawing import plot

        return plot(self, path)

    # Printing.

    def __str__(self) -> str:
        names = ", ".join(self.names)
        return f"{self.body()} in {names if len(self.coordinates) == 1 else f'({names})'}"

    def latex(self) -> str:
        """The region as LaTeX, such as (x, t) \\in [-1, 1] \\times [0, 1]."""
        letters = ", ".join(sympy_latex(symbol) for symbol in self.coordinates)
        left = letters if len(self.coordinates) == 1 else rf"\left({letters}\right)"
        return rf"{left} \in {self.body(tex=True)}"

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"
