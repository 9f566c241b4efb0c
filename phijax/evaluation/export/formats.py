"""Export by the ending of the file's name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.export.datasets import dataset, split_dataset
from phijax.evaluation.export.lattice import checked_places, lattice, values_over
from phijax.evaluation.export.stablehlo import write_stablehlo
from phijax.evaluation.export.tables import write_columns
from phijax.evaluation.export.vtk import write_vtk
from phijax.evaluation.files import written_whole
from phijax.evaluation.grids import comparison_points
from phijax.formulation.faults import nearest

FORMATS = {
    ".npz": "NumPy: a column for each coordinate and field",
    ".csv": "text: the same columns, parameters repeated",
    ".vti": "VTK image, NaN outside the domain",
    ".vtu": "VTK mesh of the domain",
    ".pvd": "VTK series over time",
    ".nc": "netCDF, by xarray",
    ".jaxexport": "StableHLO, which JAX alone runs",
}
STRUCTURED_UP_TO = 3  # coordinates; above, points are scattered


def export(
    evaluator: Evaluator,
    parameters: Mapping[str, float],
    path: str | Path,
    *,
    points: int | None = None,
    times: int | None = None,
    at: Mapping[str, float] | None = None,
) -> Path:
    """Writes the solution in the format that the file's ending names; see `Solution.export`."""
    target = Path(path)
    ending = target.suffix
    if ending not in FORMATS:
        raise ValueError(f"{target} ends in {ending or 'nothing'!r}, which is no format; {nearest(ending, FORMATS)}.")
    if times is not None and ending != ".pvd":
        raise ValueError(f"times={times!r} is of a series, .pvd; for one moment hold time, as in at={{'t': 1}}.")
    if ending == ".jaxexport":
        if points is not None or at is not None:
            raise ValueError("a .jaxexport file is the function itself and takes neither points nor at.")
        if evaluator.spread is not None:
            raise ValueError(
                "a .jaxexport file holds one model; export a member, as in ensemble.members[0].export(...)."
            )
        return write_stablehlo(evaluator, target)
    if ending in (".vti", ".vtu", ".pvd"):
        return write_vtk(evaluator, parameters, target, points=points, times=times, at=at)
    if ending == ".nc":
        with written_whole(target) as part:
            split_dataset(dataset(evaluator, parameters, points, at)).to_netcdf(part)
        return target
    write_columns(target, columns(evaluator, parameters, points, at))
    return target


def columns(
    evaluator: Evaluator, parameters: Mapping[str, float], points: int | None, at: Mapping[str, float] | None
) -> dict[str, Any]:
    """Points of the domain, fields there, and parameters as scalars; NaN where a field does not live."""
    problem = evaluator.problem
    held = checked_places(problem, at)
    free = [s for s in problem.domain.coordinates if s.name not in held]
    if points is None and not held and len(free) > STRUCTURED_UP_TO:
        places = comparison_points(problem.domain, problem.domain.coordinates)
    else:
        chosen = lattice(problem, points, at)
        places = {name: column[chosen.inside] for name, column in chosen.mesh().items()}
    fields = values_over(evaluator, list(problem.fields.values()), places)
    return {**places, **fields, **{name: np.array(value) for name, value in parameters.items()}}
