"""Session: the host's side of one run, from a complete state to its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from typing import Any, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from phijax.training.callbacks import Callbacks, Event
from phijax.training.engine import Advance, Advanced, Engine
from phijax.training.feed import Feed
from phijax.training.interrupt import Interrupts
from phijax.training.keys import NEXT_PART
from phijax.training.least_squares_loop import LeastSquaresEngine
from phijax.training.loop import FirstOrderEngine
from phijax.training.metrics import MetricsWriter, record_of
from phijax.training.module import Course
from phijax.training.progress import Progress
from phijax.training.result import FitResult, Status
from phijax.training.schedule import OUT_OF_TIME, Events, Look, Pace
from phijax.training.stages import WHOLE_STAGE, Plan, Stage
from phijax.training.state import TrainState, trainable
from phijax.training.step import NONFINITE, STALLED, Program, Report, Sources

ANOTHER_STOPS = "a callback of the first process ends the run"
Outcome = tuple[TrainState, Status, str]  # at the end of a run: its state, how it ended, and why, in a sentence


class Keeper(Protocol):
    """Where states are saved: a CheckpointStore, or one that is shared with other runs."""

    def save(self, step: int, tree: Any, notes: dict[str, Any]) -> None: ...
    def close(self) -> None: ...


@dataclass
class Shared:
    """What runs that differ in their keys alone compile once: engines by stage, and the loss on new points."""

    engines: dict[int, Engine] = field(default_factory=dict)
    new_loss: Callable[[Any, TrainState], Any] | None = None


@dataclass
class Session:
    """One run. `run` may be called once."""

    program: Program
    sources: Sources
    plan: Plan
    max_steps: int
    events: Events
    pace: Pace
    callbacks: Callbacks
    metrics: MetricsWriter
    progress: Progress
    precision: str
    store: Keeper | None
    folder: Path | None
    restored: bool
    course: Course | None = None
    identity: Mapping[str, Any] = field(default_factory=dict)  # of the module, for the checkpoints
    shared: Shared = field(default_factory=Shared)
    _engines: dict[int, Engine] = field(init=False, default_factory=dict)
    _course_over: bool = field(init=False, default=False)
    _reached: TrainState | None = field(init=False, default=None)  # the last whole state

    def run(self, state: TrainState) -> FitResult:
        """Train from `state` to the end that a rule, the clock or a signal sets."""
        self.progress.begin(int(state.step), self.max_steps)
        try:
            with Interrupts() as interrupts:
                outcome = _alone(self.steps(state, interrupts))
                self._save(outcome[0])
        except BaseException:
            # What a callback raises, or anything else, costs no steps; saving may fail where it is what has failed.
            with suppress(Exception):
                if self._reached is not None:
                    self._save(self._reached)
            raise
        finally:
            try:
                if self.store is not None:
                    self.store.close()  # tells of what could not be written behind the steps
            finally:
                self.progress.end()
                self.callbacks.close()
        return self.result(*outcome)

    def result(self, state: TrainState, status: Status, reason: str) -> FitResult:
        """What the fit gives back, at the end of its steps."""
        return FitResult(
            state=state,
            model=self._answer(state),
            history=self.metrics.history,
            status=status,
            stop_reason=reason,
            seconds=self.pace.seconds,
            precision=self.precision,
            checkpoint=self.folder,
            devices=self.program.devices,
        )

    def steps(self, state: TrainState, interrupts: Interrupts) -> Generator[Advance, Advanced, Outcome]:
        """The run from `state` on: asks for steps, is sent what they gave, and returns how it ended."""
        reason: str | None = None
        if int(state.step) == 0 and not self.restored:
            state, reason = self._call_back(state, None)
        status: Status = "stopped"
        while reason is None:
            index, start = self.plan.where(state.opt_state)
            stage = self.plan.stages[index]
            end = self.max_steps if stage.steps is None else min(self.max_steps, start + stage.steps)
            state, status, reason, over = yield from self._run_stage(state, stage, start, end, interrupts)
            if status != "stopped" or not over:
                break
            reason = f"stage {index + 1} of {len(self.plan.stages)}: {reason}" if self.plan.staged else reason
            if int(state.step) >= self.max_steps:
                status = "finished" if int(state.step) >= end else "stopped"
                break
            following, sentence = self._following(state, index, str(reason))
            if following is None:
                status = "finished" if self.course is None and int(state.step) >= end else "stopped"
                reason = sentence
                break
            state, reason = following, None
            self._reached = state
            self._tell({"event": "stage", "step": int(state.step), "reason": sentence}, sentence)
            self._save(state)
        if self.course is not None and not self._course_over:
            reason = f"{reason}, {self.course.whereabouts(self._model(state))}"
        sentence = f"{reason} (step {int(state.step)})"
        end = {"event": status, "step": int(state.step), "reason": sentence}
        shares = self._shares()
        self._tell(end | ({"shares": shares} if shares else {}), f"{status}: {sentence}")
        return state, status, sentence

    def _following(self, state: TrainState, index: int, reason: str) -> tuple[TrainState | None, str]:
        """The state at the first step of what comes after stage `index`, None where that was the last; and a sentence."""
        step = int(state.step)
        if index + 1 < len(self.plan.stages):
            return self._staged(state, index + 1), f"{reason}; stage {index + 2} begins at step {step}"
        if self.course is None:
            return None, reason
        loss = float(self._new_loss(state))
        model, sentence = self.course.next(
            self._model(state), loss, jax.random.fold_in(state.rng_key, jnp.uint32(NEXT_PART))
        )
        if model is None:
            self._course_over = True
            return None, sentence
        state = state._replace(model_state=eqx.filter(model, eqx.is_array))
        return self._staged(state, 0), f"{sentence}, at step {step}: {reason}"

    def _staged(self, state: TrainState, index: int) -> TrainState:
        """The state at the first step of stage `index`: fresh optimizer state, all else carried on."""
        step = int(state.step)
        params, _ = trainable(state.model_state)
        feed = Feed(self.plan.stages[index].holds(params))
        sampler_state = feed.adopt(self.sources.train, state.sampler_state, step)
        return state._replace(opt_state=self.plan.init(index, step, params), sampler_state=sampler_state)

    def _shares(self) -> dict[str, float]:
        """Which part of the time of the steps each phase took, the largest first."""
        seconds: dict[str, float] = {}
        for engine in self._engines.values():
            for name, own in engine.seconds.items():
                seconds[name] = seconds.get(name, 0.0) + own
        whole = sum(seconds.values())
        return {name: round(own / whole, 3) for name, own in sorted(seconds.items(), key=lambda item: -item[1])}

    def _new_loss(self, state: TrainState) -> Any:
        """The loss on points of the step to come, which no step has seen."""
        arrays, static = eqx.partition(self.sources, eqx.is_array)
        if self.shared.new_loss is None:
            self.shared.new_loss = self.program.devices.jit(
                lambda own, state: self.program.new_loss(eqx.combine(own, static), state)
            )
        return self.shared.new_loss(arrays, state)

    def _model(self, state: TrainState) -> Any:
        return self.program.model(*trainable(state.model_state))

    def _answer(self, state: TrainState) -> Any:
        """The model to give where the run ends with `state`."""
        params, rest = trainable(state.model_state)
        return self.program.model(self.plan.answer(state.opt_state, params), rest)

    def _run_stage(
        self, state: TrainState, stage: Stage, start: int, end: int, interrupts: Interrupts
    ) -> Generator[Advance, Advanced, tuple[TrainState, Status, str | None, bool]]:
        """(state, status, reason, whether the stage itself is over)."""
        engine = self._engine(state, stage)
        self.pace.new_stage()
        ahead = self.pace.steps()
        inner = state._replace(opt_state=self.plan.inner(state.opt_state))
        while (step := int(inner.step)) < end:
            stop = min(end, self.events.next_after(step), step + ahead)
            begun = time.monotonic()
            inner, report, halt = yield Advance(engine, inner, start, stop, state)
            self.pace.timed(int(inner.step) - step, time.monotonic() - begun)
            state = inner._replace(opt_state=self.plan.rewrap(state.opt_state, inner.opt_state))
            if halt == NONFINITE:
                return state, "diverged", engine.nonfinite_reason(inner, start, report), False
            self._reached = state
            step = int(inner.step)
            last = step == end or halt == STALLED
            if last or self.events.logs(step):
                self._record(step - 1, report, engine, inner.opt_state)
            self.progress.update(step, float(report.total))
            rate = engine.learning_rate(inner.opt_state) if self.callbacks.due(step) else None
            state, reason = self._call_back(state, report, rate)
            inner = inner._replace(callback_state=state.callback_state)
            look = self._look(reason, interrupts)
            ahead = look.steps
            if halt != STALLED and self._save_due(
                step, look
            ):  # a stage that has stalled is saved once the next has begun
                self._save(state)
            if look.stops:
                return state, "stopped", reason or ANOTHER_STOPS, False
            if halt == STALLED:
                return state, "stopped", engine.stop_reason(), True
            if look.signal:
                return state, "interrupted", f"interrupted by {Signals(look.signal).name}", False
            if look.over and step < self.max_steps:
                return state, "stopped", f"{OUT_OF_TIME}, after {self.pace.seconds:.3g} s of training", False
        return state, "stopped", f"all {end - start} steps done", True

    def _engine(self, state: TrainState, stage: Stage) -> Engine:
        params, _ = trainable(state.model_state)
        hold = stage.holds(params)
        index, start = self.plan.where(state.opt_state)
        if hold == WHOLE_STAGE:
            step = int(state.step)
            sentence = "points are held for the whole of this stage: its curvature estimate is that of one loss"
            if step == start:
                self._tell({"event": "hold", "step": step, "reason": sentence}, sentence)
            else:  # the record has it, from where the stage began
                self.progress.say(sentence)
        if index not in self._engines:  # parts of a run go through the same stages, compiled once
            engines = self.shared.engines
            if index in engines:
                self._engines[index] = engines[index].beside(self.sources)
            else:
                kind = LeastSquaresEngine if stage.least_squares else FirstOrderEngine
                engines[index] = self._engines[index] = kind(self.program, stage.optimizer, Feed(hold), self.sources)
        return self._engines[index]

    def _call_back(
        self, state: TrainState, report: Report | None, rate: float | None = None
    ) -> tuple[TrainState, str | None]:
        step = int(state.step)
        if not self.callbacks.due(step):
            return state, None
        model = self._model(state)
        # As the model now has them: the report's are those with which the step began.
        unknowns: Any = {name: jnp.asarray(value).tolist() for name, value in self.program.unknowns(model).items()}
        if report is None:
            event = Event(step, model, {}, {}, float("nan"), unknowns)
        else:
            host = jax.tree.map(lambda leaf: leaf.item() if leaf.ndim == 0 else leaf, jax.device_get(report))
            event = Event(step, model, host.losses, host.weights, host.total, unknowns, rate, self.pace.seconds)
        callback_state, reason = self.callbacks.step(state.callback_state, event)
        return state._replace(callback_state=callback_state), reason

    def _record(self, step: int, report: Report, engine: Engine, opt_state: Any) -> None:
        rate = engine.learning_rate(opt_state)
        extra = engine.diagnostics()
        seconds, terms = self.pace.seconds, self.program.terms
        self.metrics.write(record_of(step, report, terms, seconds=seconds, learning_rate=rate, optimizer=extra))

    def _tell(self, event: dict[str, Any], sentence: str) -> None:
        self.metrics.write(event)
        self.progress.say(sentence)

    def _look(self, reason: str | None, interrupts: Interrupts) -> Look:
        """What all processes go by; reason: of a callback that ends the run."""
        pace = self.pace
        signal = Signals[interrupts.name] if interrupts.name else 0
        look = Look(pace.steps(), pace.save_due(), pace.out_of_time, reason is not None, signal)
        return look.agreed(self.program.devices)

    def _save_due(self, step: int, look: Look) -> bool:
        by_clock = self.events.checkpoint_every is None and look.save
        return by_clock or self.events.saves(step)

    def _save(self, state: TrainState) -> None:
        if self.store is None:
            return
        self.store.save(int(state.step), state, self.notes(state))
        self.pace.saved()

    def notes(self, state: TrainState) -> dict[str, Any]:
        """What a checkpoint says of the run beside its state. answer: the parameters to give, where they are others."""
        notes = {"precision": self.precision, "seconds": self.pace.seconds, **self.identity}
        params, _ = trainable(state.model_state)
        answer = self.plan.answer(state.opt_state, params)
        return notes if answer is params else {**notes, "answer": ravel_pytree(answer)[0].tolist()}


def _alone(steps: Generator[Advance, Advanced, Outcome]) -> Outcome:
    """Takes the steps that one run asks for, to its end."""
    try:
        asked = next(steps)
        while True:
            asked = steps.send(asked.taken())
    except StopIteration as end:
        return end.value
