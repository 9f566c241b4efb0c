"""When the compiled loop gives way to the host: fixed steps for what is recorded, the clock for what only watches."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import NamedTuple

from phijax._devices import Devices
from phijax.training.callbacks import Callbacks

CHUNK_SECONDS = 1.0  # between two looks at signals and the clock
OUT_OF_TIME = "max_seconds reached"  # how a stop reason begins where the clock ended the run
SAVE_SECONDS = 30.0  # between two checkpoints where no number of steps was given


@dataclass(frozen=True)
class Events:
    """Steps at which something is recorded, called or saved. The clock has no part in them."""

    log_every: int
    checkpoint_every: int | None
    callbacks: Callbacks

    def logs(self, completed: int) -> bool:
        """Whether the step that was just completed is recorded: those whose number divides by `log_every`."""
        return (completed - 1) % self.log_every == 0

    def saves(self, completed: int) -> bool:
        """Whether a checkpoint is due after so many steps."""
        return bool(self.checkpoint_every) and completed % self.checkpoint_every == 0

    def next_after(self, step: int) -> int:
        """The first number of completed steps after `step` at which one of them is due."""
        after = [((step - 1) // self.log_every + 1) * self.log_every + 1]
        if self.checkpoint_every:
            after.append((step // self.checkpoint_every + 1) * self.checkpoint_every)
        called = self.callbacks.next_after(step)
        return min(after if called is None else [*after, called])


@dataclass
class Pace:
    """How many steps fit between two looks at the clock; any chunking of the steps gives the same bits."""

    max_seconds: float | None
    spent: float = 0.0
    _begun: float = field(default_factory=time.monotonic)
    _saved: float = field(default_factory=time.monotonic)
    _rate: float | None = None
    _compiled: bool = False

    @property
    def seconds(self) -> float:
        """Seconds of the run so far, those of the runs that it resumes included."""
        return self.spent + time.monotonic() - self._begun

    @property
    def out_of_time(self) -> bool:
        """Whether `max_seconds` are spent."""
        return self.max_seconds is not None and self.seconds >= self.max_seconds

    def steps(self) -> int:
        """Steps until the next look, at least one; one where no step has been timed yet."""
        if self._rate is None:
            return 1
        left = CHUNK_SECONDS
        if self.max_seconds is not None:
            left = min(left, self.max_seconds - self.seconds)
        return max(1, int(left * self._rate))

    def new_stage(self) -> None:
        """Forget how long a step takes; the first chunk compiles, and says nothing of it."""
        self._rate, self._compiled = None, False

    def timed(self, steps: int, seconds: float) -> None:
        """Learn from a chunk."""
        if self._compiled:
            self._rate = steps / max(seconds, 1e-9)
        self._compiled = True

    def save_due(self) -> bool:
        """Whether the last checkpoint is old."""
        return time.monotonic() - self._saved >= SAVE_SECONDS

    def saved(self) -> None:
        """A checkpoint was just made."""
        self._saved = time.monotonic()


class Look(NamedTuple):
    """What the clock, the signals and the callbacks say between two chunks of steps, the same in every process.

    steps: until the next look. save, over: whether the last checkpoint is old, and the time is spent. stops: whether
    callbacks end the run. signal: number of one that came, 0 for none.
    """

    steps: int
    save: bool = False
    over: bool = False
    stops: bool = False
    signal: int = 0

    def agreed(self, devices: Devices) -> Look:
        """What the first process says of time and callbacks; a signal to any process is one to all."""
        every = devices.agreed(self)
        steps, save, over, stops, _ = every[0]
        signals = [values[-1] for values in every]
        return Look(steps, bool(save), bool(over), bool(stops), next((number for number in signals if number), 0))
