"""`phijax predict`: values at the points of a file, with nothing but a run's folder."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phijax.cli.errors import Exit, UsageError
from phijax.evaluation import Ensemble, Solution, load_run
from phijax.evaluation.export import write_columns
from phijax.evaluation.fields import Fields
from phijax.formulation.csv_files import read_csv


def predict_verb(run_dir: str, points: str, *, residuals: bool, out: str | None) -> int:
    """Writes coordinates and values, and with `residuals` those of the domain's equations, to a file."""
    source = Path(points)
    target = _target(source, out)
    solution = load_run(run_dir)
    known = [symbol.name for symbol in solution.problem.domain.coordinates]
    coordinates = read_columns(source, known)
    values = predicted(solution, coordinates, residuals)
    write_columns(target, coordinates | values)
    print(target)
    return Exit.OK


def predicted(solution: Solution | Ensemble, coordinates: dict[str, Any], residuals: bool) -> dict[str, np.ndarray]:
    """{field: values}, and {residual_TERM: residual}, in the shape of the coordinates.

    Of an ensemble these are means, and what ends in _spread their standard deviations.
    """
    shape = np.broadcast_shapes(*(column.shape for column in coordinates.values()))
    values = _values(solution, coordinates, residuals)
    if isinstance(solution, Ensemble):
        values |= {f"{name}_spread": v for name, v in _values(solution.spread, coordinates, residuals).items()}
    return {name: np.broadcast_to(value, shape) for name, value in values.items()}


def _values(fields: Fields, coordinates: dict[str, Any], residuals: bool) -> dict[str, np.ndarray]:
    values = {name: fields[name](**coordinates) for name in fields.problem.fields}
    if residuals:
        for name, constraint in fields.problem.constraints.items():
            if constraint.on_domain:
                found = fields.residual(name, **coordinates)
                terms = found if isinstance(found, dict) else {name: found}
                values |= {f"residual_{term}": value for term, value in terms.items()}
    return values


def read_columns(path: Path, wanted: Sequence[str]) -> dict[str, np.ndarray]:
    """Those of the `wanted` columns that a csv file with a line of names, or an npz file, has; others take no part."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}.")
    if path.suffix == ".npz":
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:  # numpy leaves a bad one open
                used = _used(path, list(stored), wanted)
                return {name: stored[name] for name in used}
        except (ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
            raise UsageError(f"{path} is no npz file of plain arrays: {str(error).splitlines()[0]}") from error
    return read_csv(path, lambda names: _used(path, names, wanted))


def _used(path: Path, names: list[str], wanted: Sequence[str]) -> list[str]:
    used = [name for name in wanted if name in names]
    if not used:
        raise UsageError(
            f"{path}: no column is one of the coordinates {', '.join(wanted)}; its first line must name the columns, "
            f"and is: {', '.join(names) or 'empty'}."
        )
    return used


def _target(source: Path, out: str | None) -> Path:
    if source.suffix not in (".csv", ".npz"):
        raise UsageError(f"{source}: points are read from .csv, with a line of names, or from .npz.")
    target = source.with_name(f"{source.stem}-predicted{source.suffix}") if out is None else Path(out)
    if target.suffix not in (".csv", ".npz"):
        raise UsageError(f"--out {target}: write to .csv or .npz.")
    if target.absolute() == source.absolute():
        raise UsageError(f"--out {target} is the file of points itself.")
    return target
