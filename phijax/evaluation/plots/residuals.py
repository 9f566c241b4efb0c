"""The figure of the residuals: where each equation fails, and the points at which it was trained."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from phijax._precision import precision_scope
from phijax.evaluation.chunks import ChunkedFunction
from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.grids import grid_of
from phijax.evaluation.plots.fields import aspect, shown_and_held
from phijax.evaluation.plots.panels import ERROR, label_axes, letter, new_figure
from phijax.evaluation.plots.shapes import spread_over
from phijax.evaluation.residuals import fresh_points
from phijax.formulation import Constraint
from phijax.lowering import Expressions
from phijax.sampling.points import Points
from phijax.symbolic import kind_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAP_POINTS, CURVE_POINTS, SCATTERED = 161, 801, 1024
MOST_DOTS = 1500
DECADES = 4  # of a map's colours, below its largest value
ACROSS = 3  # panels a row
PANEL = (4.3, 3.3)  # inches


def residual_figure(evaluator: Evaluator, batch: Mapping[str, Points] | None = None) -> Figure:
    """Magnitude of each term's residual over its region, on colours or an axis of decades.

    batch: points of constraints, shown as dots on maps and as ticks below curves.
    """
    problem = evaluator.problem
    panels = [(c, name) for c in problem.trained.values() for name in c.term_names]
    across = min(ACROSS, len(panels))
    down = math.ceil(len(panels) / across)
    figure = new_figure(PANEL[0] * across, PANEL[1] * down + 0.3)
    axes = figure.subplots(down, across, squeeze=False).ravel()
    for unused in axes[len(panels) :]:
        unused.set_axis_off()
    place = 0
    for constraint in problem.trained.values():
        count = len(constraint.terms)
        _draw_constraint(evaluator, constraint, axes[place : place + count], (batch or {}).get(constraint.name))
        place += count
    figure.suptitle(f"{problem.name}: residuals", fontsize=12)
    return figure


def magnitudes(evaluator: Evaluator, constraint: Constraint, points: Points) -> dict[str, np.ndarray]:
    """{term: |residual|} of a constraint at given points of its region, (n,)."""
    terms = dict(zip(constraint.term_names, (term.residual for term in constraint.terms), strict=True))
    with precision_scope(evaluator.precision):
        lowered = Expressions(evaluator.layout, terms, split_complex=False)  # type: ignore[arg-type]
    rows = ChunkedFunction(lowered.pointwise, evaluator.precision, evaluator.devices)
    found = rows(evaluator.model, lambda begin, end: jax.tree.map(lambda a: a[begin:end], points), points.size)
    return {name: np.abs(found[name]) for name in constraint.term_names}


def _draw_constraint(evaluator: Evaluator, constraint: Constraint, axes: Any, batch: Points | None) -> None:
    region = constraint.region
    varying = [s for s in region.coordinates if region.bounds[s][0] < region.bounds[s][1]]
    shown, held = shown_and_held(region.coordinates, region.bounds)
    flat = region.dimension == len(varying) and (bool(region.constant_normal) or not region.has_normals)
    if flat and varying and region.count is None:
        mapped = len(varying) > 1
        size = MAP_POINTS if mapped else CURVE_POINTS
        grid = grid_of(region, region.coordinates, size, {s.name: v for s, v in held.items() if mapped})
        columns: Any = grid.columns()
        normal = region.constant_normal
        normals: Any = {s.name: np.full(grid.inside.sum(), float(normal.get(s, 0))) for s in region.coordinates}
        found = magnitudes(evaluator, constraint, Points(columns, normals if normal else None))
        order = [list(grid.axes).index(s.name) for s in [*shown, *(s for s in region.coordinates if s not in shown)]]
        for ax, (name, values) in zip(axes, found.items(), strict=True):
            over = np.transpose(grid.spread(values), order)
            if mapped:
                over = over.reshape([len(grid.axes[s.name]) for s in shown])
                place = ", ".join(f"{letter(s.name)} = {v:.4g}" for s, v in held.items())
                _draw_map(ax, grid.axes, shown, over, _title(name, values, place), batch)
            else:
                _draw_curve(ax, varying[0].name, columns[varying[0].name], values, _title(name, values), batch)
        return
    points = _spread(constraint)
    for ax, (name, values) in zip(axes, magnitudes(evaluator, constraint, points).items(), strict=True):
        if points.size == 1:
            _write_value(ax, region.names, points, values, name)
        elif len(varying) < 2:
            _draw_stems(ax, (varying or shown)[0].name, points, values, _title(name, values))
        else:
            _draw_scatter(ax, shown, points, values, _title(name, values))


def _spread(constraint: Constraint) -> Points:
    """Points over the whole region, those of measured data where it has them; by NumPy, so that nothing is compiled."""
    if constraint.columns:
        return fresh_points(constraint, None, None)
    return Points(*spread_over(constraint.region, SCATTERED))


def _title(name: str, values: np.ndarray, place: str = "") -> str:
    size = float(np.sqrt(np.nanmean(values**2))) if values.size else 0.0
    return f"{name}   rms {size:.1e}" + (f"\nat ${place}$" if place else "")


def _norm(values: np.ndarray) -> Any:
    from matplotlib.colors import LogNorm

    finite = values[np.isfinite(values)]
    top = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    return LogNorm(top * 10.0**-DECADES, top, clip=True)


def _laid(shown: list) -> list:
    """The axes in order, time to the right."""
    return shown[::-1] if len(shown) == 2 and kind_of(shown[1]) == "time" else shown


def _bar(ax: Axes, drawn: Any) -> None:
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.02)
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)  # type: ignore[attr-defined]


def _draw_map(ax: Axes, axes: Any, shown: list, values: np.ndarray, title: str, batch: Points | None) -> None:
    across, up = _laid(shown)
    over = values if across is shown[1] else values.T
    mesh = ax.pcolormesh(
        axes[across.name], axes[up.name], over, shading="nearest", cmap="magma_r", norm=_norm(values), rasterized=True
    )
    _bar(ax, mesh)
    if batch is not None:
        dots = [np.asarray(batch.coordinates[s.name])[:MOST_DOTS] for s in (across, up)]
        ax.scatter(*dots, s=2, color="#2aa5b5", lw=0, alpha=0.7, label="points of a step")
        ax.set_xlim(axes[across.name][[0, -1]])
        ax.set_ylim(axes[up.name][[0, -1]])
    if kind_of(across) == kind_of(up) == "space":
        ax.set_aspect(aspect(axes[across.name], axes[up.name]))
    label_axes(ax, f"${letter(across.name)}$", f"${letter(up.name)}$", title)


def _draw_curve(ax: Axes, axis: str, at: np.ndarray, values: np.ndarray, title: str, batch: Points | None) -> None:
    ax.semilogy(at, np.where(values > 0, values, np.nan), color=ERROR, lw=1.2)
    if batch is not None:
        ticks = np.asarray(batch.coordinates[axis])[:MOST_DOTS]
        place = ax.get_xaxis_transform()
        ax.plot(ticks, np.full_like(ticks, 0.02), "|", color="#2aa5b5", ms=5, mew=0.6, alpha=0.7, transform=place)
    ax.grid(alpha=0.25)
    label_axes(ax, f"${letter(axis)}$", "", title)


def _write_value(ax: Axes, names: tuple[str, ...], points: Points, values: np.ndarray, title: str) -> None:
    """Of a single point there is nothing to draw."""
    place = ", ".join(f"{letter(name)} = {float(points.coordinates[name][0]):.4g}" for name in names)
    ax.text(0.5, 0.5, f"|residual| = {values[0]:.2e}\nat ${place}$", ha="center", va="center", transform=ax.transAxes)
    ax.set_title(title, fontsize=10)
    ax.set_xticks([])
    ax.set_yticks([])


def _draw_stems(ax: Axes, axis: str, points: Points, values: np.ndarray, title: str) -> None:
    at: Any = points.coordinates[axis]
    ax.semilogy(at, np.where(values > 0, values, np.nan), "o", color=ERROR, ms=4)
    ax.grid(alpha=0.25)
    label_axes(ax, f"${letter(axis)}$", "", title)


def _draw_scatter(ax: Axes, shown: list, points: Points, values: np.ndarray, title: str) -> None:
    across, up = _laid(shown)
    at = [np.asarray(points.coordinates[s.name]) for s in (across, up)]
    drawn = ax.scatter(*at, c=values, s=7, lw=0, cmap="magma_r", norm=_norm(values))
    _bar(ax, drawn)
    if kind_of(across) == kind_of(up) == "space":
        ax.set_aspect(aspect(*at))
    label_axes(ax, f"${letter(across.name)}$", f"${letter(up.name)}$", title)
