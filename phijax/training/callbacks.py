"""Callbacks: what happens between steps, as a pure step on explicit state that is saved with the run."""

from __future__ import annotations

import abc
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from phijax._numbers import is_whole
from phijax.training.dtypes import like, strong


class Event(NamedTuple):
    """The run as a callback sees it after `step` completed steps.

    model, parameters: as they are now, the parameters by name and in their own unit. losses, weights, total: of the step
    just completed, taken before it moved the model; at step 0 losses and weights are empty and total is NaN.
    learning_rate: with which that step moved the model, None where none is known. seconds: of the run so far, those of the
    runs that it resumes included.
    """

    step: int
    model: Any
    losses: Mapping[str, float]
    weights: Mapping[str, float]
    total: float
    parameters: Mapping[str, float]
    learning_rate: float | None = None
    seconds: float = 0.0


class Callback(abc.ABC):
    """Called at step 0 of a new run and whenever the number of completed steps divides by `every`.

    Its state is a tree of arrays of constant shapes, kept in `TrainState.callback_state` under its name.
    """

    every: int

    @property
    def name(self) -> str:
        """Name of its state; the class's own."""
        return type(self).__name__

    @abc.abstractmethod
    def init(self, model: Any) -> Any:
        """State of a new run."""

    @abc.abstractmethod
    def step(self, state: Any, event: Event) -> tuple[Any, str | None]:
        """(new state, None or the sentence that says why the run stops here)."""

    def close(self) -> None:  # noqa: B027  # most hold nothing
        """Called when a fit ends, however it ends: for what holds files."""


Metric = Callable[[Any], Any]


def _measure(metric: Metric | str, event: Event) -> float:
    """A metric of the model, or a quantity of the step just completed: "total" or the name of a loss term."""
    if callable(metric):
        value = np.asarray(metric(event.model))
        if value.shape not in {(), (1,)}:
            name = getattr(metric, "__name__", "metric")
            raise ValueError(f"metric {name} gave an array of shape {value.shape}; it must give one number.")
        return float(value.reshape(()))
    if metric == "total":
        return event.total
    if event.losses and metric not in event.losses:
        raise ValueError(f"metric {metric!r} is no loss term; choose 'total' or one of {', '.join(event.losses)}.")
    return event.losses.get(metric, np.nan)


def _check_every(every: int) -> None:
    if not is_whole(every):
        raise ValueError(f"every={every!r}: a callback is called every 1 step or more.")


def _check_metric(metric: Any) -> None:
    if not callable(metric) and not isinstance(metric, str):
        raise ValueError(f"metric={metric!r}: give 'total', the name of a loss term, or a function of the model.")


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


class Watch(NamedTuple):
    """State of EarlyStopping: best value so far, and calls since then."""

    best: Array
    waited: Array


@dataclass(frozen=True)
class EarlyStopping(Callback):
    """Stops after `patience` calls without a fall of the metric by more than `min_delta`.

    metric: function of the model giving a scalar, or "total", or the name of a loss term.
    """

    every: int = 100
    patience: int = 10
    min_delta: float = 0.0
    metric: Metric | str = "total"

    def __post_init__(self):
        _check_every(self.every)
        _check_metric(self.metric)
        if not is_whole(self.patience):
            raise ValueError(f"patience={self.patience!r}: give a whole number of calls, at least 1.")
        if not _is_real(self.min_delta) or self.min_delta < 0:
            raise ValueError(f"min_delta={self.min_delta!r}: give a finite number of at least 0.")

    def init(self, model: Any) -> Watch:
        return Watch(jnp.asarray(jnp.inf), jnp.zeros((), jnp.int32))

    def step(self, state: Watch, event: Event) -> tuple[Watch, str | None]:
        value = _measure(self.metric, event)
        if np.isnan(value):
            return state, None
        if value < float(state.best) - self.min_delta:
            return Watch(jnp.asarray(value), jnp.zeros((), jnp.int32)), None
        waited = int(state.waited) + 1
        reason = None
        if waited >= self.patience:
            name = self.metric if isinstance(self.metric, str) else getattr(self.metric, "__name__", "metric")
            reason = (
                f"early stopping: {name} has not fallen below {float(state.best):.6g} for {waited * self.every} steps"
            )
        return Watch(state.best, jnp.int32(waited)), reason


class Best(NamedTuple):
    """State of KeepBest: best value, the number of steps completed then, and the arrays of that model."""

    value: Array
    step: Array
    model_state: Any


@dataclass(frozen=True)
class KeepBest(Callback):
    """Keeps the model with the lowest metric; `FitResult.best_model` gives it.

    metric: as for EarlyStopping; a loss is that of the step just completed, one step older than the model.
    """

    every: int = 100
    metric: Metric | str = "total"

    def __post_init__(self):
        _check_every(self.every)
        _check_metric(self.metric)

    def init(self, model: Any) -> Best:
        return Best(jnp.asarray(jnp.inf), jnp.int32(-1), eqx.filter(model, eqx.is_array))

    def step(self, state: Best, event: Event) -> tuple[Best, str | None]:
        value = _measure(self.metric, event)
        if not value < float(state.value):
            return state, None
        return Best(jnp.asarray(value), jnp.int32(event.step), eqx.filter(event.model, eqx.is_array)), None


