"""Whether a linear problem determines its fields: which of them another solution, or nearly one, would change.

Of all combinations v of random features the one that changes the residuals least for its size |F v|, F the fields on the
domain: a generalized singular value of (J, F), from the cosines of an orthonormal basis of both (Golub & Van Loan 2013,
section 6.1). It knows nothing of the network that was trained.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from phijax._precision import precision_scope
from phijax.evaluation.residuals import fresh_points
from phijax.formulation import Problem, is_linear
from phijax.lowering import Expressions, Layout, constraint_expressions
from phijax.networks import RandomFeatures, trainable
from phijax.optimizers import LeastSquaresSystem
from phijax.sampling import Points, RegionSampler

FEATURES, MOST_IN_ALL, SCALE = 300, 900, 2.0  # of each field, of all fields, and radians per half of the domain
ROWS_PER_FEATURE, FACES = 3, 200
KEPT = 1e-8  # combinations of features whose values are below this part of the largest are no fields but rounding
LEAST_CHANGE = 1e-6  # 1e-9 to 1e-14 was measured where fields are not determined, 1e-4 and more where they are
PART = 1e-2  # of the largest change of any field from which a field is said to be open as well


def open_fields(problem: Problem, scales: dict[str, float] | None = None) -> dict[str, float]:
    """{field: change of the residuals, by their size, that goes with a change of the field by its own}.

    Fields that are determined are left out, and so is everything where the problem is not linear or has unknown
    parameters. scales: sizes of the fields.
    """
    if problem.parameters or not is_linear(problem):
        return {}
    count = max(min(FEATURES, MOST_IN_ALL // len(problem.fields)), 1)
    with precision_scope("float64"):
        equations, values = _matrices(Layout(problem, RandomFeatures(count, SCALE), scales), count)
    change, sizes = least_change(np.concatenate(equations), np.stack(list(values.values())))
    if change > LEAST_CHANGE:
        return {}
    return {name: change for name, size in zip(values, sizes, strict=True) if size > PART * np.max(sizes)}


def least_change(
    equations: Float[np.ndarray, "n p"], values: Float[np.ndarray, "f m p"]
) -> tuple[float, Float[np.ndarray, " f"]]:
    """The least |equations v| / |values v| over all v, and the size of each `values[i] v` there."""
    fields, places, size = values.shape
    rows = np.concatenate([equations, values.reshape(-1, size)])
    basis, lengths, _ = np.linalg.svd(rows, full_matrices=False)
    basis = basis[:, lengths > KEPT * lengths[0]]
    _, shares, directions = np.linalg.svd(basis[: len(equations)], full_matrices=False)
    sizes = np.linalg.norm((basis[len(equations) :] @ directions[-1]).reshape(fields, places), axis=1)
    return float(shares[-1] / max(np.linalg.norm(sizes), np.finfo(float).tiny)), sizes


def _matrices(layout: Layout, features: int) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """How each term of the equations, and each field, hangs on the coefficients of the features; rows of size one."""
    problem, count = layout.problem, ROWS_PER_FEATURE * features
    arrays, static = eqx.partition(layout.initial(jax.random.key(0)), eqx.is_array)
    params, rest = eqx.partition(arrays, trainable(arrays))
    expressions: dict[tuple[str, str], Expressions] = {}
    batch: dict[tuple[str, str], Points] = {}
    for position, (name, constraint) in enumerate(problem.trained.items()):
        inside = constraint.region.dimension == len(constraint.region.coordinates)
        expressions["equation", name] = constraint_expressions(layout, constraint)
        batch["equation", name] = fresh_points(constraint, jax.random.key(position), count if inside else FACES)
    for name, field in problem.fields.items():
        expressions["field", name] = Expressions(layout, {"": field})
        batch["field", name] = RegionSampler(problem.region_of(field)).sample(jax.random.key(0), features)
    found = {key: _rows(lowered, params, rest, static, batch[key]) for key, lowered in expressions.items()}
    equations = [part for (kind, _), parts in found.items() if kind == "equation" for part in parts]
    return equations, {name: np.concatenate(parts) for (kind, name), parts in found.items() if kind == "field"}


def _rows(lowered: Expressions, params: Any, rest: Any, static: Any, points: Any) -> list[np.ndarray]:
    """One (n, p) matrix for each value; root mean square of its rows one, where they are not all zero."""

    def pointwise(params: Any, point: Any) -> Any:
        return lowered.pointwise(eqx.combine(params, rest, static), point)

    system = LeastSquaresSystem({"": pointwise}, params)
    weights = {f"/{label}" if label else "": 1.0 for label in lowered.labels}
    _, jacobian = system.jacobian(system.theta, {"": jax.tree.map(jnp.asarray, points)}, weights)
    parts = np.asarray(jacobian).reshape(-1, len(lowered.labels), jacobian.shape[1])
    sizes = np.linalg.norm(parts, axis=(0, 2))
    return [parts[:, i] / (size or 1.0) for i, size in enumerate(sizes)]
