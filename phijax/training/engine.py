"""Engine: what takes the steps of one stage, and how it is asked for them, alone or for several runs at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, Self

from phijax.training.state import TrainState
from phijax.training.step import Report

Advanced = tuple[TrainState, Report, int]  # state, report of the last step, and RUN, NONFINITE or STALLED


class Engine(Protocol):
    """Takes the steps of one stage. Its states hold the optimizer's own state, without the stage.

    seconds: by phase of a step, where they are told apart. original: the engine whose compiled programs it uses, itself
    unless it came from `beside`.
    """

    seconds: dict[str, float]
    original: Any

    def advance(self, state: TrainState, start: int, end: int) -> Advanced: ...
    def beside(self, sources: Any) -> Self: ...
    def together(self, asked: Sequence[Advance], lanes: int) -> list[Advanced]: ...
    def stop_reason(self) -> str: ...
    def nonfinite_reason(self, state: TrainState, start: int, report: Report) -> str: ...
    def learning_rate(self, opt_state: Any) -> float | None: ...
    def diagnostics(self) -> dict[str, float]: ...


class Advance(NamedTuple):
    """What a run asks for: steps from `state` up to `end`, or to a halt, in a stage that began at `start`.

    whole: the state as a checkpoint keeps it, with the stage.
    """

    engine: Any
    state: TrainState
    start: int
    end: int
    whole: TrainState

    def taken(self) -> Advanced:
        """The steps, taken for this run alone."""
        return self.engine.advance(self.state, self.start, self.end)
