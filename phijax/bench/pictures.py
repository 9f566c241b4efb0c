"""Small pictures for the page of the benchmark: a solution beside its reference, and the losses of runs."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phijax.evaluation.files import written_whole
from phijax.evaluation.plots.panels import label_axes, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BYTES = 60_000
DOTS = (110, 90, 75, 60, 50, 40, 32)  # an inch; the finest that is small enough is taken
COLOURS = 128


def save_small(figure: Figure, path: Path) -> None:
    """Writes a png of at most `MOST_BYTES`, or the coarsest one."""
    picture = b""
    for dots in DOTS:
        picture = _png(figure, dots)
        if len(picture) <= MOST_BYTES:
            break
    with written_whole(path) as part:
        part.write_bytes(picture)


def _png(figure: Figure, dots: int) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    figure.set_dpi(dots)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    kept = io.BytesIO()
    picture.quantize(COLOURS, method=Image.Quantize.MEDIANCUT).save(kept, "png", optimize=True)
    return kept.getvalue()


def loss_figure(records: Sequence[Mapping[str, Any]]) -> Figure:
    """The weighted loss of each run over its seconds of training."""
    figure = new_figure(6.4, 2.8)
    ax = figure.subplots()
    for record in records:
        seconds, losses = np.array(record.get("curve") or np.empty((0, 2)), float).T
        ax.plot(seconds, np.where(losses > 0, losses, np.nan), lw=1.4, label=f"seed {record['seed']}")
    ax.set_yscale("log")
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, fontsize=8)
    label_axes(ax, "seconds of training", "weighted loss", "")
    return figure
