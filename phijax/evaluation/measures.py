"""Measures of a model that training has not seen, for EarlyStopping and KeepBest: on fresh points, or against the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from phijax._numbers import is_whole
from phijax._precision import precision_scope
from phijax.evaluation.errors import field_errors
from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.residuals import fresh_points
from phijax.formulation.faults import nearest
from phijax.training.compiling import Compiled
from phijax.training.dtypes import precision_of

POINTS = 1024


def reference_error(compiled: Compiled, field: str | None = None) -> Callable[[Any], float]:
    """A function of the model: its relative L2 error against the problem's reference, the largest of all fields.

    field: of this field alone. Raises ValueError where the problem has no reference, or not of that field.
    """
    fields = compiled.problem.fields
    if compiled.problem.reference is None:
        raise ValueError(
            f"problem {compiled.problem.name!r} has no reference; give one by Problem(..., reference=), or watch "
            f"phi.fresh_loss(compiled)."
        )
    if field is not None and field not in fields:
        raise ValueError(f"reference_error: no field is named {field!r}; {nearest(field, fields)}.")
    evaluators: dict[str, Evaluator] = {}  # one, so that it compiles once

    def error_against_reference(model: Any) -> float:
        precision = precision_of(eqx.filter(model, eqx.is_array))
        first = evaluators.setdefault(precision, Evaluator(compiled.layout, model, precision))
        errors = field_errors(first.beside(model))
        if not errors or (field is not None and field not in errors):
            raise ValueError(f"the reference of {compiled.problem.name!r} does not know {field or 'any field'}.")
        return max(error.relative_l2 for name, error in errors.items() if field in (None, name))

    return error_against_reference


def fresh_loss(compiled: Compiled, points: int = POINTS, seed: int = 0) -> Callable[[Any], float]:
    """A function of the model: the sum of the mean squared residuals, unweighted, on points of its own.

    points: of each constraint, the same at every call; those of measured data are all of them. seed: other points for
    another one.
    """
    if not is_whole(points):
        raise ValueError(f"fresh_loss: points={points!r} must be a whole number of at least 1.")
    objective, drawn = compiled.module.objective, {}

    @eqx.filter_jit
    def total(model: Any, batch: Any) -> Any:
        return jnp.sum(jnp.stack(list(objective.losses(model, batch).values())))

    def loss_on_fresh_points(model: Any) -> float:
        precision = precision_of(eqx.filter(model, eqx.is_array))
        with precision_scope(precision):
            if precision not in drawn:
                keys = jax.random.split(jax.random.key(seed), len(objective.batch_keys))
                drawn[precision] = {
                    name: jax.tree.map(jnp.asarray, fresh_points(compiled.problem.constraints[name], key, points))
                    for name, key in zip(objective.batch_keys, keys, strict=True)
                }
            return float(total(model, drawn[precision]))

    return loss_on_fresh_points
