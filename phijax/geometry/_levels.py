"""Level sets g = 0 in a box of two or three coordinates, traced on a grid with NumPy and moved onto g = 0 by Newton."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import sympy
from jaxtyping import Bool, Float, Int
from sympy import Expr, Symbol

from phijax.geometry._numbers import namespace
from phijax.geometry._tetrahedra import marching_tetrahedra
from phijax.geometry.predicate import expression_value, unknown_node

_GRID = {2: 256, 3: 32}  # cells along each axis
_STEPS = 30  # of Newton's method from the grid; few are needed, and those that are done stay
_BISECTIONS = 52

Margin = Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, "n"]]


class Traced(NamedTuple):
    """Simplices of a level set: segments (k, 2, 2) or triangles (k, 3, 3), and the length or area of what they stand for.

    runs: for segments, (first, last + 1, closed) of each connected piece, in order.
    """

    corners: Float[np.ndarray, "k c d"]
    sizes: Float[np.ndarray, "k"]
    runs: tuple[tuple[int, int, bool], ...] = ()


class Level:
    """A function g of coordinates with its first and second derivatives, on columns (n, d) of NumPy or JAX."""

    def __init__(self, g: Expr, axes: Sequence[Symbol]):
        self.g, self.axes = g, tuple(axes)
        self.slopes = [g.diff(axis) for axis in axes]
        smooth = lambda e: e.replace(
            sympy.DiracDelta, lambda *_: sympy.S.Zero
        )  # of absolute values, beside their kinks
        self.bends = [[smooth(slope.diff(axis)) for axis in axes] for slope in self.slopes]
        for expression in (g, *self.slopes, *itertools.chain(*self.bends)):
            node = unknown_node(expression)
            if node is not None:
                raise ValueError(f"{g} < 0 or its derivatives hold {node}, which can't be evaluated on points.")

    def _values(self, expressions: Sequence[Expr], points: Any) -> Any:
        columns = {axis.name: points[..., i] for i, axis in enumerate(self.axes)}
        return namespace(points).stack([expression_value(e, columns) for e in expressions], -1)

    def value(self, points: Any) -> Any:
        """g, (n,)."""
        return self._values([self.g], points)[..., 0]

    def gradient(self, points: Any) -> Any:
        """(n, d)."""
        return self._values(self.slopes, points)

    def hessian(self, points: Any) -> Any:
        """(n, d, d)."""
        flat = self._values(list(itertools.chain(*self.bends)), points)
        return flat.reshape(*flat.shape[:-1], len(self.axes), len(self.axes))

    def normal(self, points: Any) -> Any:
        """The unit vector along the gradient, out of g < 0."""
        gradient = self.gradient(points)
        return gradient / namespace(points).sqrt((gradient**2).sum(-1, keepdims=True))

    def project(self, points: Any, box: np.ndarray, steps: int = 3, held: Any = False) -> Any:
        """Newton's method along the gradient, inside the box (2, d); `held` coordinates (n, d) stay as they are."""
        xp = namespace(points)
        lower, upper = (xp.broadcast_to(xp.asarray(bound, points.dtype), points.shape) for bound in box)
        for _ in range(steps):
            value, gradient = self.value(points)[..., None], self.gradient(points)
            outward = ((points <= lower) & (value * gradient > 0)) | ((points >= upper) & (value * gradient < 0))
            gradient = xp.where(outward | held, 0, gradient)
            square = (gradient**2).sum(-1, keepdims=True)
            step = value * gradient / xp.where(square > 0, square, 1)
            points = xp.clip(points - step, lower, upper)
        return points


def trace(level: Level, others: Sequence[Level], box: Float[np.ndarray, "2 d"], cells: int | None = None) -> Traced:
    """The part of g = 0 in the box where all the others are negative.

    Raises ValueError, naming the place, where g and its gradient vanish together: there is no normal there.
    """
    margin = (lambda p: np.max([other.value(p) for other in others], axis=0)) if others else None
    count = cells or _GRID[len(level.axes)]
    axes = [np.linspace(low, high, count + 1) for low, high in box.T]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1)
    values = level.value(grid.reshape(-1, len(axes))).reshape(grid.shape[:-1])
    if len(axes) == 2:
        lines = [_on(level, line, box) for line in _contours(axes, values)]
        _refuse_singular(level, np.concatenate([*lines, np.zeros((0, 2))]), values, box)
        kept = [part for line in lines for part in (_cut_line(level, line, margin, box) if margin else [line])]
        return _segments(level, kept)
    triangles = marching_tetrahedra(grid, values)
    triangles = _on(level, triangles.reshape(-1, 3), box).reshape(triangles.shape)
    _refuse_singular(level, triangles.reshape(-1, 3), values, box)
    if margin:
        triangles = _cut_triangles(level, triangles, margin, box)
    return Traced(triangles, curved_areas(level, triangles, box))


