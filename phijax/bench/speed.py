"""Time a training step through the public path: declare, `compile`, `Trainer`, all at their defaults."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass, field

import optax

import phijax as phi
from phijax.bench.speed_tasks import SPEED_TASKS
from phijax.training.progress import Progress

LEARNING_RATE = 1e-3


@dataclass(frozen=True)
class Times:
    """ms_cpu, ms_wall: processor and wall time of a step, in milliseconds. first_step_cpu_s: processor time of this
    process up to the end of the first step, in seconds. rss_mb: the most memory that the process held, in megabytes."""

    ms_cpu: float
    ms_wall: float
    first_step_cpu_s: float
    rss_mb: int


def time_task(name: str, steps: int | None = None) -> Times:
    """Trains a task for some steps after the first two. The first step counts from the start of this process."""
    task = SPEED_TASKS[name]
    compiled = phi.compile(task.problem(), network=phi.MLP(width=task.width, depth=task.depth), points=task.points)
    clock = Clock()
    trainer = phi.Trainer(2 + (steps or task.steps), progress=clock)
    trainer.fit(compiled.module, datamodule=compiled.datamodule, optimizer=optax.adam(LEARNING_RATE), seed=0)
    return clock.times()


@dataclass
class Clock(Progress):
    """Reads the clocks whenever the compiled loop gives way to the host."""

    readings: list[tuple[int, float, float]] = field(default_factory=list)

    def begin(self, step: int, end: int) -> None:
        pass

    def update(self, step: int, loss: float) -> None:
        self.readings.append((step, time.process_time(), time.perf_counter()))

    def say(self, sentence: str) -> None:
        pass

    def end(self) -> None:
        pass

    def times(self) -> Times:
        (_, first_cpu, _), begun, *_, end = self.readings  # the Trainer looks up after the first step and the second
        steps, cpu, wall = (after - before for after, before in zip(end, begun, strict=True))
        return Times(1e3 * cpu / steps, 1e3 * wall / steps, first_cpu, _peak_memory())


def _peak_memory() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10))
