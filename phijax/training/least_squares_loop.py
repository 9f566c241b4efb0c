"""The host's loop of least-squares steps, over jitted parts that are traced once."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array

from phijax.optimizers.base import LeastSquaresOptimizer
from phijax.optimizers.system import LeastSquaresSystem
from phijax.training.diagnose import nonfinite_reason
from phijax.training.engine import Advance, Advanced
from phijax.training.feed import Feed
from phijax.training.state import TrainState, trainable
from phijax.training.step import NONFINITE, RUN, STALLED, Program, Report, Sources, all_finite, drawn

SAMPLING = "sampling and the rest"


class LeastSquaresEngine:
    """Runs the steps of one stage of a least-squares optimizer. The model is run deterministically, with no key."""

    def __init__(self, program: Program, optimizer: LeastSquaresOptimizer, feed: Feed, sources: Sources):
        self._program, self._optimizer, self._feed = program, optimizer, feed
        self._arrays, static = eqx.partition(sources, eqx.is_array)
        self._built: LeastSquaresSystem | None = None
        self.traces = 0
        self._begin()

        def draw(arrays: Any, state: TrainState, start: Array) -> tuple[Any, Any]:
            return drawn(program, feed, eqx.combine(arrays, static), state, start, None)

        def look(arrays: Any, state: TrainState, batch: Any) -> tuple[Any, Report, Any, Array]:
            """(balancer state, report, runtime key, whether all is finite) of the step that begins with `state`."""
            self.traces += 1
            model = program.model(*trainable(state.model_state))
            losses = program.objective.losses(model, batch)
            balancer_state = program.rebalance(eqx.combine(arrays, static), state, lambda: losses, None)
            report = program.report(model, losses, balancer_state)
            finite = all_finite((report.losses, report.total))
            return balancer_state, report, jax.random.split(state.rng_key)[0], finite

        def weigh(state: TrainState, batch: Any) -> Any:
            return program.weighed(program.model(*trainable(state.model_state)), batch, None)

        self._draw, self._look, self._weigh = map(program.devices.jit, (draw, look, weigh))
        self.original = self

    def _begin(self) -> None:
        """Of no run yet."""
        self._batch: Any = None
        self._info: Any = None
        self.seconds: dict[str, float] = {}
        self._counted = False

    def beside(self, sources: Sources) -> LeastSquaresEngine:
        """An engine for another run, on the same compiled programs: its sources differ in their arrays alone."""
        other = copy.copy(self)
        other._arrays = eqx.filter(sources, eqx.is_array)
        other._begin()
        return other

    def together(self, asked: Sequence[Advance], lanes: int) -> list[Advanced]:
        """What `advance` gives for each of several runs, one after the other: each step goes its own way on the host."""
        return [each.taken() for each in asked]

    def _build(self, params: Any, rest: Any) -> LeastSquaresSystem:
        static = self._program.static

        def pointwise(block: Any) -> Any:
            return lambda arrays, point: block.pointwise(eqx.combine(arrays, static), point, None)

        blocks = {name: pointwise(block) for name, block in self._program.objective.blocks.items()}
        return LeastSquaresSystem(blocks, params, rest, self._program.devices)

    def advance(self, state: TrainState, start: int, end: int) -> tuple[TrainState, Report, int]:
        """(state, report of the last step, RUN, NONFINITE or STALLED) after steps up to `end`, or to a halt."""
        params, rest = trainable(state.model_state)
        if self.original._built is None:
            self.original._built = self._build(params, rest)
        self._system = self.original._built.carrying(rest)
        report, halt = None, RUN
        while int(state.step) < end and halt == RUN:
            state, report, halt = self._step(state, start)
        assert report is not None, "advance was asked for no step"
        return state, report, halt

    def _step(self, state: TrainState, start: int) -> tuple[TrainState, Report, int]:
        before, step, begun = state, int(state.step), time.perf_counter()
        if self._batch is None or self._feed.begins(step, start):
            sampler_state, self._batch = self._draw(self._arrays, state, jnp.int32(start))
            state = state._replace(sampler_state=sampler_state)
        batch = self._batch if self._program.weighting is None else self._weigh(state, self._batch)
        balancer_state, report, rng_key, finite = self._look(self._arrays, state, batch)
        if not bool(finite):
            return before, report, NONFINITE
        params, rest = trainable(state.model_state)
        theta, _ = ravel_pytree(params)
        weights = self._program.balancer.weights(balancer_state)
        theta, opt_state, info = self._optimizer.step(self._system, theta, state.opt_state, batch, weights)
        if not bool(all_finite(theta)):
            return before, report, NONFINITE
        self._info = info
        self._count(time.perf_counter() - begun, info.seconds or {})
        state = state._replace(
            model_state=eqx.combine(self._system.unravel(theta), rest),
            opt_state=opt_state,
            balancer_state=balancer_state,
            rng_key=rng_key,
            step=state.step + 1,
        )
        return state, report, STALLED if info.stop else RUN

    def _count(self, whole: float, phases: Mapping[str, float]) -> None:
        """Adds up the seconds of the steps but the first, which compiles."""
        if self._counted:
            for name, seconds in {**phases, SAMPLING: whole - sum(phases.values())}.items():
                self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self._counted = True

    def stop_reason(self) -> str:
        """The optimizer's own sentence."""
        return str(self._info.stop)

    def nonfinite_reason(self, state: TrainState, start: int, report: Report) -> str:
        """The term and the point at which the step from `state` broke, of which `report` is."""
        return nonfinite_reason(self._program.on_one_device, state, self._batch, None, report.weights)

    def learning_rate(self, opt_state: Any) -> float | None:
        """Least-squares steps have none."""
        return None

    def diagnostics(self) -> dict[str, float]:
        """What the optimizer says of its last step: the loss after it, the damping and the like."""
        numbers = self._info._asdict() if self._info is not None else {}
        return {
            name: float(value) for name, value in numbers.items() if isinstance(value, (bool, float, int, np.number))
        }