def _on(level: Level, points: Float[np.ndarray, "n d"], box: np.ndarray) -> Float[np.ndarray, "n d"]:
    """Points of the grid's edges moved onto g = 0; those on sides of the box stay on them."""
    near = 1e-12 * (box[1] - box[0])
    for bound in box:
        points = np.where(np.abs(points - bound) <= near, bound, points)
    return level.project(points, box, _STEPS, held=(points == box[0]) | (points == box[1]))


def _refuse_singular(level: Level, points: np.ndarray, values: np.ndarray, box: np.ndarray) -> None:
    """From where the gradient is least, Newton's method for where it vanishes; refuses if g does too."""
    if not len(points):
        return
    slopes = np.linalg.norm(level.gradient(points), axis=-1)
    at = points[np.argsort(slopes)[:8]]
    for _ in range(60):
        step = np.linalg.pinv(level.hessian(at), rcond=1e-12) @ level.gradient(at)[..., None]
        at = at - np.clip(np.nan_to_num(step[..., 0]), *(np.array([[-0.1], [0.1]]) * (box[1] - box[0])))
    flat = np.linalg.norm(level.gradient(at), axis=-1) <= 1e-6 * np.max(slopes)
    zero = np.abs(level.value(at)) <= 1e-10 * np.nanmax(np.abs(values[np.isfinite(values)]))
    inside = np.all((at >= box[0] - 1e-6 * (box[1] - box[0])) & (at <= box[1] + 1e-6 * (box[1] - box[0])), -1)
    if np.any(flat & zero & inside):
        found = at[np.argmax(flat & zero & inside)]
        place = ", ".join(f"{axis} = {number:.4g}" for axis, number in zip(level.axes, found + 0.0, strict=True))
        raise ValueError(
            f"the boundary {level.g} = 0 has no normal at {place}, where the gradient vanishes too; write it so that it "
            f"crosses zero with a slope, or cut that place out."
        )


# ---- curves in the plane -----------------------------------------------------------------------------------------------


def _contours(axes: list[np.ndarray], values: Float[np.ndarray, "n n"]) -> list[np.ndarray]:
    """Lines of zeros of the interpolated grid, each (k, 2), the first point again at the end of a closed one."""
    from contourpy import contour_generator

    lines: Any = contour_generator(axes[0], axes[1], np.ma.masked_invalid(values.T)).lines(0.0)
    apart = lambda line: np.append(True, np.any(np.diff(line, axis=0) != 0, axis=1))
    return [line[apart(line)] for line in lines if np.count_nonzero(apart(line)) > 1]


def _cut_line(level: Level, line: np.ndarray, margin: Margin, box: np.ndarray) -> list[np.ndarray]:
    """The runs of a line on which the margin is not positive, each end at a zero of it."""
    inside = margin(line) <= 0
    if inside.all() or not inside.any():
        return [line] if inside.all() else []
    if np.array_equal(line[0], line[-1]):
        first = int(np.argmin(inside[:-1]))
        line = np.roll(line[:-1], -first, axis=0)
        line = np.append(line, line[:1], axis=0)
        inside = margin(line) <= 0
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(int)))
    runs = []
    for start, end in edges.reshape(-1, 2):
        parts = [line[start:end]]
        if start:
            parts.insert(0, _crossing(level, margin, line[start : start + 1], line[start - 1 : start], box))
        if end < len(line):
            parts.append(_crossing(level, margin, line[end - 1 : end], line[end : end + 1], box))
        runs.append(np.concatenate(parts))
    return [run for run in runs if len(run) > 1]


