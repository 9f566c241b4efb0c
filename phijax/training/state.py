"""TrainState: all that a run carries from one step to the next, as one tree of arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from phijax._precision import precision_scope
from phijax.networks import trainable as trainable_mask
from phijax.training.dtypes import precision_of
from phijax.training.keys import root_key, split_runtime
from phijax.training.stages import initial_opt_state

BOTH_OR_NEITHER = (
    "initialize_train_state got {given} but no {missing}: give both, or neither, and then the runtime key is split "
    "into runtime, sampling and balancer."
)


class TrainState(NamedTuple):
    """State after `step` completed steps. Every leaf is an array or a typed key.

    model_state: arrays of the model; what is no array is None and belongs to the module's factory.
    opt_state: state of the optimizer; with stages, a `Staged`.
    balancer_state, sampler_state, callback_state: of the loss balancer, of samplers with state, of callbacks by name.
    rng_key: advanced at every step, for stochastic models. sampling_key, balancer_key: constant.
    """

    model_state: Any
    opt_state: Any
    balancer_state: Any
    sampler_state: Any
    callback_state: Any
    rng_key: PRNGKeyArray
    sampling_key: PRNGKeyArray
    balancer_key: PRNGKeyArray
    step: Int[Array, ""]


def initialize_train_state(
    model_state: Any,
    optimizer: Any,
    balancer_state: Any,
    runtime_key: Any,
    sampling_key: Any = None,
    balancer_key: Any = None,
) -> TrainState:
    """A complete state at step 0, for `Trainer.fit_state`.

    model_state: a model, or its arrays. optimizer: as given to `fit_state`. balancer_state: `balancer.initialize()`.
    One key is split into runtime, sampling and balancer, in this order; with both other keys given, all three are
    used as they are. ValueError where only one of them is given. The state has the precision of the model.
    """
    if (sampling_key is None) != (balancer_key is None):
        given, missing = "sampling_key", "balancer_key"
        if sampling_key is None:
            given, missing = missing, given
        raise ValueError(BOTH_OR_NEITHER.format(given=given, missing=missing))
    arrays = eqx.filter(model_state, eqx.is_array)
    with precision_scope(precision_of(arrays)):
        return _state(arrays, optimizer, balancer_state, runtime_key, sampling_key, balancer_key)


def _state(
    arrays: Any, optimizer: Any, balancer_state: Any, runtime_key: Any, sampling_key: Any, balancer_key: Any
) -> TrainState:
    runtime = root_key(runtime_key, "runtime_key")
    if sampling_key is None:
        runtime, sampling, balancing = split_runtime(runtime)
    else:
        sampling, balancing = root_key(sampling_key, "sampling_key"), root_key(balancer_key, "balancer_key")
    return TrainState(
        model_state=arrays,
        opt_state=initial_opt_state(optimizer, trainable(arrays)[0]),
        balancer_state=balancer_state,
        sampler_state={},
        callback_state={},
        rng_key=runtime,
        sampling_key=sampling,
        balancer_key=balancing,
        step=jnp.zeros((), jnp.int32),
    )


def trainable(model_state: Any) -> tuple[Any, Any]:
    """(parameters, rest): floating-point and complex arrays are trained; frozen ones and the rest are carried along."""
    params, rest = eqx.partition(model_state, trainable_mask(model_state))
    if not jax.tree.leaves(params):
        raise ValueError(
            "the model has no array to train. JAX arrays of floating point are trained; NumPy arrays and Python "
            "numbers count as constants: make them jax.numpy arrays."
        )
    return params, rest
