"""Panels: curves, maps and slices on the axes of one figure."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from phijax.evaluation.files import written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SOLUTION, REFERENCE, ERROR = "#1f5aa6", "#d9822b", "#8c1d40"
SLICE_COLORS = ("#2b1055", "#7a2182", "#d1495b", "#edae49")
_DIVERGING_FROM = 0.2  # smaller over larger of the two signs' extents, from which zero is the middle of the colours
DPI = 160


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, sizes in inches."""
    with _any_backend():
        from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


@contextmanager
def _any_backend() -> Iterator[None]:
    """Inside, MPLBACKEND is not set: a stale one would end the import, and figures that are saved need no backend."""
    stale = os.environ.pop("MPLBACKEND", None)
    try:
        yield
    finally:
        if stale is not None:
            os.environ["MPLBACKEND"] = stale


def save_figure(figure: Figure, path: str | Path) -> Figure:
    """Writes the figure in the format that the file's ending names, png if none; the file is whole or not there."""
    target = Path(path)
    target = target if target.suffix else target.with_suffix(".png")
    with written_whole(target) as part:
        figure.savefig(part, dpi=DPI)
    return figure


def letter(name: str) -> str:
    """A name as mathematics in a label."""
    return sympy.latex(sympy.Symbol(name))


def label_axes(ax: Axes, x: str, y: str, title: str) -> None:
    """Names the axes and the panel."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(title, fontsize=10)


def draw_map(
    ax: Axes, x: tuple[str, np.ndarray], y: tuple[str, np.ndarray], values: np.ndarray, title: str, limits: Any = None
) -> tuple[float, float]:
    """A colour map of values over (x, y), of shape (x, y), NaN left blank. Gives the limits of its colours."""
    low, high, colours = _colours(values) if limits is None else (*limits, _colours(np.array(limits))[2])
    mesh = ax.pcolormesh(x[1], y[1], values.T, shading="nearest", cmap=colours, vmin=low, vmax=high, rasterized=True)
    _bar(ax, mesh)
    label_axes(ax, f"${letter(x[0])}$", f"${letter(y[0])}$", title)
    return low, high


def draw_error_map(
    ax: Axes, x: tuple[str, np.ndarray], y: tuple[str, np.ndarray], error: np.ndarray, title: str
) -> None:
    """A colour map of absolute differences."""
    top = float(np.nanmax(error)) if np.isfinite(error).any() else 1.0
    mesh = ax.pcolormesh(x[1], y[1], error.T, shading="nearest", cmap="magma_r", vmin=0, vmax=top or 1, rasterized=True)
    _bar(ax, mesh)
    label_axes(ax, f"${letter(x[0])}$", f"${letter(y[0])}$", title)


def _bar(ax: Axes, mesh: Any) -> None:
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02)
    bar.formatter.set_powerlimits((-2, 3))  # type: ignore[attr-defined]
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)  # type: ignore[attr-defined]


def _colours(values: np.ndarray) -> tuple[float, float, str]:
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low < 0 < high and min(-low, high) > _DIVERGING_FROM * max(-low, high):
        size = max(-low, high)
        return -size, size, "RdBu_r"
    if high - low < 1e-12 * max(abs(low), abs(high), 1e-300):  # a constant still needs a range
        low, high = low - 0.5 * (abs(low) or 1), high + 0.5 * (abs(high) or 1)
    return low, high, "viridis"


def draw_curve(
    ax: Axes,
    x: tuple[str, np.ndarray],
    curves: Mapping[str, np.ndarray],
    title: str,
    spread: np.ndarray | None = None,
) -> None:
    """The solution, and the reference dashed over it; of an ensemble its mean, and a band of its spread to both sides."""
    styles = {
        "solution": {"color": SOLUTION, "lw": 2.2},
        "reference": {"color": REFERENCE, "lw": 1.4, "ls": (0, (4, 3))},
    }
    for name, values in curves.items():
        ax.plot(x[1], values, label=name, **styles[name])
    if spread is not None:
        middle = curves["solution"]
        band = {"color": SOLUTION, "alpha": 0.25, "lw": 0, "label": "spread over the seeds"}
        ax.fill_between(x[1], middle - spread, middle + spread, **band)
    if len(ax.get_legend_handles_labels()[0]) > 1:
        ax.legend(frameon=False, fontsize=8)
    ax.grid(alpha=0.25)
    label_axes(ax, f"${letter(x[0])}$", "", title)


def draw_error_curve(ax: Axes, x: tuple[str, np.ndarray], error: np.ndarray, title: str) -> None:
    """Absolute differences on a logarithmic axis."""
    ax.semilogy(x[1], np.where(error > 0, error, np.nan), color=ERROR, lw=1.2)
    ax.grid(alpha=0.25)
    label_axes(ax, f"${letter(x[0])}$", "", title)


def draw_slices(
    ax: Axes,
    x: tuple[str, np.ndarray],
    t: tuple[str, np.ndarray],
    values: np.ndarray,
    exact: np.ndarray | None,
    title: str,
) -> None:
    """Profiles over x, of values of shape (x, t), at evenly spaced t; the reference dashed over them."""
    for number, index in enumerate(np.linspace(0, len(t[1]) - 1, len(SLICE_COLORS)).round().astype(int)):
        name = f"${letter(t[0])} = {t[1][index]:.3g}$"
        ax.plot(x[1], values[:, index], color=SLICE_COLORS[number], lw=2.2, label=name)
        if exact is not None:
            last = number == len(SLICE_COLORS) - 1
            dashes = {"color": "black", "lw": 0.9, "ls": (0, (4, 3)), "label": "reference" if last else None}
            ax.plot(x[1], exact[:, index], **dashes)
    ax.legend(frameon=False, fontsize=8)
    ax.grid(alpha=0.25)
    label_axes(ax, f"${letter(x[0])}$", "", title)
