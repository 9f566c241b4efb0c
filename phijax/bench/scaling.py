"""What a step computes and exchanges, counted from its compiled program, and what follows for many devices.

Half of it is on paper: the counts are those of the program that would run, the times are a model of the machines.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

import phijax as phi
from phijax._devices import ONE_DEVICE, Devices, devices_of
from phijax.balancing import Static
from phijax.bench.speed import LEARNING_RATE
from phijax.bench.speed_tasks import SPEED_TASKS
from phijax.networks import count_parameters
from phijax.training.callbacks import Callbacks
from phijax.training.feed import Feed
from phijax.training.keys import split_root
from phijax.training.module import Module
from phijax.training.prepare import prepare
from phijax.training.stages import Plan
from phijax.training.state import initialize_train_state
from phijax.training.step import first_order_step

ALL_ROWS = 10**9  # so many taken at once that no loop hides operations from the count
EXCHANGES = ("all-reduce", "all-gather", "all-to-all", "collective-permute", "reduce-scatter")
_EXCHANGE = re.compile(rf"= (.*?) ({'|'.join(EXCHANGES)})(?:-start)?\(")
_ARRAY = re.compile(r"([a-z]+)(\d+)\[([\d,]*)\]")


@dataclass(frozen=True)
class Counts:
    """Of one step of the whole batch. operations: of floating point. exchanges, bytes: between devices, each way round."""

    points: int
    parameters: int
    operations: float
    exchanges: int
    bytes: int


@dataclass(frozen=True)
class Machine:
    """flops: reached by one device, operations a second. bandwidth: of one device's way to the others, bytes a second.

    latency: seconds of one hop. overhead: seconds of a step that no device takes off another, such as starting its kernels.
    """

    devices: int
    flops: float
    bandwidth: float
    latency: float
    overhead: float

    def step_seconds(self, counts: Counts, devices: int | None = None) -> float:
        """Of the same batch on so many devices: computing, an all-reduce in a ring or a tree, overhead."""
        count = devices or self.devices
        computing = counts.operations / (count * self.flops) + self.overhead
        if count == 1:
            return computing
        share = 2 * (count - 1) / count * counts.bytes / self.bandwidth
        return computing + counts.exchanges * 2 * math.ceil(math.log2(count)) * self.latency + share

    def efficiency(self, counts: Counts, batches: int = 1) -> float:
        """Of a batch so many times as large: the time on one device, over devices times the time on all."""
        larger = Counts(
            counts.points * batches,
            counts.parameters,
            counts.operations * batches,
            counts.exchanges,
            counts.bytes,
        )
        return self.step_seconds(larger, 1) / (self.devices * self.step_seconds(larger))


# NVIDIA's H100 SXM: 67e12 operations a second in float32, 450e9 bytes a second each way over NVLink, and 400e9 bits a
# second over InfiniBand NDR. Taken as reached: a fifth of the first, four fifths of the others; and as latencies of a hop
# 3 and 5 microseconds, and 100 microseconds of overhead a step.
FIFTH_OF_PEAK = 67e12 / 5
MACHINES = {
    "8 GPUs of one host": Machine(8, FIFTH_OF_PEAK, 0.8 * 450e9, 3e-6, 1e-4),
    "64 hosts of 8 GPUs": Machine(512, FIFTH_OF_PEAK, 0.8 * 50e9, 5e-6, 1e-4),
}


def count_task(name: str) -> Counts:
    """The counts of a speed task. To be called in a process with two devices at least."""
    task = SPEED_TASKS[name]
    compiled = phi.compile(
        task.problem(), network=phi.MLP(width=task.width, depth=task.depth), points=task.points, rows=ALL_ROWS
    )
    return count_step(compiled.module, compiled.datamodule, sum(task.points.values()))


def count_step(module: Module, datamodule: Any, points: int) -> Counts:
    """The counts of an Adam step in float32. To be called in a process with two devices at least."""
    whole, shared = (_compiled_step(module, datamodule, devices) for devices in (ONE_DEVICE, devices_of(2)))
    exchanged = [_bytes_of(shapes) for shapes, _ in _EXCHANGE.findall(shared.as_text())]
    parameters = count_parameters(module.factory(jax.random.key(0)))
    return Counts(points, parameters, float(_cost(whole)["flops"]), len(exchanged), sum(exchanged))


def _compiled_step(module: Module, datamodule: Any, devices: Devices) -> Any:
    """One Adam step as XLA compiles it for these devices."""
    optimizer = optax.adam(LEARNING_RATE)
    streams = split_root(jax.random.key(0))
    arrays, static = eqx.partition(module.factory(streams.model), eqx.is_array)
    prepared = prepare(
        module,
        initialize_train_state(arrays, optimizer, None, *streams[1:]),
        static,
        datamodule=datamodule,
        plan=Plan.of(optimizer),
        balancer=Static({}),
        callbacks=Callbacks.of(()),
        saved=None,
        precision="float32",
        devices=devices,
    )
    sources, fixed = eqx.partition(prepared.sources, eqx.is_array)
    step = first_order_step(prepared.program, optimizer, Feed(1))

    def taken(sources: Any, state: Any, start: Any) -> Any:
        return step(eqx.combine(sources, fixed), state, start)

    given = devices.placed((sources, prepared.state, jnp.int32(0)))
    return jax.jit(taken).lower(*given).compile()


def _cost(program: Any) -> Any:
    found = program.cost_analysis()
    return found[0] if isinstance(found, list) else found


def _bytes_of(shapes: str) -> int:
    """Bytes of the arrays that an instruction gives."""
    return sum(
        int(bits) // 8 * int(np.prod([int(length) for length in lengths.split(",") if length]))
        for _, bits, lengths in _ARRAY.findall(re.sub(r"\{[^}]*\}", "", shapes))
    )