class Averaged(NamedTuple):
    """State of Average: how many models it has seen, and their mean."""

    count: Array
    model_state: Any


@dataclass(frozen=True)
class Average(Callback):
    """Running mean of the model (Polyak & Juditsky 1992): arithmetic at first, with memory 1/(1 - decay) later.

    `FitResult.averaged_model` gives it.
    """

    every: int = 10
    decay: float = 0.999

    def __post_init__(self):
        _check_every(self.every)
        if not _is_real(self.decay) or not 0 <= self.decay < 1:
            raise ValueError(f"decay={self.decay!r}: give a number from 0 to below 1.")

    def init(self, model: Any) -> Averaged:
        return Averaged(jnp.zeros((), jnp.int32), eqx.filter(model, eqx.is_array))

    def step(self, state: Averaged, event: Event) -> tuple[Averaged, str | None]:
        count = int(state.count)
        share = max(1 - self.decay, 1 / (count + 1))

        def mixed(old: Any, new: Any) -> Any:
            return old + share * (new - old) if eqx.is_inexact_array(new) else new

        arrays = eqx.filter(event.model, eqx.is_array)
        return Averaged(jnp.int32(count + 1), jax.tree.map(mixed, state.model_state, arrays)), None


@dataclass(frozen=True)
class Callbacks:
    """The callbacks of a run, by name in the order given."""

    by_name: Mapping[str, Callback]

    @classmethod
    def of(cls, callbacks: Sequence[Callback]) -> Callbacks:
        """Names them: a second one of a name becomes NAME_2."""
        if not isinstance(callbacks, Sequence):
            raise TypeError(f"callbacks={callbacks!r} is no sequence; write callbacks=[...], also for one.")
        named: dict[str, Callback] = {}
        for callback in callbacks:
            if not all(hasattr(callback, part) for part in ("init", "step", "every")):
                raise TypeError(
                    f"{callback!r} is no callback: it needs `every`, `init(model)` and `step(state, event)`."
                )
            if isinstance(callback, type):
                raise TypeError(f"{callback.__name__} is the class of a callback; write {callback.__name__}().")
            if not is_whole(callback.every):
                raise ValueError(
                    f"callback {type(callback).__name__} has every={callback.every!r}: a callback is called every 1 step or more."
                )
            base = getattr(callback, "name", type(callback).__name__)
            if not isinstance(base, str) or not base or "/" in base:
                raise ValueError(f"callback {type(callback).__name__} has name={base!r}: give a text without '/'.")
            count = 1 + sum(name == base or name.startswith(f"{base}_") for name in named)
            named[base if count == 1 else f"{base}_{count}"] = callback
        return cls(named)

    def init(self, model: Any) -> dict[str, Any]:
        """States of a new run."""
        return {name: _initial(name, callback.init(model)) for name, callback in self.by_name.items()}

    def next_after(self, step: int) -> int | None:
        """The first number of completed steps after `step` at which one is called."""
        return min(((step // callback.every + 1) * callback.every for callback in self.by_name.values()), default=None)

    def due(self, step: int) -> bool:
        """Whether one is called after `step` completed steps."""
        return any(step % callback.every == 0 for callback in self.by_name.values())

    def close(self) -> None:
        """Tells each that the fit is over; one of the user's own need not listen."""
        for callback in self.by_name.values():
            getattr(callback, "close", lambda: None)()

    def step(self, states: dict[str, Any], event: Event) -> tuple[dict[str, Any], str | None]:
        """Calls those that are due; the first reason to stop is given back."""
        new, stop = dict(states), None
        for name, callback in self.by_name.items():
            if event.step % callback.every:
                continue
            state, reason = _answer(name, callback.step(states[name], event))
            if _form(state) != _form(states[name]):
                raise ValueError(f"callback {name} gave a state of another structure or shape than its `init`.")
            new[name] = jax.tree.map(lambda a, b: like(jnp.asarray(a), b), state, states[name])
            stop = stop or reason
        return new, stop


def _initial(name: str, state: Any) -> Any:
    for path, leaf in jax.tree_util.tree_leaves_with_path(state):
        if not hasattr(leaf, "dtype") and not isinstance(leaf, bool | int | float | complex):
            place = f"{jax.tree_util.keystr(path)} " if path else ""
            raise TypeError(
                f"callback {name}: its state {place}holds {leaf!r}; a state is a tree of arrays and numbers, which a "
                f"checkpoint can keep."
            )
    return jax.tree.map(strong, state)


def _answer(name: str, answer: Any) -> tuple[Any, str | None]:
    """What a `step` gave, where it is a pair of a state and None or a sentence."""
    if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[1], str | None):
        raise TypeError(
            f"callback {name}: step(state, event) gave {answer!r}; it must give (state, None), or (state, 'why the run "
            f"stops here')."
        )
    return answer


def _form(tree: Any) -> Any:
    leaves, structure = jax.tree.flatten(tree)
    return structure, [np.shape(leaf) for leaf in leaves]
