"""The figure of a training: losses by term, their weighted sum, and the stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from phijax.evaluation.plots.panels import REFERENCE, SOLUTION, label_axes, letter, new_figure
from phijax.formulation import Problem
from phijax.training import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOTAL = "total (weighted sum)"


def history_figure(history: History, name: str = "") -> Figure:
    """Raw loss of each term and the weighted sum over the steps; the weighted losses beside them where weights act."""
    weighted = any(np.any(np.abs(values - 1) > 1e-12) for values in history.weights.values())
    figure = new_figure(7.4 * (1 + weighted), 4.2)
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
    _mark_stages(ax, history)
    ax.set_yscale("log")
    ax.grid(alpha=0.25)
    columns = 1 if len(curves) < 8 else 2
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8, ncols=columns, borderaxespad=0.3)
    label_axes(ax, "step", "", title)


def _mark_stages(ax: Axes, history: History) -> None:
    """A line where each later stage begins, numbered; those too close for their numbers share one."""
    begun = [event["step"] for event in history.events if event["event"] == "stage"]
    width, last = max(int(history.steps[-1]) if len(history) else 0, 1), -np.inf
    for number, step in enumerate(begun, start=2):
        ax.axvline(step, color="0.5", lw=0.9, ls=(0, (4, 3)))
        if step - last > 0.05 * width:
            place = (step, 0.985)
            ax.annotate(
                f" stage {number}", place, xycoords=("data", "axes fraction"), fontsize=8, va="top", color="0.35"
            )
            last = step


def parameter_figure(history: History, problem: Problem) -> Figure | None:
    """The path of each unknown constant over the steps, its true value dashed; None where there is none."""
    paths = {name: values for name, values in history.parameters.items() if name in problem.parameters}
    if not paths:
        return None
    figure = new_figure(6.0, 0.5 + 2.3 * len(paths))
    for ax, (name, values) in zip(figure.subplots(len(paths), 1, squeeze=False)[:, 0], paths.items(), strict=True):
        ax.plot(
            history.steps, values, color=SOLUTION, lw=1.6, marker="o" if len(history) < 3 else None, ms=4, label=name
        )
        known = None if problem.reference is None else problem.reference.parameter(name)
        if known is not None:
            ax.axhline(known, color=REFERENCE, lw=1.3, ls=(0, (4, 3)), label=f"reference {known:.6g}")
            ax.legend(frameon=False, fontsize=8)
        _mark_stages(ax, history)
        ax.grid(alpha=0.25)
        label_axes(ax, "step", "", f"${letter(name)}$ = {values[-1]:.6g} at the last step")
    figure.suptitle(problem.name, fontsize=12)
    return figure


def ensemble_history_figure(histories: Mapping[Any, History], name: str = "") -> Figure:
    """The weighted sum of each seed over the steps."""
    figure = new_figure(7.4, 4.2)
    ax = figure.subplots()
    for seed, history in histories.items():
        marker = "o" if len(history) < 3 else None
        ax.plot(history.steps, _positive(history.total), lw=1.1, marker=marker, ms=4, label=f"seed {seed}")
    ax.set_yscale("log")
    ax.grid(alpha=0.25)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8, borderaxespad=0.3)
    label_axes(ax, "step", "", TOTAL)
    figure.suptitle(name, fontsize=12)
    return figure


def ensemble_parameter_figure(histories: Mapping[Any, History], problem: Problem) -> Figure | None:
    """The path of each unknown constant over the steps, a line a seed, its true value dashed; None where there is none."""
    names = [n for n in problem.parameters if any(n in history.parameters for history in histories.values())]
    if not names:
        return None
    figure = new_figure(6.0, 0.5 + 2.3 * len(names))
    for ax, name in zip(figure.subplots(len(names), 1, squeeze=False)[:, 0], names, strict=True):
        for seed, history in histories.items():
            ax.plot(history.steps, history.parameters[name], lw=1.1, label=f"seed {seed}")
        known = None if problem.reference is None else problem.reference.parameter(name)
        if known is not None:
            ax.axhline(known, color=REFERENCE, lw=1.3, ls=(0, (4, 3)), label=f"reference {known:.6g}")
        ax.legend(frameon=False, fontsize=8)
        ax.grid(alpha=0.25)
        label_axes(ax, "step", "", f"${letter(name)}$")
    figure.suptitle(problem.name, fontsize=12)
    return figure


def _positive(values: np.ndarray) -> np.ndarray:
    """Zero and what is not finite left out: a logarithmic axis has no place for them."""
    return np.where(np.isfinite(values) & (values > 0), values, np.nan)
