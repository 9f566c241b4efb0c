"""Tuning: how many rows the gradient of each constraint is best taken on together, by measuring on this machine."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from phijax.training.feed import as_source, unadapted
from phijax.training.gradient import WeightedGradient
from phijax.training.module import Block, Module, Objective, full_name, rows
from phijax.training.state import trainable

CANDIDATES = (32, 64, 128, 256, 512)
RUNS = 5


def tuned_rows(module: Module, datamodule: Any) -> dict[str, int]:
    """{constraint: rows} with the shortest time of one value and gradient, in the ambient precision.

    A constraint of too few points to be cut is left out, and all are where gradients are not taken in pieces.
    """
    if jax.default_backend() != "cpu":
        return {}
    source = as_source(datamodule.train_batch_source(module.objective.batch_keys, jax.random.key(0)))
    batch = unadapted(source, source.init(), jnp.int32(0))
    model = module.factory(jax.random.key(0))
    return {
        name: min(sizes, key=lambda size, name=name, block=block: _seconds(model, name, block, batch[name], size))
        for name, block in module.objective.blocks.items()
        if (sizes := [size for size in CANDIDATES if 2 * size <= rows(batch[name])])
    }


def _seconds(model: Any, name: str, block: Block, batch: Any, size: int) -> float:
    arrays, static = eqx.partition(model, eqx.is_array)
    params, rest = trainable(arrays)
    terms = eqx.filter_eval_shape(lambda m, b: block(m, b), model, batch)
    objective = Objective({name: replace(block, rows_at_once=size)})
    weights = {full_name(name, term): jnp.ones(()) for term in terms}

    @jax.jit
    def gradient(params: Any, rest: Any, batch: Any) -> Any:
        whole = WeightedGradient(
            objective, lambda p: eqx.combine(p, rest, static), {name: batch}, jax.random.key(0), weights
        )
        return whole(params)

    jax.block_until_ready(gradient(params, rest, batch))
    return min(_timed(lambda: jax.block_until_ready(gradient(params, rest, batch))) for _ in range(RUNS))


def _timed(call: Any) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun
