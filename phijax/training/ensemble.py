"""An ensemble: runs that differ in their seed alone, in lockstep, on programs that are compiled once.

Each member is a `Session` of its own, with its records, callbacks, stages and end; only the steps that it asks for are taken
together with those of the others, so that each goes as it would alone.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import numpy as np

from phijax.training.checkpoint import CheckpointStore
from phijax.training.engine import Advance, Advanced
from phijax.training.interrupt import Interrupts
from phijax.training.progress import Progress
from phijax.training.result import FitResult, Status
from phijax.training.schedule import OUT_OF_TIME
from phijax.training.session import Outcome, Session, Shared
from phijax.training.state import TrainState

Name = int | str
Ended = Mapping[Name, tuple[Status, str]]


class Asked:
    """Where a member saves: it notes that a checkpoint is due, which holds all members at a time when none is in a step."""

    due = False

    def save(self, step: int, tree: Any, notes: dict[str, Any]) -> None:
        """Asks for a checkpoint of all."""
        self.due = True

    def close(self) -> None:
        """The store is not a member's to close."""


class Voice(Progress):
    """What one member tells: it is named by its seed, and its loss goes into that of all."""

    def __init__(self, shown: Progress, name: Name):
        self._shown, self._name = shown, name
        self.total = float("nan")

    def begin(self, step: int, max_steps: int) -> None: ...

    def update(self, step: int, total: float) -> None:
        self.total = total

    def say(self, sentence: str) -> None:
        self._shown.say(f"seed {self._name}: {sentence}")

    def end(self) -> None: ...


@dataclass
class Lockstep:
    """The members of an ensemble by name, and what they have in common. `run` may be called once.

    ended: members whose run was over, by a rule of their own, when they were saved.
    """

    sessions: dict[Name, Session]
    voices: dict[Name, Voice]
    store: CheckpointStore | None
    asked: Asked
    progress: Progress
    max_steps: int
    ended: Ended = field(default_factory=dict)
    _states: dict[Name, TrainState] = field(init=False, default_factory=dict)
    _outcomes: dict[Name, Outcome] = field(init=False, default_factory=dict)

    def run(self, states: Mapping[Name, TrainState]) -> list[FitResult]:
        """Trains all from their states to the end of the last."""
        self._states = dict(states)
        self._outcomes = {name: (states[name], *how) for name, how in self.ended.items()}
        begun = self._taken()
        self.progress.begin(min(int(state.step) for state in states.values()), self.max_steps)
        self.progress.say(f"{len(states)} seeds on the same compiled programs; the loss shown is their median")
        try:
            with Interrupts() as interrupts:
                self._run(interrupts)
        except BaseException:
            with suppress(Exception):  # saving may fail where it is what has failed
                if self._taken() > begun:
                    self._save()
            raise
        finally:
            try:
                if self.store is not None:
                    self.store.close()
            finally:
                self.progress.end()
                next(iter(self.sessions.values())).callbacks.close()  # which are those of all
        return [session.result(*self._outcomes[name]) for name, session in self.sessions.items()]

    def _run(self, interrupts: Interrupts) -> None:
        steps = {
            name: session.steps(self._states[name], interrupts)
            for name, session in self.sessions.items()
            if name not in self._outcomes
        }
        answers: dict[Name, Any] = dict.fromkeys(steps)
        while answers:
            waiting = {
                name: asked for name, found in answers.items() if (asked := self._sent(name, steps[name], found))
            }
            self._show(waiting)
            if self.asked.due:
                self._save()
            answers = self._answers(waiting)
        self._save()

    def _sent(self, name: Name, steps: Generator[Advance, Advanced, Outcome], answer: Any) -> Advance | None:
        """What a member asks for next, None where its run is over."""
        try:
            asked = steps.send(answer)
        except StopIteration as end:
            self._outcomes[name], self._states[name] = end.value, end.value[0]
            return None
        self._states[name] = asked.whole
        return asked

    def _answers(self, waiting: Mapping[Name, Advance]) -> dict[Name, Advanced]:
        """The steps of all, those together that use the same programs."""
        groups: dict[int, dict[Name, Advance]] = {}
        for name, asked in waiting.items():
            groups.setdefault(id(asked.engine.original), {})[name] = asked
        found: dict[Name, Advanced] = {}
        for group in groups.values():
            shared = self.sessions[next(iter(group))].shared
            lanes = sum(session.shared is shared for session in self.sessions.values())
            asked = _to_one_end(list(group.values()))
            found |= zip(group, asked[0].engine.together(asked, lanes), strict=True)
        return {name: found[name] for name in waiting}

    def _show(self, waiting: Mapping[Name, Advance]) -> None:
        """The least step and the median loss of those that go on, or at the end of all."""
        shown = list(waiting or self.sessions)
        totals = [self.voices[name].total for name in shown]
        if np.isfinite(totals).any():
            self.progress.update(min(int(self._states[name].step) for name in shown), float(np.nanmedian(totals)))

    def _taken(self) -> int:
        return sum(int(state.step) for state in self._states.values())

    def _save(self) -> None:
        """All members in one checkpoint, numbered by the steps that all have taken."""
        self.asked.due = False
        if self.store is None:
            return
        over = {
            str(name): [status, reason]
            for name, (_, status, reason) in self._outcomes.items()
            if status == "diverged" or (status == "stopped" and not reason.startswith(OUT_OF_TIME))
        }
        each = {name: session.notes(self._states[name]) for name, session in self.sessions.items()}
        answers = {str(name): own.pop("answer") for name, own in each.items() if "answer" in own}
        notes = {**next(iter(each.values())), "seeds": list(each), "ended": over, "answers": answers}
        self.store.save(self._taken(), tuple(self._states.values()), notes)
        for session in self.sessions.values():
            session.pace.saved()


def _to_one_end(asked: Sequence[Advance]) -> list[Advance]:
    """The same up to the first of the ends of those that stand at one step: clocks of their own set the ends apart."""
    ends: dict[int, int] = {}
    for each in asked:
        step = int(each.state.step)
        ends[step] = min(ends.get(step, each.end), each.end)
    return [each._replace(end=ends[int(each.state.step)]) for each in asked]


def shared_by(sources: Sequence[Any]) -> list[Shared]:
    """For each run what it shares with others: all where batch sources differ in their arrays alone, else nothing.

    A source that is a function holds its key within, and cannot be another run's.
    """
    parts = [eqx.partition(source, eqx.is_array) for source in sources]
    shapes = [jax.tree.map(lambda leaf: (leaf.shape, str(leaf.dtype)), arrays) for arrays, _ in parts]
    same = all(
        bool(eqx.tree_equal(parts[0][1], static)) and shapes[0] == own
        for (_, static), own in zip(parts[1:], shapes[1:], strict=True)
    )
    return [Shared()] * len(sources) if same else [Shared() for _ in sources]
