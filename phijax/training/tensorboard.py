"""TensorBoard: a callback that writes what a run says of itself as scalars that TensorBoard reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from phijax._numbers import is_whole
from phijax.training.callbacks import Callback, Event

FLUSH_SECONDS = 10  # a run that is killed loses so much of its curves, which metrics.jsonl has


@dataclass
class TensorBoard(Callback):
    """Writes total, losses, weights, weighted losses, parameters and learning rate to event files in `folder`.

    The steps are those completed. A run that goes on in the same folder takes the place of what was written past its
    checkpoint. Needs tensorboardX: ImportError, with the line that installs it, where that is not there.
    """

    folder: str | Path
    every: int = 100
    _writer: Any = field(init=False, default=None, repr=False, compare=False)

    def __post_init__(self):
        if not isinstance(self.folder, str | os.PathLike):
            raise TypeError(f"TensorBoard(folder={self.folder!r}): give the path of a folder.")
        if not is_whole(self.every):
            raise ValueError(f"every={self.every!r}: a callback is called every 1 step or more.")
        _summary_writer()

    def init(self, model: Any) -> tuple:
        """Nothing: what is in the files is no part of the run."""
        return ()

    def step(self, state: tuple, event: Event) -> tuple[tuple, None]:
        if self._writer is None:
            place = Path(self.folder).absolute()
            self._writer = _summary_writer()(str(place), purge_step=event.step, flush_secs=FLUSH_SECONDS)
        for tag, value in _scalars(event):
            self._writer.add_scalar(tag, value, event.step)
        return state, None

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _summary_writer() -> Any:
    try:
        from tensorboardX import SummaryWriter
    except ImportError as error:
        raise ImportError("tensorboardX is not installed; pip install 'phijax[tensorboard]'.") from error
    return SummaryWriter


def _scalars(event: Event) -> Iterator[tuple[str, float]]:
    """(tag, value) of all that is known at a call; at step 0 these are the parameters alone."""
    if event.losses:
        yield "total", event.total
    for term, loss in event.losses.items():
        yield f"losses/{term}", loss
        yield f"weights/{term}", event.weights[term]
        yield f"weighted/{term}", event.weights[term] * loss
    for name, value in event.parameters.items():
        yield from _components(f"parameters/{name}", np.asarray(value))
    if event.learning_rate is not None:
        yield "learning_rate", event.learning_rate


def _components(tag: str, value: np.ndarray) -> Iterator[tuple[str, float]]:
    """An array's numbers by position, a complex one's by part."""
    if np.iscomplexobj(value):
        yield from _components(f"{tag}/real", np.real(value))
        yield from _components(f"{tag}/imaginary", np.imag(value))
    elif value.ndim == 0:
        yield tag, float(value)
    else:
        for position, entry in np.ndenumerate(value):
            yield "/".join([tag, *map(str, position)]), float(entry)