def _crossing(level: Level, margin: Margin, inside: np.ndarray, outside: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Between points inside and outside, the last one along g = 0 that is inside, by bisection."""
    low, high = np.zeros((len(inside), 1)), np.ones((len(inside), 1))
    at = lambda t: level.project(inside + t * (outside - inside), box)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        within = (margin(at(middle)) <= 0)[:, None]
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return at(low)


def _segments(level: Level, lines: Sequence[np.ndarray]) -> Traced:
    """Chords, with the length of the arc from the turn of the normal: chord (1 + turn^2 / 24), to the fourth order."""
    corners = [np.stack([line[:-1], line[1:]], 1) for line in lines]
    counts = np.cumsum([0, *(len(each) for each in corners)])
    runs = tuple(
        (int(a), int(b), bool(np.array_equal(line[0], line[-1])))
        for a, b, line in zip(counts[:-1], counts[1:], lines, strict=True)
    )
    joined = np.concatenate([*corners, np.zeros((0, 2, 2))])
    turn = square_turn(level, joined)
    return Traced(joined, np.linalg.norm(joined[:, 1] - joined[:, 0], axis=-1) * (1 + turn / 24), runs)


def square_turn(level: Level, segments: Float[np.ndarray, "k 2 d"]) -> Float[np.ndarray, "k"]:
    """Squared difference of the normals at both ends; 0 where it is so large that the segment ends at a corner."""
    normals = level.normal(segments)
    turn = ((normals[:, 1] - normals[:, 0]) ** 2).sum(-1)
    return np.where(turn < 0.1, turn, 0)


# ---- surfaces in space -------------------------------------------------------------------------------------------------


def _cut_triangles(level: Level, triangles: np.ndarray, margin: Margin, box: np.ndarray) -> np.ndarray:
    """The parts of triangles on which the margin is not positive, their new corners on both surfaces."""
    inside = margin(triangles.reshape(-1, 3)).reshape(-1, 3) <= 0
    parts = [triangles[inside.all(1)]]
    for count in (1, 2):
        chosen = inside.sum(1) == count
        order = np.argsort(~inside[chosen], axis=1, kind="stable")[..., None]
        a, b, c = np.moveaxis(np.take_along_axis(triangles[chosen], order, axis=1), 1, 0)
        if not len(a):
            continue
        to_c = _crossing(level, margin, a, c, box)
        if count == 1:
            parts.append(np.stack([a, _crossing(level, margin, a, b, box), to_c], 1))
        else:
            also = _crossing(level, margin, b, c, box)
            parts += [np.stack([a, b, also], 1), np.stack([a, also, to_c], 1)]
    return np.concatenate(parts)


def curved_areas(level: Level, triangles: Float[np.ndarray, "k 3 3"], box: np.ndarray) -> Float[np.ndarray, "k"]:
    """Areas of what the triangles stand for: of them and of their quarters on g = 0, extrapolated to the fourth order."""
    middles = edge_middles(level, triangles, box)
    (a, b, c), (p, q, r) = np.moveaxis(triangles, 1, 0), np.moveaxis(middles, 1, 0)
    fine = sum(_flat_areas(*three) for three in ((a, p, r), (p, b, q), (r, q, c), (p, q, r)))
    return np.maximum((4 * fine - _flat_areas(a, b, c)) / 3, 0)


def edge_middles(level: Level, corners: Float[np.ndarray, "k c d"], box: np.ndarray) -> Float[np.ndarray, "k c d"]:
    """Middles of the edges (of segments, their one middle twice), moved onto g = 0."""
    middles = (corners + np.roll(corners, -1, axis=1)) / 2
    return level.project(middles.reshape(-1, corners.shape[-1]), box).reshape(middles.shape)


def _flat_areas(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Float[np.ndarray, "k"]:
    return np.linalg.norm(np.cross(b - a, c - a), axis=-1) / 2


# ---- along one axis ----------------------------------------------------------------------------------------------------


def stretches(
    levels: Sequence[Level], lower: float, upper: float, beside: Float[np.ndarray, "k e"]
) -> tuple[Int[np.ndarray, "m"], Float[np.ndarray, "m"], Float[np.ndarray, "m"]]:
    """Where all levels are negative along the last axis, for each row of values of the others: (row, start, end)."""
    grid = np.linspace(lower, upper, 1025)

    def negative(rows: np.ndarray, at: np.ndarray) -> Bool[np.ndarray, "m"]:
        points = np.concatenate([beside[rows], at[:, None]], 1)
        return np.max([level.value(points) for level in levels], axis=0) < 0

    rows = np.repeat(np.arange(len(beside)), len(grid))
    inside = negative(rows, np.tile(grid, len(beside))).reshape(len(beside), -1)
    change = np.diff(np.pad(inside, ((0, 0), (1, 1))).astype(int), axis=1)
    (row, first), (_, last) = np.nonzero(change == 1), np.nonzero(change == -1)

    def end(at: np.ndarray, beyond: np.ndarray) -> np.ndarray:
        kept, gone = grid[at], grid[np.clip(beyond, 0, len(grid) - 1)]
        for _ in range(_BISECTIONS):
            middle = (kept + gone) / 2
            within = negative(row, middle)
            kept, gone = np.where(within, middle, kept), np.where(within, gone, middle)
        return np.where((beyond < 0) | (beyond >= len(grid)), grid[at], kept)

    return row, end(first, first - 1), end(last - 1, last)


def inequalities(condition: Any) -> tuple[Any, ...]:
    """The parts of a condition that are joined by &, in an order that is the same in every process."""
    return condition.args if isinstance(condition, sympy.And) else (condition,)


def less_side(condition: sympy.Basic) -> Expr:
    """g with g < 0 where the inequality holds. ValueError for what is no inequality."""
    if not isinstance(condition, sympy.Lt | sympy.Le | sympy.Gt | sympy.Ge):
        raise ValueError(
            f"where: {condition} is no inequality; give one or several joined by &, as in x**2 + y**2 < 1."
        )
    return condition.lts - condition.gts  # type: ignore[operator]
