"""Progress of a run: a bar on a terminal, elsewhere one plain line about every ten seconds, all on standard error."""

from __future__ import annotations

import abc
import sys
import time
from typing import Any, TextIO

PERIOD = 10.0  # seconds between plain lines


class Progress(abc.ABC):
    """What the Trainer tells: `begin`, then `update` between steps, `say` for what happens once, `end`."""

    @abc.abstractmethod
    def begin(self, step: int, max_steps: int) -> None:
        """The run starts at `step`."""

    @abc.abstractmethod
    def update(self, step: int, total: float) -> None:
        """`step` steps are complete; `total` is the loss of the last."""

    @abc.abstractmethod
    def say(self, sentence: str) -> None:
        """Something that happens once: a stage begins, the run stops."""

    @abc.abstractmethod
    def end(self) -> None:
        """The run is over."""


class Silent(Progress):
    """Shows nothing."""

    def begin(self, step: int, max_steps: int) -> None: ...
    def update(self, step: int, total: float) -> None: ...
    def say(self, sentence: str) -> None: ...
    def end(self) -> None: ...


class Plain(Progress):
    """Lines for logs and pipes. A run shorter than the period still shows its loss, before whatever is said next."""

    def __init__(self, stream: TextIO | None = None, period: float = PERIOD):
        self._stream, self._period = stream, period
        self._max_steps, self._last = 0, 0.0
        self._unshown: str | None = None

    def begin(self, step: int, max_steps: int) -> None:
        self._max_steps, self._last = max_steps, time.monotonic()

    def update(self, step: int, total: float) -> None:
        self._unshown = f"step {step} of {self._max_steps}, total loss {total:.4e}"
        if time.monotonic() - self._last >= self._period:
            self._last = time.monotonic()
            self._show()

    def say(self, sentence: str) -> None:
        self._show()
        self._print(sentence)

    def end(self) -> None: ...

    def _show(self) -> None:
        if self._unshown is not None:
            self._print(self._unshown)
            self._unshown = None

    def _print(self, line: str) -> None:
        print(f"phijax: {line}", file=self._stream or sys.stderr, flush=True)


class Bar(Progress):
    """A rich progress bar with the loss."""

    def __init__(self):
        self._bar: Any = None
        self._task: Any = None

    def begin(self, step: int, max_steps: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[loss]}"), TimeElapsedColumn())
        self._bar = RichProgress(*columns, TimeRemainingColumn(), console=Console(stderr=True))
        self._task = self._bar.add_task("train", total=max_steps, completed=step, loss="compiling")
        self._bar.start()

    def update(self, step: int, total: float) -> None:
        self._bar.update(self._task, completed=step, loss=f"loss {total:.4e}")

    def say(self, sentence: str) -> None:
        self._bar.console.print(sentence, markup=False, highlight=False)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def make_progress(progress: bool | Progress | None) -> Progress:
    """None: a bar on a terminal, else plain lines. False: nothing. A Progress: itself."""
    if isinstance(progress, Progress):
        return progress
    if progress is False:
        return Silent()
    return Bar() if sys.stderr.isatty() else Plain()
