"""Ball and its boundary, the sphere, in any dimension; the disk is the ball of two coordinates.

The map from the cube is exact and closed in every dimension: on the unit sphere of R^k the first two coordinates make
up a share s of the square with 1 - s = v^(2/(k-2)), v uniform, and an angle that is uniform; the other k - 2 make a
sphere again (the Dirichlet law of squared coordinates; Fang, Kotz & Ng 1990).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Expr, Symbol, sqrt, sympify

from phijax.geometry import _ball_rules
from phijax.geometry._numbers import as_float, depends, exact, namespace, symbols, uncurved, unstacked
from phijax.geometry.fixed import Fixed
from phijax.geometry.interval import Interval
from phijax.geometry.placement import Coordinates, Placement, Rule, written
from phijax.geometry.region import Region


def _checked(shape: str, coordinates: Any, center: Any, radius: Any) -> tuple[tuple, tuple, Expr]:
    each = symbols(coordinates, shape)
    uncurved(each, shape)
    if len(each) < 2:
        raise ValueError(f"{shape}: give at least two coordinates; with {each[0] if each else 'one'} use phi.Interval.")
    middle = (0,) * len(each) if center is None else tuple(center)
    if len(middle) != len(each):
        raise ValueError(f"{shape}: the center has {len(middle)} numbers for {len(each)} coordinates {each}.")
    center = tuple(exact(c, f"{shape}: the center's {s}") for s, c in zip(each, middle, strict=True))
    radius = exact(radius, f"{shape} in {each}: the radius")
    if as_float(radius) <= 0:
        raise ValueError(f"{shape} in {each}: the radius is {radius}; it must be positive.")
    return each, center, radius


@dataclass(frozen=True)
class _Round(Region):
    """What ball and sphere share: coordinates, a center (the origin, unless given) and a radius."""

    axes: tuple[Symbol, ...]
    center: Any = None
    radius: Any = 1

    def __new__(cls, axes: Any = None, center: Any = None, radius: Any = 1) -> Any:
        if depends(radius) or (isinstance(center, tuple | list) and any(map(depends, center))):
            return _moving(cls, axes, center, radius)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        each, center, radius = _checked(type(self).__name__, self.axes, self.center, self.radius)
        object.__setattr__(self, "axes", each)
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "radius", radius)

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return self.axes

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        centers = zip(self.coordinates, self.center, strict=True)
        return {s: (as_float(c - self.radius), as_float(c + self.radius)) for s, c in centers}

    def _distance_to_center(self, points: Coordinates) -> Float[Array, "*n"]:
        offsets = [points[name] - as_float(c) for name, c in zip(self.names, self.center, strict=True)]
        return namespace(offsets[0]).sqrt(sum(offset**2 for offset in offsets))

    def _middle(self, like: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
        xp = namespace(like)
        return xp.broadcast_to(xp.asarray([as_float(c) for c in self.center], like.dtype), like.shape)

    def _moved(self, scaled: Float[Array, "n d"]) -> dict[str, Float[Array, "n"]]:
        """Offsets from the center, in radii, as coordinates."""
        placed = self._middle(scaled) + as_float(self.radius) * scaled
        return dict(zip(self.names, unstacked(placed), strict=True))

    def _nodes(self, scaled: Float[np.ndarray, "d m"]) -> dict[str, Float[np.ndarray, "m"]]:
        """`_moved` for the nodes of a rule."""
        radius, rows = as_float(self.radius), zip(self.names, self.center, scaled, strict=True)
        return {name: as_float(c) + radius * row for name, c, row in rows}

    def _set(self, tex: bool, relation: str) -> str:
        pairs = zip(self.coordinates, self.center, strict=True)
        terms = [f"({written(s - c, tex)})" if c != 0 else written(s, tex) for s, c in pairs]
        square = " + ".join(f"{term}^2" for term in terms)
        bound = written(self.radius**2, tex)
        return rf"\{{{square} {relation} {bound}\}}" if tex else f"{{{square} {relation} {bound}}}"


@dataclass(frozen=True)
class Ball(_Round):
    """Points nearer to `center` than `radius`, over two or more coordinates; `Disk` over two.

    Both may be expressions of time and parameters: the ball then moves with them.

    Raises ValueError for fewer coordinates, a center of another length, or a radius that is not positive.
    """

    @property
    def dimension(self) -> int:
        return len(self.coordinates)

    @property
    def cube_dimension(self) -> int:
        return len(self.coordinates)

    @property
    def measure(self) -> float:
        d = self.dimension
        return math.exp(d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1) + d * math.log(as_float(self.radius)))

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        distance = namespace(unit).minimum(unit[:, :1] ** (1 / self.dimension), 1 - self._margin(unit.dtype))
        return Placement(self._moved(distance * directions(unit[:, 1:])))

    def _margin(self, dtype: Any) -> float:
        """What rounding may add to the distance from the center, in radii."""
        offset = math.hypot(*map(as_float, self.center)) / as_float(self.radius)
        margin = float(jnp.finfo(dtype).eps) * (self.dimension + 4 * (1 + offset))
        if margin >= 0.5:
            raise ValueError(f"{self} is too small for {jnp.dtype(dtype)} at that center; use precision='float64'.")
        return margin

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        return self._distance_to_center(points) - as_float(self.radius)

    def quadrature(self, points_per_axis: int) -> Rule:
        """Gauss-Gegenbauer, axis by axis."""
        nodes, weights = _ball_rules.ball(self.dimension, points_per_axis)
        return Rule(self._nodes(nodes), as_float(self.radius) ** self.dimension * weights)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        from phijax.geometry.product import product

        center = dict(zip(self.coordinates, self.center, strict=True))
        square = self.radius**2 - (value - center.pop(symbol)) ** 2
        if as_float(square) < 0:
            raise ValueError(f"{symbol} = {value} is outside {self.body()}; choose a value in it.")
        if as_float(square) == 0:
            return product(*(Fixed(s, c) for s, c in (center | {symbol: value}).items()))
        radius = sqrt(square)
        if len(center) > 1:
            return product(Fixed(symbol, value), Ball(tuple(center), tuple(center.values()), radius))
        ((other, middle),) = center.items()
        return product(Fixed(symbol, value), Interval(other, middle - radius, middle + radius))

    def faces(self) -> tuple[tuple[str, Region], ...]:
        sphere = Sphere(self.coordinates, self.center, self.radius)
        return ((sphere.face_name, sphere),)

    def body(self, tex: bool = False) -> str:
        return self._set(tex, "<")


@dataclass(frozen=True)
class Sphere(_Round):
    """The boundary of a ball, with its outward normal."""

    @property
    def dimension(self) -> int:
        return len(self.coordinates) - 1

    @property
    def cube_dimension(self) -> int:
        return len(self.coordinates) - 1

    @property
    def measure(self) -> float:
        return Ball(self.coordinates, self.center, self.radius).measure * len(self.coordinates) / as_float(self.radius)

    @property
    def face_name(self) -> str:
        return f"{'circle' if self.dimension == 1 else 'sphere'} in {', '.join(self.names)}"

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        return self.coordinates

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        normal = directions(unit)
        return Placement(self._moved(normal), dict(zip(self.names, unstacked(normal), strict=True)))

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        return abs(self._distance_to_center(points) - as_float(self.radius))

    def quadrature(self, points_per_axis: int) -> Rule:
        """The trapezoidal rule of 2 points_per_axis on a circle, and Gauss-Gegenbauer along the other axes."""
        nodes, weights = _ball_rules.sphere(len(self.coordinates), points_per_axis)
        normals = dict(zip(self.names, nodes, strict=True))
        return Rule(self._nodes(nodes), as_float(self.radius) ** self.dimension * weights, normals)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        raise ValueError(
            f"{symbol} = {value} on a sphere: its slices are no regions here; use phi.Point or the ball's at."
        )

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return ()

    def body(self, tex: bool = False) -> str:
        return self._set(tex, "=")


def _moving(kind: type[_Round], axes: Any, center: Any, radius: Any) -> Region:
    from phijax.geometry.motions import moving

    unit, size = kind(axes), sympify(radius)
    shift = [sympify(c) for c in ((0,) * len(unit.coordinates) if center is None else center)]
    if len(shift) != len(unit.coordinates):
        raise ValueError(
            f"{kind.__name__}: the center has {len(shift)} numbers for {len(unit.coordinates)} coordinates."
        )
    rows = [[size if i == j else sympify(0) for j in range(len(shift))] for i in range(len(shift))]
    return moving(unit, rows, shift, f"{kind.__name__}: the center or radius")


def Disk(coordinates: tuple[Symbol, Symbol], center: Any = (0, 0), radius: Any = 1) -> Ball:
    """The ball over two coordinates: `Disk((x, y), center=(0, 0), radius=1)`."""
    each = symbols(coordinates, "Disk")
    if len(each) != 2:
        raise ValueError(f"Disk: give two coordinates, not {each}; in other dimensions use phi.Ball.")
    return Ball(each, center, radius)


def directions(unit: Float[Array, "n c"]) -> Float[Array, "n d"]:
    """Uniform unit vectors of R^(c + 1) from points of the unit cube: an angle for each pair of coordinates, and shares."""
    xp, size = namespace(unit), unit.shape[1] + 1
    pairs, alone = divmod(size, 2)
    angles, shares = 2 * math.pi * unit[:, :pairs], unit[:, pairs:]
    # Of the k coordinates from a pair on, the length of those after it, relative to that of all: v^(1/(k-2)).
    log_tails = xp.log(shares) / xp.arange(size - 2, 0, -2, dtype=unit.dtype)[None]
    heads = xp.sqrt(-xp.expm1(2 * log_tails))
    if alone:  # the last coordinate is a tail of its own and has a sign: it is uniform in (-1, 1)
        last = shares[:, -1:]
        heads = xp.concatenate([heads[:, :-1], 2 * xp.sqrt(last * (1 - last))], axis=1)
    lengths = xp.exp(xp.cumsum(log_tails[:, : pairs - 1], axis=1))
    before = xp.concatenate([xp.ones_like(unit[:, :1]), lengths], axis=1)
    radii = before * xp.concatenate([heads, xp.ones_like(unit[:, : pairs - heads.shape[1]])], axis=1)
    columns = [radii * xp.cos(angles), radii * xp.sin(angles)]
    return xp.concatenate(columns + [before[:, -1:] * (1 - 2 * last)] if alone else columns, axis=1)
