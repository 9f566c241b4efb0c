"""The figure of a training: losses by term, their weighted sum, and the stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phijax.evaluation.plots.panels import label_axes, new_figure
from phijax.training import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOTAL = "total (weighted sum)"


def history_figure(history: History, name: str = "") -> Figure:
    """Raw loss of each term and the weighted sum over the steps; the weighted losses beside them where weights act."""
    weighted = any(np.any(np.abs(values - 1) > 1e-12) for values in history.weights.values())
    figure = new_figure(6.4 * (1 + weighted), 4.2)
    axes = figure.subplots(1, 1 + weighted, squeeze=False)[0]
    _draw(axes[0], history, history.losses, "loss of each term")
    if weighted:
        _draw(axes[1], history, history.weighted, "weight x loss of each term")
    figure.suptitle(name, fontsize=12)
    return figure


def _draw(ax: Axes, history: History, curves: dict[str, np.ndarray], title: str) -> None:
    marker = "o" if len(history) < 3 else None
    for term, values in curves.items():
        ax.plot(history.steps, _positive(values), lw=1.2, marker=marker, ms=4, label=term)
    ax.plot(history.steps, _positive(history.total), color="black", lw=1.8, marker=marker, ms=4, label=TOTAL)
    for event in history.events:
        if event["event"] == "stage":
            ax.axvline(event["step"], color="0.5", lw=0.9, ls=(0, (4, 3)))
            ax.annotate(" stage", (event["step"], 0.98), xycoords=("data", "axes fraction"), fontsize=8, va="top")
    ax.set_yscale("log")
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, fontsize=8)
    label_axes(ax, "step", "", title)


def _positive(values: np.ndarray) -> np.ndarray:
    """Zero and what is not finite left out: a logarithmic axis has no place for them."""
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)
