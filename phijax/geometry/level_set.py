"""LevelSet: the piece of a boundary on which one inequality of an implicit region becomes an equality."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from jaxtyping import Array, Bool, Float
from sympy import Expr, Symbol

from phijax.geometry import _levels
from phijax.geometry._numbers import by_jax, namespace
from phijax.geometry.placement import Coordinates, Placement, Rule
from phijax.geometry.region import Region
from phijax.symbolic import text

_BLOCK = 64  # nodes whose distances are held at a time
_PANEL = 8  # segments of a curve that is cut, to a rule
_FOOT_STEPS = 8  # of Newton's method for the nearest point


@dataclass(frozen=True)
class LevelSet(Region):
    """Where the inequality `index` of `where` is an equality, inside a box and all other inequalities.

    In the plane traced as segments, in space as triangles; points are uniform by length or area to about 1e-5 and 1e-3,
    and lie on the level set to rounding. In space the edge towards another inequality is met to about 1e-3 of a cell.
    """

    box: Region
    where: Any
    index: int

    @property
    def condition(self) -> Any:
        """The inequality."""
        return _levels.inequalities(self.where)[self.index]

    @functools.cached_property
    def _levels(self) -> tuple[_levels.Level, ...]:
        """Of this inequality, then of the others."""
        every = list(_levels.inequalities(self.where))
        every.insert(0, every.pop(self.index))
        return tuple(_levels.Level(_levels.less_side(condition), self.coordinates) for condition in every)

    @functools.cached_property
    def _ends(self) -> Float[np.ndarray, "2 d"]:
        return np.array([self.box.bounds[symbol] for symbol in self.coordinates]).T

    @functools.cached_property
    def traced(self) -> _levels.Traced:
        """Segments or triangles. Raises ValueError where the level set has no normal."""
        return _levels.trace(self._levels[0], self._levels[1:], self._ends)

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return self.box.coordinates

    @property
    def dimension(self) -> int:
        return len(self.coordinates) - 1

    @property
    def cube_dimension(self) -> int:
        return len(self.coordinates) - 1

    @property
    def measure(self) -> float:
        return float(self.traced.sizes.sum())

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        corners = self.traced.corners.reshape(-1, len(self.coordinates))
        ends = zip(corners.min(0), corners.max(0), strict=True)
        return {symbol: (float(low), float(high)) for symbol, (low, high) in zip(self.coordinates, ends, strict=True)}

    @property
    def empty(self) -> bool:
        return len(self.traced.sizes) == 0

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        return self.coordinates

    @property
    def breaks(self) -> Float[np.ndarray, "m"]:
        """Ends of the curves that it consists of, and places between them: sharp turns ask for more than one rule."""
        if self.dimension != 1:
            return np.zeros(0)
        starts = [edge for first, last, _ in self.traced.runs for edge in range(first, last, _PANEL)]
        along = np.concatenate([[0.0], np.cumsum(self.traced.sizes)])
        return along[starts[1:]] / along[-1]

    @property
    def face_name(self) -> str:
        return text(self.condition)

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        xp: Any = namespace(unit)
        shares = np.cumsum(np.concatenate([[0.0], self.traced.sizes])) / self.measure
        edges = xp.asarray(shares, unit.dtype)
        index = xp.clip(xp.searchsorted(edges, unit[:, 0], side="right") - 1, 0, len(shares) - 2)
        width = edges[index + 1] - edges[index]
        along = xp.clip((unit[:, 0] - edges[index]) / xp.where(width > 0, width, 1), 0, 1)[:, None]
        corner = [xp.asarray(self.traced.corners[:, i], unit.dtype)[index] for i in range(self.dimension + 1)]
        if self.dimension == 1:
            flat = corner[0] + along * (corner[1] - corner[0])
        else:
            root, other = xp.sqrt(along), unit[:, 1:2]
            flat = (1 - root) * corner[0] + root * (1 - other) * corner[1] + root * other * corner[2]
        return self._placed(flat)

    def _placed(self, near: Any) -> Placement:
        points = self._levels[0].project(near, self._ends)
        normals = self._levels[0].normal(points)
        columns = lambda table: {name: table[:, i] for i, name in enumerate(self.names)}
        return Placement(columns(points), columns(normals))

    def inside(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        """To a small tolerance by the slope at the points alone, for which nothing is compiled; to others by the distance."""
        reach = max(float(np.max(self._ends[1] - self._ends[0])), 1e-300)
        if tolerance is None or not 0 < tolerance <= 1e-4 * reach:
            return super().inside(points, tolerance)
        xp = namespace(points[self.names[0]])
        stacked = xp.stack([points[name] for name in self.names], -1)
        off = lambda level: level.value(stacked) / xp.sqrt(xp.sum(level.gradient(stacked) ** 2, -1))
        first, *others = (off(level) for level in self._levels)
        held = abs(first) <= tolerance
        for level in others:
            held &= level <= tolerance
        low, high = self._ends[0] - tolerance, self._ends[1] + tolerance
        return held & xp.all((stacked >= low) & (stacked <= high), -1)

    @by_jax
    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """To the nearest node, then by Newton's method to the foot of the normal; without sign, to about 1e-6 of the size."""
        stacked = jnp.stack([jnp.asarray(points[name]) for name in self.names], -1)
        return self._nearest(stacked.reshape(-1, stacked.shape[-1])).reshape(stacked.shape[:-1])

    @functools.partial(jax.jit, static_argnums=0)
    def _nearest(self, flat: Float[Array, "n d"]) -> Float[Array, "n"]:
        nodes = np.unique(self.traced.corners.reshape(-1, flat.shape[1]), axis=0)
        nodes = np.concatenate([nodes, np.repeat(nodes[-1:], -len(nodes) % _BLOCK, axis=0)])
        blocks = jnp.asarray(nodes.reshape(-1, _BLOCK, flat.shape[1]), flat.dtype)

        def nearer(best: tuple[Array, Array], block: Array) -> tuple[tuple[Array, Array], None]:
            square = sum((flat[:, i, None] - block[None, :, i]) ** 2 for i in range(flat.shape[1]))
            least = jnp.min(square, axis=1)
            place = jnp.where((least < best[0])[:, None], block[jnp.argmin(square, axis=1)], best[1])
            return (jnp.minimum(least, best[0]), place), None

        start = jnp.full(flat.shape[:1], jnp.inf, flat.dtype), jnp.zeros_like(flat)
        (square, node), _ = jax.lax.scan(nearer, start, blocks)
        foot = self._foot(flat, node)
        reach = float(np.max(np.linalg.norm(self.traced.corners[:, 1] - self.traced.corners[:, 0], axis=-1)))
        better = self._is_on(foot) & (jnp.sum((foot - node) ** 2, -1) <= (2 * reach) ** 2)
        square = jnp.where(better, jnp.minimum(square, jnp.sum((foot - flat) ** 2, -1)), square)
        return jnp.sqrt(square)

    def _foot(self, points: Float[Array, "n d"], near: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """Newton's method for q - p + m grad g(q) = 0 and g(q) = 0, then along the gradient alone."""
        level, d = self._levels[0], points.shape[1]
        identity = jnp.eye(d, dtype=points.dtype)[None]

        def step(_: Any, state: tuple[Array, Array]) -> tuple[Array, Array]:
            q, m = state
            gradient = level.gradient(q)
            top = jnp.concatenate([identity + m[:, None, None] * level.hessian(q), gradient[:, :, None]], 2)
            bottom = jnp.concatenate([gradient, jnp.zeros_like(m)[:, None]], 1)[:, None]
            missing = jnp.concatenate([q - points + m[:, None] * gradient, level.value(q)[:, None]], 1)
            moved = jnp.linalg.solve(jnp.concatenate([top, bottom], 1), missing[..., None])[..., 0]
            return q - moved[:, :d], m - moved[:, d]

        gradient = level.gradient(near)
        slope = jnp.sum((points - near) * gradient, -1) / jnp.sum(gradient**2, -1)
        foot, _ = jax.lax.fori_loop(0, _FOOT_STEPS, step, (near, slope))
        return level.project(foot, self._ends, 1)

    def _is_on(self, q: Float[Array, "n d"]) -> Array:
        """Whether points near the level set are on it and inside the box and the other inequalities."""
        gradient = self._levels[0].gradient(q)
        size = float(np.max(self._ends[1] - self._ends[0]))
        close = 1e-3 * size * float(jnp.finfo(q.dtype).eps) ** 0.5
        inside = jnp.abs(self._levels[0].value(q)) <= close * jnp.sqrt(jnp.sum(gradient**2, -1))
        for other in self._levels[1:]:
            inside &= other.value(q) <= 0
        return inside

    def quadrature(self, points_per_axis: int) -> Rule:
        """In the plane by arc length, Gauss-Legendre or, where closed, equal steps; in space the middles of triangles.

        points_per_axis: in space, the cells of the box along an axis on which triangles are traced anew.
        """
        if self.dimension == 2:
            traced = _levels.trace(self._levels[0], self._levels[1:], self._ends, max(points_per_axis, 8))
            return self._rule(traced.corners.mean(1), traced.sizes)
        unit, share = np.polynomial.legendre.leggauss(2 * points_per_axis)
        nodes, weights = [], []
        for first, last, closed in self.traced.runs:
            along = np.concatenate([[0.0], np.cumsum(self.traced.sizes[first:last])])
            line = np.append(self.traced.corners[first:last, 0], self.traced.corners[last - 1 : last, 1], axis=0)
            count = 4 * points_per_axis
            at = along[-1] * ((np.arange(count) + 0.5) / count if closed else (1 + unit) / 2)
            nodes.append(np.stack([np.interp(at, along, column) for column in line.T], 1))
            weights.append(along[-1] * (np.full(count, 1 / count) if closed else share / 2))
        return self._rule(np.concatenate(nodes), np.concatenate(weights))

    def _rule(self, nodes: np.ndarray, weights: np.ndarray) -> Rule:
        placed: Any = self._placed(nodes)
        return Rule(placed.coordinates, weights, placed.normals)

    def flux(self, origin: Float[np.ndarray, "d"]) -> float:
        """Integral of (x - origin) . n, from which volumes follow; by the middles of edges, and by Simpson on arcs."""
        level, corners = self._levels[0], self.traced.corners
        along = lambda p: ((p - origin) * level.normal(p)).sum(-1)
        middle = along(_levels.edge_middles(level, corners, self._ends))
        if self.dimension == 1:  # the middle twice; at a corner, with none of its own normal
            sharp = _levels.square_turn(level, corners) == 0
            middle = np.where(sharp[:, None], middle, (along(corners) + 2 * middle) / 3)
        return float(np.sum(self.traced.sizes * middle.mean(1)))

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        raise ValueError(f"{symbol} = {value} on {self.condition}: its slices are no regions here; use phi.Point.")

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return ()

    def body(self, tex: bool = False) -> str:
        sides = [sympy.latex(side) if tex else text(side) for side in self.condition.args]
        others = [c for i, c in enumerate(_levels.inequalities(self.where)) if i != self.index]
        parts = [" = ".join(sides), *(sympy.latex(c) if tex else text(c) for c in others)]
        return rf"\left\{{{', '.join(parts)}\right\}}" if tex else f"({', '.join(parts)})"
