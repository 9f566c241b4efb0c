"""Errors against a known solution, field by field, over a fine grid of each field's own region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Inexact

from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.grids import comparison_points
from phijax.formulation import Problem
from phijax.symbolic import Field

REFERENCE_LIMIT = 3.0  # an error below so many times the reference's own says nothing more


@dataclass(frozen=True)
class FieldError:
    """relative_l2: |u - reference| / |reference| in L2. max: largest absolute difference, taken at `where`.

    at_limit: whether the error is that of the reference itself, as far as is known.
    """

    relative_l2: float
    max: float
    where: dict[str, float]
    points: int
    at_limit: bool


def field_errors(evaluator: Evaluator) -> dict[str, FieldError]:
    """{field: error} for the fields whose solution is known; a complex field is compared as a complex one."""
    problem = evaluator.problem
    if problem.reference is None:
        return {}
    errors = {}
    for fields in _on_one_grid(list(problem.fields.values())):
        columns, exact = evaluator.kept(("reference", *fields), lambda fields=fields: _known_on_grid(problem, fields))
        known = {field.name: field for field in fields if field.name in exact}
        values = evaluator(known, columns) if known else {}
        for name, value in values.items():
            errors[name] = _compare(value, exact[name], columns, problem.reference.error)
    return {name: errors[name] for name in problem.fields if name in errors}


def _known_on_grid(problem: Problem, fields: list[Field]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    columns = comparison_points(problem.region_of(fields[0]), fields[0].coordinates)
    return columns, known_values(problem, fields, columns)


def known_values(problem: Problem, fields: list[Field], columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """{field: reference values at the columns}, of the fields that the problem's reference knows; NaN without a word."""
    if problem.reference is None:
        return {}
    with np.errstate(all="ignore"):
        return problem.reference({field.name: field.coordinates for field in fields}, columns)


def _on_one_grid(fields: list[Field]) -> list[list[Field]]:
    groups: dict[tuple, list[Field]] = {}
    for field in fields:
        groups.setdefault((field.coordinates, field.func.on), []).append(field)
    return list(groups.values())


def _compare(
    values: Inexact[np.ndarray, " n"],
    exact: Inexact[np.ndarray, " n"],
    columns: dict[str, np.ndarray],
    reference_error: float,
) -> FieldError:
    known = np.isfinite(exact)  # a closed form may be singular at a corner
    values, exact = values[known], exact[known].astype(np.result_type(values, exact, np.float64))
    difference = np.abs(values - exact)
    size = float(np.linalg.norm(exact))
    relative = float(np.linalg.norm(difference)) / size if size > 0 else float("nan")
    worst = int(np.argmax(difference))
    where = {name: float(column[known][worst]) for name, column in columns.items()}
    at_limit = 0 < relative < REFERENCE_LIMIT * reference_error
    return FieldError(relative, float(difference[worst]), where, int(known.sum()), at_limit)
