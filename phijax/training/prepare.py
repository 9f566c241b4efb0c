"""From a module and a fresh or saved state to a complete state: sources, terms, and every part bound to the run."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from phijax._devices import ONE_DEVICE, Devices
from phijax.training.balancer_checks import check_own_balancer, initialized
from phijax.training.callbacks import Callbacks
from phijax.training.checkpoint import Saved
from phijax.training.dtypes import check_precision_of, strong
from phijax.training.feed import Feed, Held, as_source, unadapted
from phijax.training.keys import root_key
from phijax.training.module import Module
from phijax.training.stages import Plan, Staged
from phijax.training.state import TrainState, trainable
from phijax.training.step import Program, Sources


class Prepared(NamedTuple):
    """What a session needs beyond the Trainer's settings."""

    program: Program
    sources: Sources
    state: TrainState


def prepare(
    module: Module,
    state: TrainState,
    static: Any,
    *,
    datamodule: Any,
    plan: Plan,
    balancer: Any,
    callbacks: Callbacks,
    saved: Saved | None,
    precision: str,
    devices: Devices = ONE_DEVICE,
) -> Prepared:
    """A complete state and the program that advances it. With `saved`, all of the state's values come from there.

    The DataModule is asked for its sources only now, with the keys that the run will go on with.
    """
    objective = module.objective
    state = _with_keys(state, saved)
    train = as_source(datamodule.train_batch_source(objective.batch_keys, state.sampling_key))
    sources = Sources(train, None, None)
    if balancer.every:
        other = as_source(datamodule.train_batch_source(objective.batch_keys, state.balancer_key))
        sources = Sources(train, other, other.init())

    own = state.sampler_state.source if isinstance(state.sampler_state, Held) else state.sampler_state
    own = own or jax.tree.map(strong, train.init())
    batch = jax.eval_shape(lambda: unadapted(train, own, jnp.int32(0)))
    _check_batch(batch, objective.batch_keys, precision)
    terms = objective.terms(eqx.combine(state.model_state, static), batch)
    program = Program(objective.on(devices), terms, static, balancer, module.unknowns, module.weighting, devices)

    state = state._replace(
        balancer_state=jax.tree.map(strong, _bound(balancer, state.balancer_state, terms)),
        callback_state=_called(callbacks, state.callback_state, program, state.model_state),
    )
    check_own_balancer(program, state.balancer_state, state.model_state, batch)
    state = _in_stage(plan, state, saved, train, own)
    if saved is not None:
        state = saved.into(state)
    check_precision_of(state, precision, "state")
    return Prepared(program, sources, state)


def _with_keys(state: TrainState, saved: Saved | None) -> TrainState:
    if saved is None:
        names = ("rng_key", "sampling_key", "balancer_key")
        return state._replace(**{name: root_key(getattr(state, name), name) for name in names})
    return state._replace(
        sampling_key=saved.array(".sampling_key"),
        balancer_key=saved.array(".balancer_key"),
        rng_key=saved.array(".rng_key"),
    )


def _check_batch(batch: Any, names: tuple[str, ...], precision: str) -> None:
    missing = [name for name in names if name not in batch]
    if missing:
        raise ValueError(
            f"the batch source gives {', '.join(map(repr, batch)) or 'nothing'}, but the objective needs a batch for "
            f"{', '.join(map(repr, missing))}: give every name in `batch_keys` a sampler or a pool."
        )
    check_precision_of({name: batch[name] for name in names}, precision, "batch")


def _bound(balancer: Any, balancer_state: Any, terms: tuple[str, ...]) -> Any:
    """The balancer's state for these terms; one that was made without terms is bound to them."""
    bound, unbound = initialized(balancer, terms), initialized(balancer)
    given = jax.tree.structure(balancer_state)
    if given == jax.tree.structure(bound):
        return balancer_state
    if balancer_state is None or given == jax.tree.structure(unbound):
        return bound
    raise ValueError(
        f"the balancer state does not fit {type(balancer).__name__} with the terms {', '.join(terms)}: make it by "
        "balancer.initialize(), of the balancer that is given to the fit."
    )


def _called(callbacks: Callbacks, callback_state: dict[str, Any], program: Program, model_state: Any) -> dict[str, Any]:
    """States of the run's callbacks: those of the state, and new ones for callbacks that it has not met."""
    fresh = callbacks.init(program.model(*trainable(model_state)))
    left = [name for name in callback_state or {} if name not in fresh]
    if left:
        raise ValueError(
            f"the state carries callback {left[0]}, which Trainer(callbacks=...) lacks; it has "
            f"{', '.join(fresh) or 'none'}. Give the same callbacks, or drop it from state.callback_state."
        )
    return fresh | dict(callback_state or {})


def _in_stage(plan: Plan, state: TrainState, saved: Saved | None, train: Any, own: Any) -> TrainState:
    """The state with optimizer and sampler states of the stage that the run goes on in."""
    params, _ = trainable(state.model_state)
    if saved is not None and plan.staged:
        at = Staged(saved.array(".opt_state.index"), saved.array(".opt_state.start"), None)
        index, start = plan.where(at)
        state = state._replace(opt_state=plan.init(index, start, params))
    index, start = plan.where(state.opt_state)
    feed = Feed(plan.stages[index].holds(params))
    held = isinstance(state.sampler_state, Held) and train.stateful and feed.hold != 1
    return state if held else state._replace(sampler_state=feed.adopt(train, own, start))
