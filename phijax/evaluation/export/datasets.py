"""Solutions as xarray datasets: every field over the axes of its own coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.export.lattice import lattice, values_over
from phijax.evaluation.export.tables import split_complex


def dataset(
    evaluator: Evaluator,
    parameters: Mapping[str, float],
    points: int | None = None,
    at: Mapping[str, float] | None = None,
) -> Any:
    """A Dataset whose dimensions are the coordinates; NaN outside a field's region, parameters as scalars.

    Raises ImportError, with the line that installs it, where xarray is not there.
    """
    try:
        import xarray
    except ImportError as error:
        raise ImportError("xarray is not installed; pip install 'phijax[xarray]', or export to .npz.") from error
    problem = evaluator.problem
    chosen = lattice(problem, points, at)
    variables: dict[str, Any] = {}
    for field in problem.fields.values():
        own = [symbol.name for symbol in field.coordinates]
        mesh = np.meshgrid(*(chosen.axes[each] for each in own), indexing="ij")
        columns = {each: column.ravel() for each, column in zip(own, mesh, strict=True)}
        values = values_over(evaluator, [field], columns)
        variables |= {label: (own, column.reshape(mesh[0].shape)) for label, column in values.items()}
    variables |= {name: ((), float(value)) for name, value in parameters.items()}
    about = {"problem": problem.name, "fingerprint": problem.fingerprint, "equations": str(problem)}
    return xarray.Dataset(variables, coords=dict(chosen.axes), attrs=about)


def split_dataset(whole: Any) -> Any:
    """The dataset with complex variables as two, since files of it hold real numbers."""
    return whole.drop_vars(list(whole.data_vars)).assign(split_complex(dict(whole.data_vars)))
