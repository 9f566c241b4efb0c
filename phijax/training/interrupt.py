"""Signals during a fit: the first asks for an orderly end, the second ends at once."""

from __future__ import annotations

import signal
import threading
import time
from types import TracebackType

AGAIN = 0.5  # seconds: `timeout` and schedulers signal a process and then its group, and mean one signal


class Interrupts:
    """Context in which SIGINT and SIGTERM set `name` in place of ending the process; undone on leaving.

    In another thread than the main one Python allows no handlers, and nothing is changed.
    """

    def __init__(self):
        self.name: str | None = None
        self._first = 0.0
        self._before: dict[int, object] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._restore()

    def _note(self, number: int, frame: object) -> None:
        if self.name is None:
            self.name, self._first = signal.Signals(number).name, time.monotonic()
        elif time.monotonic() - self._first >= AGAIN:
            self._restore()
            signal.raise_signal(number)  # does what it did before the fit

    def _restore(self) -> None:
        for number, handler in self._before.items():
            # A handler that was not installed from Python reads as None and cannot be set again.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)  # type: ignore[arg-type]
        self._before = {}
