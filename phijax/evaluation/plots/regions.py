"""Figures of regions and of problems: shape, named pieces of the boundary, outward normals, points that are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from phijax._numbers import is_whole
from phijax._precision import precision_scope
from phijax.evaluation.plots.panels import new_figure
from phijax.evaluation.plots.shapes import EDGE, color, draw_arrows, draw_piece, frame, shade, spread_over
from phijax.evaluation.plots.views import View, columns_of, seen, view_of
from phijax.formulation import Constraint, Problem
from phijax.formulation.faults import nearest
from phijax.geometry import Placement, Region
from phijax.sampling import RegionSampler
from phijax.sampling.points import Points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INSIDE, ON_BOUNDARY = 512, 96  # points shown of a constraint
MOST_ARROWS = 24
CROWD = 300  # points from which they are small


def region_figure(region: Region) -> Figure:
    """The set shaded, or itself drawn where it has no interior, and each piece of its boundary by name."""
    if region.faults or region.empty:
        raise ValueError(" ".join(region.faults) or f"{region} has no points to draw.")
    view = view_of(region)
    figure, ax = _figure(view)
    lengths = frame(ax, region, view)
    shade(ax, region, view)
    drawn = 0
    for name, piece in _pieces(region, view):
        drawn += draw_piece(ax, piece, view, color(drawn), lengths, name)
    _finish(figure, ax, str(region), view, region)
    return figure


def problem_figure(
    problem: Problem,
    points: int | Mapping[str, int] | None = None,
    batch: Mapping[str, Points] | None = None,
) -> Figure:
    """The domain, and of each constraint the points that its sampler draws, in a colour of its own.

    points: how many are shown, for all or by constraint; measured ones show all of theirs. batch: those of a training
    step, of which as many are shown; new ones are drawn for constraints that it lacks.
    """
    _check_points(problem, points)
    view = view_of(problem.domain)
    figure, ax = _figure(view)
    lengths = frame(ax, problem.domain, view)
    shade(ax, problem.domain, view)
    for _, piece in _pieces(problem.domain, view):
        draw_piece(ax, piece, view, EDGE, lengths)
    for number, constraint in enumerate(problem.constraints.values()):
        asked = points.get(constraint.name) if isinstance(points, Mapping) else points
        count = _shown(constraint.region, asked)
        given = (batch or {}).get(constraint.name)
        placed = _drawn(constraint, count) if given is None else _some(given, count)
        _draw_points(ax, constraint, placed, view, number, lengths)
    _finish(figure, ax, problem.name, view, problem.domain)
    return figure


def _figure(view: View) -> tuple[Figure, Any]:
    if len(view.shown) == 1:
        figure = new_figure(7.0, 1.9)
        return figure, figure.subplots()
    if len(view.shown) == 2:
        figure = new_figure(7.4, 4.6)
        return figure, figure.subplots()
    figure = new_figure(8.0, 5.4)
    return figure, figure.add_subplot(projection="3d")


def _pieces(region: Region, view: View) -> tuple[tuple[str, Region], ...]:
    """Pieces of the boundary of what is seen, or those of a region that has no interior there."""
    part = seen(region, view)
    whole = region if part is None else part
    if part is not None and part.dimension < len(view.shown):
        return part.pieces
    if part is None and region.dimension < len(region.coordinates):
        return region.pieces
    boundary = whole.boundary
    return () if boundary.faults else boundary.pieces


def _shown(region: Region, asked: int | None) -> int:
    """How many points are shown of a constraint."""
    if region.count is not None:
        return region.count
    return asked or (INSIDE if region.dimension == len(region.coordinates) else ON_BOUNDARY)


def _drawn(constraint: Constraint, count: int) -> Placement:
    """Points as the constraint's own sampler draws them; of what has no sampler, spread evenly."""
    region = constraint.region
    if region.count is not None or constraint.exact or constraint.kind == "free":
        return spread_over(region, count)
    with precision_scope("float64"):
        points = jax.jit(lambda key: RegionSampler(region).sample(key, count))(jax.random.key(0))
        return _some(points, count)


def _some(points: Points, count: int) -> Placement:
    """The first `count` points, as NumPy."""
    take: Any = lambda table: {name: np.asarray(column)[:count] for name, column in (table or {}).items()}
    return Placement(take(points.coordinates), take(points.normals) or None)


def _draw_points(
    ax: Any, constraint: Constraint, placed: Placement, view: View, number: int, lengths: np.ndarray
) -> None:
    region, colour = constraint.region, color(number)
    inside = region.dimension == len(region.coordinates)
    columns = columns_of(placed.coordinates, view)
    if len(columns) == 1:  # constraints of one axis lie above one another
        columns = [*columns, np.full_like(columns[0], 0.15 * (number + 1))]
    held = ", ".join(f"{s.name} = {v}" for s, v in region.fixed.items() if s in view.held)
    notes = [held, "exact" if constraint.exact else "", "no condition" if constraint.kind == "free" else ""]
    label = constraint.name + "".join(f"  ({note})" for note in notes if note)
    style: dict = (
        {"marker": "x", "s": 14}
        if constraint.exact
        else {"linewidths": 0, "s": 5 if inside or len(columns[0]) > CROWD else 14}
    )
    ax.scatter(*columns, color=colour, label=label, zorder=4 if inside else 6, **style)
    if placed.normals is not None and constraint.kind != "free":
        count = len(columns[0])
        few = np.linspace(0, count - 1, min(count, MOST_ARROWS)).round().astype(int)
        at = [column[few] for column in columns_of(placed.coordinates, view)]
        draw_arrows(ax, at, [n[few] for n in columns_of(placed.normals, view)], colour, lengths)


def _finish(figure: Figure, ax: Any, title: str, view: View, region: Region) -> None:
    handles, labels = ax.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside right upper", frameon=False, fontsize=8, markerscale=1.5)
    held = view.place({s: float(v) for s, v in region.fixed.items()})
    short = title if len(title) <= 90 else f"{title[:87]}..."
    ax.set_title(short + (f"\nshape at ${held}$" if held else ""), fontsize=10)


def _check_points(problem: Problem, points: int | Mapping[str, int] | None) -> None:
    for name in points if isinstance(points, Mapping) else ():
        if name not in problem.constraints:
            raise ValueError(f"points names {name!r}, which is no constraint; {nearest(name, problem.constraints)}.")
    for count in points.values() if isinstance(points, Mapping) else [points]:
        if count is not None and not is_whole(count):
            raise ValueError(f"points={count!r} must be a positive whole number, or a mapping of constraints to them.")
