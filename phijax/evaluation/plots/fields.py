"""The figure of a solution: a row for each field, the reference and the error beside it where known."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from phijax.evaluation.errors import known_values
from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.grids import Grid, grid_of
from phijax.evaluation.plots.panels import (
    draw_curve,
    draw_error_curve,
    draw_error_map,
    draw_map,
    draw_slices,
    letter,
    new_figure,
)
from phijax.symbolic import Field, kind_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVE_POINTS = 1001
MAP_POINTS = 301
PANEL = (3.9, 3.1)  # inches
MOST_ACROSS = 3


@dataclass(frozen=True)
class Row:
    """One quantity to draw. values, exact, error: over the grid's axes that vary, in order, NaN outside the region.

    spread: of the values, where they are means of an ensemble.
    """

    label: str
    error_label: str
    axes: tuple[tuple[str, np.ndarray], ...]
    times: tuple[bool, ...]
    values: np.ndarray
    exact: np.ndarray | None
    error: np.ndarray | None
    held: str
    spread: np.ndarray | None = None

    @property
    def evolves(self) -> bool:
        """Whether it is a map over one coordinate and time."""
        return len(self.axes) == 2 and any(self.times)

    @property
    def panels(self) -> int:
        """Number of panels."""
        own = 1 if len(self.axes) == 1 else 1 + self.evolves + (self.spread is not None)
        return own + (len(self.axes) if self.exact is not None else 0)


def solution_figure(evaluator: Evaluator) -> Figure:
    """All fields: curves over one coordinate, maps over two, the rest held; a complex field as modulus and parts."""
    rows = [
        row
        for field in evaluator.problem.fields.values()
        for held in slices(evaluator, field)
        for row in field_rows(evaluator, field, held)
    ]
    width = max(row.panels for row in rows)
    if width == 1:  # maps alone lie side by side
        across = min(MOST_ACROSS, len(rows))
        down = -(-len(rows) // across)
        figure = new_figure(PANEL[0] * across, PANEL[1] * down + 0.3)
        places = [[ax] for ax in figure.subplots(down, across, squeeze=False).ravel()]
    else:
        figure = new_figure(PANEL[0] * width, PANEL[1] * len(rows) + 0.3)
        places = [list(axes) for axes in figure.subplots(len(rows), width, squeeze=False)]
    for axes, row in itertools.zip_longest(places, rows):
        panels = 0 if row is None else row.panels
        if row is not None:
            draw_row(axes[:panels], row)
        for unused in axes[panels:]:
            unused.set_axis_off()
    figure.suptitle(evaluator.problem.name, fontsize=12)
    return figure


def slices(evaluator: Evaluator, field: Field) -> list[dict[str, float]]:
    """Where pictures of a field are taken: maps at three times, or through a solid at three depths, else once."""
    bounds = evaluator.problem.region_of(field).bounds
    shown, held = shown_and_held(field.coordinates, bounds)
    moving = [s for s in held if kind_of(s) != "parameter" and bounds[s][0] < bounds[s][1]]
    clocks = [s for s in moving if kind_of(s) == "time"]
    through = clocks or (moving if len(moving) == 1 else [])
    if len(shown) < 2 or not through:
        return [{}]
    low, high = bounds[through[0]]
    parts = (0.0, 0.5, 1.0) if clocks else (0.25, 0.5, 0.75)
    return [{through[0].name: low + part * (high - low)} for part in parts]


def field_rows(evaluator: Evaluator, field: Field, at: Mapping[str, float] | None = None) -> list[Row]:
    """The rows of one field; of a complex one its modulus, real and imaginary part. at: where coordinates are held."""
    problem = evaluator.problem
    region = problem.region_of(field)
    shown, held = shown_and_held(field.coordinates, region.bounds)
    held = {symbol: (at or {}).get(symbol.name, value) for symbol, value in held.items()}
    sizes = CURVE_POINTS if len(shown) == 1 else MAP_POINTS
    grid = grid_of(region, field.coordinates, sizes, {symbol.name: value for symbol, value in held.items()})
    columns = grid.columns()
    values = grid.spread(evaluator({field.name: field}, columns)[field.name])
    known = known_values(problem, [field], columns).get(field.name)
    exact = None if known is None else grid.spread(known)
    if not field.func.is_complex_field:
        parts: dict[str, Any] = {"{}": np.asarray}
        exact = None if exact is None else np.real(exact)
    else:
        parts = {"|{}|": np.abs, r"\mathrm{{Re}}\,{}": np.real, r"\mathrm{{Im}}\,{}": np.imag}
    spread = None
    if evaluator.spread is not None and not field.func.is_complex_field:
        spread = grid.spread(evaluator.spread({field.name: field}, columns)[field.name])
    return [_row(grid, shown, held, field.name, part, values, exact, spread) for part in parts.items()]


def shown_and_held(
    coordinates: tuple[sympy.Symbol, ...], bounds: Mapping[sympy.Symbol, tuple[float, float]]
) -> tuple[list[sympy.Symbol], dict[sympy.Symbol, float]]:
    """At most two coordinates to draw over, space before time before parameters, and values of the others.

    Time is held at its end, what else there is in the middle.
    """
    rank = {"space": 0, "time": 1, "parameter": 2}
    varying = [symbol for symbol in coordinates if bounds[symbol][0] < bounds[symbol][1]]
    shown = sorted(varying, key=lambda symbol: rank[kind_of(symbol)])[:2] or list(coordinates[:1])
    held = {}
    for symbol in coordinates:
        if symbol not in shown:
            low, high = bounds[symbol]
            held[symbol] = high if kind_of(symbol) == "time" else (low + high) / 2
    return shown, held


def _row(
    grid: Grid,
    shown: list[sympy.Symbol],
    held: dict[sympy.Symbol, float],
    name: str,
    part: tuple[str, Callable[[np.ndarray], np.ndarray]],
    values: np.ndarray,
    exact: np.ndarray | None,
    spread: np.ndarray | None,
) -> Row:
    names = list(grid.axes)
    order = [names.index(symbol.name) for symbol in [*shown, *held]]

    def over_shown(array: np.ndarray) -> np.ndarray:
        return np.transpose(array, order).reshape([len(grid.axes[symbol.name]) for symbol in shown])

    form, take = part
    modulus = take is np.abs  # its error is that of the complex field
    error = None if exact is None else np.abs(values - exact if modulus else take(values) - take(exact))
    return Row(
        label=form.format(letter(name)),
        error_label=f"|${letter(name) if modulus else form.format(letter(name))}$ - reference|",
        axes=tuple((symbol.name, grid.axes[symbol.name]) for symbol in shown),
        times=tuple(kind_of(symbol) == "time" for symbol in shown),
        values=over_shown(take(values)),
        exact=None if exact is None else over_shown(take(exact)),
        error=None if error is None else over_shown(error),
        held=", ".join(f"{letter(symbol.name)} = {value:.4g}" for symbol, value in held.items()),
        spread=None if spread is None else over_shown(spread),
    )


def draw_row(axes: list[Axes], row: Row) -> None:
    """Draws one quantity on as many axes as it has panels."""
    place = f" at ${row.held}$" if row.held else ""
    title = f"${row.label}${place}"
    if len(row.axes) == 1:
        curves = {"solution": row.values} | ({} if row.exact is None else {"reference": row.exact})
        draw_curve(axes[0], row.axes[0], curves, title, row.spread)
        if row.error is not None:
            draw_error_curve(axes[1], row.axes[0], row.error, row.error_label)
        return
    x, y = row.axes
    across, up, turned = (y, x, True) if row.evolves else (x, y, False)  # time runs to the right

    def laid(array: np.ndarray) -> np.ndarray:
        return array.T if turned else array

    limits = draw_map(axes[0], across, up, laid(row.values), title)
    if row.spread is not None:
        draw_error_map(axes[row.panels - 1 - row.evolves], across, up, laid(row.spread), "spread over the seeds")
    if row.exact is not None and row.error is not None:
        draw_map(axes[1], across, up, laid(row.exact), "reference", limits)
        draw_error_map(axes[2], across, up, laid(row.error), row.error_label)
    if row.evolves:
        draw_slices(axes[-1], x, y, row.values, row.exact, f"${row.label}$ at four times")
    else:
        for ax in axes:
            ax.set_aspect(aspect(x[1], y[1]))


def aspect(x: np.ndarray, y: np.ndarray) -> Any:
    """Equal scales, unless one axis would be a sliver."""
    ratio = float(np.ptp(x) / np.ptp(y)) if np.ptp(y) > 0 else 1.0
    return "equal" if 0.25 <= ratio <= 4 else "auto"
