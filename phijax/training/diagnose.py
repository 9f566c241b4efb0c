"""Where a run broke: the term and the point of the first number that is not finite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from phijax.training.state import TrainState, trainable
from phijax.training.step import Program

_KEPT = "the state before this step, all of it finite, is kept"


def nonfinite_reason(
    program: Program, state: TrainState, batch: Any, key: PRNGKeyArray | None, weights: Mapping[str, Any]
) -> str:
    """A sentence that names the term, its value and the point at which the step from `state` broke.

    weights: by term, as the balancer gave them for this step.
    """
    step = int(state.step)
    params, rest = trainable(state.model_state)
    model = program.model(params, rest)
    objective = program.objective
    for term, values in objective.residuals(model, batch, key).items():
        bad = np.flatnonzero(~np.isfinite(np.asarray(values)))
        if bad.size:
            where = _point(batch[objective.sampler_of(term)], int(bad[0]))
            return (
                f"loss term '{term}' is not finite at step {step}: its residual is {np.asarray(values)[bad[0]]} at "
                f"{bad.size} of {values.shape[0]} points, first at {where}; {_KEPT}"
            )
    for term in objective.losses(model, batch, key):
        row = _bad_gradient(program, params, rest, batch, key, term)
        if row is not None:
            where = _point(batch[objective.sampler_of(term)], row)
            return (
                f"the gradient of loss term '{term}' is not finite at step {step}, though its residual is: first at "
                f"{where}; {_KEPT}"
            )
    for term, weight in weights.items():
        if not np.isfinite(weight):
            who = type(program.balancer).__name__
            return f"the balancer {who} gives loss term '{term}' the weight {weight} at step {step}; {_KEPT}"
    return f"the losses overflow, or the update of the optimizer is not finite, at step {step}; {_KEPT}"


def _bad_gradient(
    program: Program, params: Any, rest: Any, batch: Any, key: PRNGKeyArray | None, term: str
) -> int | None:
    """The first row of the batch at which the term's gradient is not finite."""
    name = program.objective.sampler_of(term)
    part = term[len(name) + 1 :]
    block = program.objective.blocks[name]

    def finite(point: Any) -> Any:
        def square(p: Any) -> Any:
            return jnp.abs(block.pointwise(program.model(p, rest), point, key)[part]) ** 2

        return jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(jax.grad(square)(params))]).all()

    bad = np.flatnonzero(~np.asarray(jax.lax.map(finite, batch[name])))
    return int(bad[0]) if bad.size else None


def _point(entry: Any, row: int) -> str:
    """One row of a batch entry, by the names of its coordinates where it has them."""
    coordinates = getattr(entry, "coordinates", entry)
    leaves = jax.tree_util.tree_flatten_with_path(eqx.filter(coordinates, eqx.is_array_like))[0]
    named = []
    for path, leaf in leaves:
        name = "".join(str(getattr(part, "key", getattr(part, "name", part))) for part in path)
        value = np.asarray(leaf[row])
        shown = f"{value:.6g}" if value.ndim == 0 else np.array2string(value, precision=6)
        named.append(f"{name}={shown}" if name else shown)
    return f"row {row} ({', '.join(named)})"
