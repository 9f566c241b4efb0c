"""Several runs in one compiled program: stacked, and taken one after the other or side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from phijax.training.state import TrainState
from phijax.training.step import RUN, Report

Arrays = tuple[Any, ...]
Stepped = tuple[TrainState, Report, Array]


def in_turn() -> bool:
    """Whether runs are better taken one after the other: on a CPU.

    There even a network of width 20 keeps the cores busy, and what a step works on stays in the cache: eight such runs of
    Burgers' equation took 23 ms a step in turn and 28 ms side by side.
    """
    return jax.default_backend() == "cpu"


def one_after_another(run: Callable[..., Stepped]) -> Callable[..., tuple]:
    """`run(arrays, state, report, start, end) -> (state, report, halt)` for tuples of the first three and (lanes,) ends.

    Each lane stops by itself, and every condition stays one: what a step leaves out, such as the diagnostics of a balancer,
    is not computed.
    """

    def all_of(arrays: Arrays, states: Arrays, reports: Arrays, starts: Array, ends: Array) -> tuple:
        rows = (_stacked(arrays), _stacked(states), _stacked(reports), starts, ends)
        return _apart(jax.lax.map(lambda row: run(*row), rows), len(states))

    return all_of


def side_by_side(step: Callable[..., Stepped]) -> Callable[..., tuple]:
    """The same from one step, `step(arrays, state, report, start) -> (state, report, halt)`, vectorized over the lanes.

    All lanes must be at the same step of a stage: the step is one number for all, so that what hangs on it alone is decided
    once. A lane that halts or is at its end keeps what it has.
    """
    axes: Any = [None if name == "step" else 0 for name in TrainState._fields]
    abreast = jax.vmap(step, in_axes=(0, TrainState(*axes), 0, None))

    def all_of(arrays: Arrays, states: Arrays, reports: Arrays, starts: Array, ends: Array) -> tuple:
        given, start = _stacked(arrays), starts[0]

        def going(carry: tuple) -> Array:
            now, _, _, halts = carry
            return jnp.any((now < ends) & (halts == RUN))

        def body(carry: tuple) -> tuple:
            now, states, reports, halts = carry
            new = abreast(given, states._replace(step=now), reports, start)
            goes = (now < ends) & (halts == RUN)
            return now + 1, *jax.tree.map(lambda a, b: _where(goes, a, b), new, (states, reports, halts))

        before = (states[0].step, _stacked(states), _stacked(reports), jnp.full(len(states), RUN, jnp.int32))
        return _apart(jax.lax.while_loop(going, body, before)[1:], len(states))

    return all_of


def _where(goes: Array, new: Array, old: Array) -> Array:
    return jnp.where(goes.reshape(goes.shape + (1,) * (new.ndim - 1)), new, old)


def _stacked(trees: Arrays) -> Any:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def _apart(found: tuple, lanes: int) -> tuple:
    """(states, reports, halts), a tuple of trees each."""
    states, reports, halts = found
    rows = range(lanes)
    return (
        tuple(jax.tree.map(lambda leaf, i=i: leaf[i], states) for i in rows),
        tuple(jax.tree.map(lambda leaf, i=i: leaf[i], reports) for i in rows),
        halts,
    )
