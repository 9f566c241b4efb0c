"""Animations: a field over time as a GIF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phijax._numbers import is_positive, is_whole
from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.files import written_whole
from phijax.evaluation.grids import grid_of
from phijax.evaluation.plots.fields import aspect, shown_and_held
from phijax.evaluation.plots.panels import draw_curve, draw_map, letter, new_figure
from phijax.symbolic import Field, kind_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVE_POINTS, MAP_POINTS = 401, 161
DOTS = 110  # an inch


def animate(evaluator: Evaluator, field: Field, path: str | Path, frames: int = 60, seconds: float = 6.0) -> Path:
    """Writes a GIF of a field (its modulus, where complex) over one or two coordinates of space, and gives its path.

    Raises ValueError for a field without time or without space, and for another ending than .gif.
    """
    target = Path(path)
    target = target if target.suffix else target.with_suffix(".gif")
    if target.suffix != ".gif":
        raise ValueError(f"{target}: animations are written as .gif.")
    if not is_whole(frames) or not is_positive(seconds):
        raise ValueError(f"frames={frames!r} must be a whole number of at least 1, and seconds={seconds!r} positive.")
    clocks = [s for s in field.coordinates if kind_of(s) == "time"]
    if not clocks or len(field.coordinates) < 2:
        raise ValueError(f"{field} has no time beside space, so nothing moves; use solution.plot(path).")
    images = _images(evaluator, field, clocks[0], frames)
    with written_whole(target) as part:
        pause = max(round(1000 * seconds / frames), 20)
        images[0].save(part, save_all=True, append_images=images[1:], duration=pause, loop=0, optimize=True)
    return target


def _images(evaluator: Evaluator, field: Field, clock: Any, frames: int) -> list[Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    region = evaluator.problem.region_of(field)
    moving = tuple(s for s in field.coordinates if s != clock)
    shown, held = shown_and_held(moving, region.bounds)
    moments = np.linspace(*region.bounds[clock], frames)
    size = CURVE_POINTS if len(shown) == 1 else MAP_POINTS
    taken = []
    for moment in moments:
        fixed = {s.name: v for s, v in held.items()} | {clock.name: float(moment)}
        grid = grid_of(region, field.coordinates, size, fixed)
        values = grid.spread(evaluator({field.name: field}, grid.columns())[field.name])
        order = [list(grid.axes).index(s.name) for s in shown]
        rest = [i for i in range(len(grid.axes)) if i not in order]
        over = np.transpose(values, [*order, *rest]).reshape([len(grid.axes[s.name]) for s in shown])
        taken.append(np.abs(over) if np.iscomplexobj(over) else over)
    finite = np.concatenate([v[np.isfinite(v)] for v in taken])
    limits = (float(finite.min()), float(finite.max()))
    axes = [(s.name, np.linspace(*region.bounds[s], size)) for s in shown]
    label = letter(field.name)
    images = []
    for moment, values in zip(moments, taken, strict=True):
        place = "".join(f", {letter(s.name)} = {v:.4g}" for s, v in held.items())
        modulus = f"|{label}|" if field.func.is_complex_field else label
        figure = _frame(axes, values, limits, f"${modulus}$ at ${letter(clock.name)} = {moment:.3f}{place}$")
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
        images.append(picture.quantize(256, method=Image.Quantize.MAXCOVERAGE))
    return images


def _frame(axes: list, values: np.ndarray, limits: tuple[float, float], title: str) -> Figure:
    low, high = limits
    high = high if high > low else low + 1.0
    figure = new_figure(5.2, 3.9)
    figure.set_dpi(DOTS)
    ax = figure.subplots()
    if len(axes) == 1:
        draw_curve(ax, axes[0], {"solution": values}, title)
        ax.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        return figure
    draw_map(ax, axes[0], axes[1], values, title, (low, high))
    ax.set_aspect(aspect(axes[0][1], axes[1][1]))
    return figure
