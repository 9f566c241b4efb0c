"""A trained solution as one file of StableHLO, which JAX alone runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phijax._precision import ambient_precision, precision_scope
from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.files import written_whole
from phijax.lowering import Expressions
from phijax.sampling.points import Points

PLATFORMS = ("cpu", "cuda", "tpu")


def write_stablehlo(evaluator: Evaluator, path: Path) -> Path:
    """Writes `{coordinate: (n,)} -> {field: (n,)}` for any n, of the model's precision, weights within.

    To run: `jax.export.deserialize(bytearray(open(path, "rb").read())).call({"x": xs})`, in float64 under
    `jax.enable_x64(True)` or with the flag set. Raises ImportError where JAX was built without it.
    """
    from jax import export

    problem = evaluator.problem
    names = [symbol.name for symbol in problem.domain.coordinates]
    with precision_scope(evaluator.precision):
        fields = dict(problem.fields)
        lowered = Expressions(evaluator.layout, fields, split_complex=False)  # type: ignore[arg-type]

        def solution(columns: dict[str, jax.Array]) -> dict[str, Any]:
            values = jax.vmap(lambda point: lowered.pointwise(evaluator.model, point))(Points(columns))
            return {name: jnp.asarray(values[name]) for name in fields}

        (rows,) = export.symbolic_shape("n")
        given = {name: jax.ShapeDtypeStruct((rows,), np.dtype(ambient_precision())) for name in names}
        stored = export.export(jax.jit(solution), platforms=PLATFORMS)(given).serialize()
    with written_whole(path) as part:
        part.write_bytes(stored)
    return path
