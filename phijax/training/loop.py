"""The compiled loop of first-order steps: one executable for any number of steps, the same bits for any chunking."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from phijax.training.diagnose import nonfinite_reason
from phijax.training.dtypes import like
from phijax.training.engine import Advance, Advanced
from phijax.training.feed import Feed
from phijax.training.lanes import in_turn, one_after_another, side_by_side
from phijax.training.learning_rate import learning_rate
from phijax.training.state import TrainState
from phijax.training.step import RUN, Program, Report, Sources, first_order_step, step_inputs


class FirstOrderEngine:
    """Runs the steps of one stage of an optax optimizer, compiled once.

    `traces` counts how often the step was traced.
    """

    def __init__(self, program: Program, optimizer: optax.GradientTransformation, feed: Feed, sources: Sources):
        self.traces = 0
        self.seconds: dict[str, float] = {}  # one compiled loop: nothing to tell apart
        self._program, self._optimizer = program, optimizer
        self._arrays, static = eqx.partition(sources, eqx.is_array)
        step = first_order_step(program, optimizer, feed)

        def one(arrays: Any, state: TrainState, report: Report, start: Array) -> tuple[TrainState, Report, Array]:
            self.traces += 1
            state, new, halt = step(eqx.combine(arrays, static), state, start)
            return state, jax.tree.map(like, new, report), halt

        # The trip count is traced: a scan of fixed length would compile anew, and differ in bits, for each length.
        def run(arrays: Any, state: TrainState, report: Report, start: Array, end: Array) -> tuple:
            def body(carry: tuple) -> tuple:
                state, report, _ = carry
                return one(arrays, state, report, start)

            def going(carry: tuple) -> Array:
                return (carry[0].step < end) & (carry[2] == RUN)

            return jax.lax.while_loop(going, body, (state, report, jnp.int32(RUN)))

        self._report: Report | None = None
        self._run = program.devices.jit(run)
        self._in_turn, self._abreast = jax.jit(one_after_another(run)), jax.jit(side_by_side(one))
        self.original = self
        self._inputs = program.devices.jit(
            lambda arrays, *now: step_inputs(program, feed, eqx.combine(arrays, static), *now)
        )

    def advance(self, state: TrainState, start: int, end: int) -> tuple[TrainState, Report, int]:
        """(state, report of the last step, RUN, NONFINITE or STALLED) after steps up to `end`, or to a halt."""
        if self._report is None:
            self._report = self._program.blank_report(state.model_state)
        state, report, halt = self._run(self._arrays, state, self._report, jnp.int32(start), jnp.int32(end))
        self._report = report
        return state, report, int(halt)

    def beside(self, sources: Sources) -> FirstOrderEngine:
        """An engine for another run, on the same compiled programs: its sources differ in their arrays alone."""
        other = copy.copy(self)
        other._arrays, other._report = eqx.filter(sources, eqx.is_array), None
        return other

    def together(self, asked: Sequence[Advance], lanes: int) -> list[Advanced]:
        """What `advance` gives for each of several runs, in one program for `lanes` of them, however many still go on.

        Side by side where that is better, as long as all are at the same step; else in turn.
        """
        engines = [each.engine for each in asked]
        for engine, each in zip(engines, asked, strict=True):
            engine._report = engine._report or self._program.blank_report(each.state.model_state)
        free = lanes - len(asked)  # a lane whose end is its own step takes none
        first = asked[0]
        rows = [(e._arrays, a.state, e._report, a.start, a.end) for e, a in zip(engines, asked, strict=True)]
        rows += [(self._arrays, first.state, first.engine._report, first.start, int(first.state.step))] * free
        in_step = len({(int(each.state.step), each.start) for each in asked}) == 1
        run = self._abreast if in_step and not in_turn() else self._in_turn
        arrays, states, reports, starts, ends = zip(*rows, strict=True)
        states, reports, halts = run(arrays, states, reports, jnp.array(starts, jnp.int32), jnp.array(ends, jnp.int32))
        for engine, report in zip(engines, reports, strict=False):
            engine._report = report
        return [(states[i], reports[i], int(halts[i])) for i in range(len(asked))]

    def stop_reason(self) -> str:
        """Why the stage ended before its last step: the line search of L-BFGS has reached rounding."""
        dtype = jax.tree.leaves(self._report.total)[0].dtype if self._report else jnp.zeros(()).dtype
        return (
            f"{dtype.name} precision reached: the line search lowers the loss by no more than rounding, along the "
            "gradient as well"
        )

    def nonfinite_reason(self, state: TrainState, start: int, report: Report) -> str:
        """The term and the point at which the step from `state` broke, of which `report` is."""
        batch, key = self._inputs(self._arrays, state, jnp.int32(start))
        return nonfinite_reason(self._program.on_one_device, state, batch, key, report.weights)

    def learning_rate(self, opt_state: Any) -> float | None:
        """The rate of the step before `opt_state`."""
        return learning_rate(self._optimizer, opt_state)

    def diagnostics(self) -> dict[str, float]:
        """Nothing beyond the report."""
        return {}
