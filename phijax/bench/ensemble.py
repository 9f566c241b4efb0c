"""Several seeds of a speed task: in one ensemble, and one run after the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np
import optax

import phijax as phi
from phijax.bench.speed import LEARNING_RATE, Clock
from phijax.bench.speed_tasks import SPEED_TASKS


@dataclass(frozen=True)
class EnsembleTimes:
    """Seconds of processor and of the wall for all seeds, compiling included; and of a step of all, in milliseconds.

    difference: the largest of any weight, over the largest weight, between a member and its own run.
    """

    seeds: int
    steps: int
    together_cpu_s: float
    together_wall_s: float
    together_ms_cpu: float
    apart_cpu_s: float
    apart_wall_s: float
    apart_ms_cpu: float
    difference: float


def time_ensemble(name: str, seeds: int, steps: int | None = None) -> EnsembleTimes:
    """Trains `seeds` seeds of a task for some steps, both ways, each from nothing compiled."""
    task = SPEED_TASKS[name]
    compiled = phi.compile(task.problem(), network=phi.MLP(width=task.width, depth=task.depth), points=task.points)
    count = 2 + (steps or task.steps)
    parts: Any = {"datamodule": compiled.datamodule, "optimizer": optax.adam(LEARNING_RATE)}

    def trained(train: Callable[[phi.Trainer], Any]) -> tuple[Any, float, float, float]:
        clock = Clock()
        cpu, wall = time.process_time(), time.perf_counter()
        result = train(phi.Trainer(count, progress=clock))
        return result, time.process_time() - cpu, time.perf_counter() - wall, clock.times().ms_cpu

    together = trained(lambda trainer: trainer.fit_ensemble(compiled.module, **parts, seeds=range(seeds)))
    apart = [trained(lambda t, seed=seed: t.fit(compiled.module, **parts, seed=seed)) for seed in range(seeds)]
    cpu, wall, a_step = (sum(found[i] for found in apart) for i in (1, 2, 3))
    alone = [found[0] for found in apart]
    difference = max(_difference(m.model, own.model) for m, own in zip(together[0].members, alone, strict=True))
    return EnsembleTimes(seeds, count, *together[1:], cpu, wall, a_step, difference)


def _difference(one: Any, other: Any) -> float:
    weights, known = (jax.tree.leaves(eqx.filter(model, eqx.is_inexact_array)) for model in (one, other))
    largest = max(float(np.max(np.abs(own))) for own in known)
    return max(float(np.max(np.abs(a - b))) for a, b in zip(weights, known, strict=True)) / largest
