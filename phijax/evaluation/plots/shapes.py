"""Shapes on the axes of a picture: the set shaded, pieces of its boundary as lines and surfaces, normals as arrows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from phijax.evaluation.plots.panels import letter
from phijax.evaluation.plots.views import View, columns_of, seen
from phijax.geometry import Placement, Region
from phijax.geometry._numbers import evenly_spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHADE, EDGE = "#dbe6f2", "#7f93ab"
COLORS = ("#1f5aa6", "#d9822b", "#2f8f5b", "#8c1d40", "#7b5ea7", "#8c6d3f", "#c65b9a", "#5f6b7a", "#a3a02c", "#2aa5b5")
SHAPE_POINTS = 401  # an axis
CURVE_POINTS, SURFACE_POINTS, SCATTERED = 801, 41, 2000
ARROW = 0.08  # of the picture's longest side
MARGIN = 0.12
JUMP = 0.05  # of the picture's longest side: farther apart, neighbours in the cube are on different pieces


def color(number: int) -> str:
    """A colour for each of several things, repeated after ten."""
    return COLORS[number % len(COLORS)]


def frame(ax: Any, region: Region, view: View) -> np.ndarray:
    """Names the axes, leaves room for arrows, and gives the length of each axis."""
    bounds = [region.bounds[symbol] for symbol in view.shown]
    lengths = np.array([high - low for low, high in bounds])
    lengths = np.where(lengths > 0, lengths, lengths.max() or 1.0)
    if view.spatial:
        lengths = np.maximum(lengths, 0.1 * lengths.max())  # a side is thin, and its normal needs room
    names = [f"${letter(name)}$" for name in view.names]
    if len(names) == 1:
        ax.set_xlabel(names[0])
        ax.set_yticks([])
        ax.set_ylim(-1, 1)
        for where in ("left", "right", "top"):
            ax.spines[where].set_visible(False)
    setters = [(ax.set_xlim, ax.set_xlabel), (ax.set_ylim, ax.set_ylabel)]
    setters += [(ax.set_zlim, ax.set_zlabel)] if len(names) == 3 else []
    room = MARGIN * (np.full(len(names), lengths.max()) if view.spatial else lengths)
    for (limit, label), (low, high), half, name in zip(setters, bounds, lengths / 2 + room, names, strict=False):
        middle = (low + high) / 2
        limit(middle - half, middle + half)
        label(name)
    if len(names) == 3:
        ax.set_box_aspect(lengths + 2 * room if view.spatial else None)
    elif len(names) == 2 and view.spatial and 0.2 <= lengths[0] / lengths[1] <= 5:
        ax.set_aspect("equal")
    return lengths


def shade(ax: Axes, region: Region, view: View) -> None:
    """Fills a set with interior: a line over one axis, an area over two; over three its surfaces are drawn instead."""
    part = seen(region, view)
    if part is None or part.dimension < len(view.shown) or len(view.shown) > 2:
        return
    bounds = [part.bounds[symbol] for symbol in view.shown]
    if len(bounds) == 1:
        ax.plot(bounds[0], (0, 0), color=EDGE, lw=4, solid_capstyle="butt", zorder=1)
        return
    # A little beyond the bounds, so that the edge of a box is found between two points.
    axes = [np.linspace(low - (high - low) / 200, high + (high - low) / 200, SHAPE_POINTS) for low, high in bounds]
    mesh: Any = dict(zip(view.names, (m.ravel() for m in np.meshgrid(*axes)), strict=True))
    try:
        depth = -part.signed_distance(mesh)
    except ValueError:  # a part chosen by a condition has no distance
        depth = np.where(part.contains(mesh), 1.0, -1.0)
    over = np.asarray(depth).reshape(len(axes[1]), len(axes[0]))
    if over.max() > 0:
        ax.contourf(*axes, over, levels=[0, over.max() * 1.001], colors=[SHADE], zorder=0)


def draw_piece(ax: Any, piece: Region, view: View, colour: str, lengths: np.ndarray, label: str | None = None) -> bool:
    """Draws a piece of a boundary, by name and with its normals where it has a label; False where it is not seen."""
    part = seen(piece, view)
    if part is None or part.dimension >= len(view.shown):
        return False
    placed, drawn_as = _spread(part)
    columns = columns_of(placed.coordinates, view)
    if len(columns) == 1:
        columns = [*columns, np.zeros_like(columns[0])]
    nothing: list = [[]] * len(columns)
    if drawn_as == "curve":
        ax.plot(*_broken(columns, lengths), color=colour, lw=2.2, solid_capstyle="round", zorder=3)
        ax.plot(*nothing, color=colour, lw=2.2, label=label)
    elif drawn_as == "surface" and not _jumps(columns, lengths):
        grids = [column.reshape(SURFACE_POINTS, SURFACE_POINTS) for column in columns]
        ax.plot_surface(*grids, color=colour, alpha=0.35 if label else 0.1, lw=0, antialiased=True, shade=bool(label))
        ax.plot(*nothing, color=colour, lw=5, alpha=0.6, label=label)
    elif part.count:
        ax.scatter(*columns, s=30, color=colour, label=label, zorder=4)
    else:
        ax.scatter(*columns, s=3, lw=0, color=colour, zorder=4)
        ax.plot(*nothing, color=colour, lw=2.2, label=label)
    if label and part.has_normals:
        placed = _few(part)
        assert placed.normals is not None
        draw_arrows(ax, columns_of(placed.coordinates, view), columns_of(placed.normals, view), colour, lengths)
    return True


def draw_arrows(ax: Any, at: list[np.ndarray], normals: list[np.ndarray], colour: str, lengths: np.ndarray) -> None:
    """Arrows of one length along unit normals."""
    scale = [ARROW * lengths.max()] * len(at)
    if len(at) == 2 and ax.get_aspect() == "auto":
        scale = list(ARROW * lengths)
    tips = [normal * length for normal, length in zip(normals, scale, strict=True)]
    if len(at) == 3:
        ax.quiver(*at, *tips, color=colour, lw=1.1, arrow_length_ratio=0.35)
        return
    if len(at) == 1:
        at, tips = [*at, np.zeros_like(at[0])], [*tips, np.zeros_like(at[0])]
    style = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.004, "headwidth": 5, "zorder": 5}
    ax.quiver(*at, *tips, color=colour, **style)


def _spread(part: Region) -> tuple[Placement, str]:
    """Points that show a piece, and how they hang together."""
    size = part.cube_dimension
    if part.count is not None or size is None:
        return spread_over(part, part.count or SCATTERED), "points"
    if size == 1:
        return part.place(_middles(CURVE_POINTS)[:, None]), "curve"  # type: ignore[arg-type]
    if size == 2:
        mesh = np.meshgrid(_ends(SURFACE_POINTS), _ends(SURFACE_POINTS), indexing="ij")
        return part.place(np.stack([m.ravel() for m in mesh], axis=1)), "surface"  # type: ignore[arg-type]
    return spread_over(part, SCATTERED), "points"


def _few(part: Region) -> Placement:
    """Well-spread points for arrows."""
    if part.cube_dimension == 1 and part.count is None:
        return part.place(_middles(7 if len(part.pieces) == 1 else 24)[:, None])  # type: ignore[arg-type]
    if part.cube_dimension == 2 and part.count is None:
        mesh = np.meshgrid(_middles(4), _middles(4), indexing="ij")
        return part.place(np.stack([m.ravel() for m in mesh], axis=1))  # type: ignore[arg-type]
    return spread_over(part, 16)


def spread_over(region: Region, count: int) -> Placement:
    """Evenly spread points of a region with its normals, by NumPy alone; all of those of a finite set."""
    if region.count is not None:
        rule = region.quadrature(1)
        return Placement(dict(rule.coordinates), rule.normals)  # type: ignore[arg-type]
    cover, share = region.cover, max(region.measure / region.cover.measure, 1e-3)
    unit: Any = evenly_spread(math.ceil(1.2 * count / share) + 8, cover.cube_dimension or 0)
    placed = cover.place(unit)
    kept = np.flatnonzero(np.asarray(region.accept(unit, placed)))[:count]
    take = lambda table: table and {name: np.asarray(column)[kept] for name, column in table.items()}
    return Placement(take(placed.coordinates), take(placed.normals))  # type: ignore[arg-type]


def _middles(n: int) -> np.ndarray:
    return (np.arange(n) + 0.5) / n


def _ends(n: int) -> np.ndarray:
    """Nearly the whole open interval, so that a surface closes."""
    return np.linspace(1e-9, 1 - 1e-9, n)


def _jumps(columns: list[np.ndarray], lengths: np.ndarray) -> bool:
    grids = [column.reshape(SURFACE_POINTS, SURFACE_POINTS) for column in columns]
    steps = [np.sqrt(sum(np.diff(grid, axis=axis) ** 2 for grid in grids)) for axis in (0, 1)]
    return max(float(step.max()) for step in steps) > 0.5 * float(lengths.max())


def _broken(columns: list[np.ndarray], lengths: np.ndarray) -> list[np.ndarray]:
    """A line of points with gaps where the next one is on another piece; a closed one closed."""
    step = np.sqrt(sum(np.diff(c) ** 2 for c in columns))
    gaps = np.flatnonzero(step > max(JUMP * float(lengths.max()), 4 * float(np.median(step)))) + 1
    ends = np.sqrt(sum((c[0] - c[-1]) ** 2 for c in columns))
    if not gaps.size and ends < 2 * float(np.median(step)):
        columns = [np.append(c, c[0]) for c in columns]
    return [np.insert(c, gaps, np.nan) for c in columns]
