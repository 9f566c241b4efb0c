"""The points at which a solution was trained: the batch of its last step, where that can be told."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phijax._precision import precision_scope
from phijax.sampling.points import Points
from phijax.training.keys import root_key, split_root


def last_batch(compiled: Any, model: Any, precision: str, seed: Any, steps: int) -> dict[str, Points]:
    """{constraint: points} of the last step, as NumPy; of an adaptive sampler, points for the model as it is.

    Without a known seed, those of seed 0: the same in kind. Empty where the problem has no samplers.
    """
    data = getattr(compiled, "datamodule", None)
    if data is None:
        return {}
    known = isinstance(seed, int | np.integer | jax.Array)
    with precision_scope(precision):
        source = data.train_batch_source(tuple(data.sizes), split_root(root_key(seed if known else 0)).sampling)
        objective = compiled.module.objective

        def residuals(name: str, points: Any) -> Any:
            found = objective.block_residuals(name, model, points)
            return jnp.sqrt(sum(value**2 for value in found.values()))

        draw = jax.jit(lambda state: source.draw(state, max(steps - 1, 0), residuals)[1])
        return jax.tree.map(np.asarray, draw(source.init()))
