"""Timer: a callback that measures how long a step takes, and may end the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array

from phijax._numbers import is_positive, is_whole
from phijax.training.callbacks import Callback, Event


class Timing(NamedTuple):
    """State of Timer: completed steps and seconds of the run at its last call, and the fewest seconds a step so far."""

    step: Array
    seconds: Array
    fastest: Array


@dataclass(frozen=True)
class Timer(Callback):
    """Measures the seconds of a step; `FitResult.seconds_a_step` gives them, of the fastest stretch between two calls.

    limit: the run ends at the first call after so many seconds, those of runs that it resumes included; None for no limit.
    Its state is the clock's and differs from run to run; it changes no other number.
    """

    every: int = 100
    limit: float | None = None

    def __post_init__(self):
        if not is_whole(self.every):
            raise ValueError(f"every={self.every!r}: a callback is called every 1 step or more.")
        if self.limit is not None and not is_positive(self.limit):
            raise ValueError(f"limit={self.limit!r}: give a positive number of seconds, or None.")

    def init(self, model: Any) -> Timing:
        return Timing(jnp.int32(-1), jnp.asarray(0.0), jnp.asarray(jnp.inf))

    def step(self, state: Timing, event: Event) -> tuple[Timing, str | None]:
        steps, seconds = event.step - int(state.step), event.seconds - float(state.seconds)
        # The first stretch begins with compiling; so does that after a resume, which is the slower one.
        timed = event.step > 0 and int(state.step) > 0 and steps > 0
        fastest = min(float(state.fastest), seconds / steps) if timed else float(state.fastest)
        over = self.limit is not None and event.seconds >= self.limit
        reason = f"timer: {event.seconds:.1f} s spent, of {self.limit:g}" if over else None
        return Timing(jnp.int32(event.step), jnp.asarray(event.seconds), jnp.asarray(fastest)), reason
