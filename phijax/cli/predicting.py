"""`phijax predict`: values at the points of a file, with nothing but a run's folder."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from phijax.cli.errors import Exit, UsageError
from phijax.evaluation import Solution, load_solution
from phijax.evaluation.files import written_whole

ROWS_AT_A_TIME = 100_000  # of a table of text


def predict_verb(run_dir: str, points: str, *, residuals: bool, out: str | None) -> int:
    """Writes coordinates and values, and with `residuals` those of the domain's equations, to a file."""
    source = Path(points)
    target = _target(source, out)
    solution = load_solution(run_dir)
    coordinates = _used(solution, read_columns(source))
    values = predicted(solution, coordinates, residuals)
    write_columns(target, coordinates | values)
    print(target)
    return Exit.OK


def predicted(solution: Solution, coordinates: dict[str, np.ndarray], residuals: bool) -> dict[str, np.ndarray]:
    """{field: values}, and {residual_TERM: residual}, in the shape of the coordinates."""
    shape = np.broadcast_shapes(*(column.shape for column in coordinates.values()))
    values = {name: solution[name](**coordinates) for name in solution.problem.fields}
    if residuals:
        for name, constraint in solution.problem.constraints.items():
            if constraint.on_domain:
                found = solution.residual(name, **coordinates)
                terms = found if isinstance(found, dict) else {name: found}
                values |= {f"residual_{term}": value for term, value in terms.items()}
    return {name: np.broadcast_to(value, shape) for name, value in values.items()}


def read_columns(path: Path) -> dict[str, np.ndarray]:
    """Columns by name out of a csv file with a line of names, or the arrays of an npz file."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}.")
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as stored:
            return dict(stored)
    if path.suffix != ".csv":
        raise UsageError(f"{path}: points are read from .csv, with a line of names, or from .npz.")
    with path.open(newline="", encoding="utf-8-sig") as file:
        names = [name.strip() for name in next(csv.reader(file), [])]
        if not names or any(_is_number(name) for name in names):
            raise UsageError(f"{path}: the first line must name the columns, as in x,t.")
        try:
            rows = np.loadtxt(file, delimiter=",", ndmin=2, dtype=np.float64)
        except ValueError as error:
            raise UsageError(f"{path}: {error}; every line must hold {len(names)} numbers.") from None
    rows = rows if rows.size else np.zeros((0, len(names)))
    if rows.shape[1] != len(names):
        raise UsageError(f"{path}: {len(names)} names, but {rows.shape[1]} numbers in a line.")
    return {name: rows[:, i] for i, name in enumerate(names)}


def write_columns(path: Path, columns: dict[str, Any]) -> None:
    """A file of the kind that its ending names; complex columns become two in csv. Whole or not there."""
    with written_whole(path) as part:
        if path.suffix == ".npz":
            np.savez(part, **columns)
            return
        plain: dict[str, np.ndarray] = {}
        for name, column in columns.items():
            flat = np.broadcast_to(column, np.broadcast_shapes(*(np.shape(c) for c in columns.values()))).ravel()
            parts = {f"{name}_real": flat.real, f"{name}_imag": flat.imag} if np.iscomplexobj(flat) else {name: flat}
            plain |= parts
        with part.open("w", encoding="utf-8") as file:
            file.write(",".join(plain) + "\n")
            count = len(next(iter(plain.values())))
            for begin in range(0, count, ROWS_AT_A_TIME):
                rows = [column[begin : begin + ROWS_AT_A_TIME] for column in plain.values()]
                np.savetxt(file, np.column_stack(rows), fmt="%.17g", delimiter=",")


def _target(source: Path, out: str | None) -> Path:
    target = source.with_name(f"{source.stem}-predicted{source.suffix}") if out is None else Path(out)
    if target.suffix not in (".csv", ".npz"):
        raise UsageError(f"--out {target}: write to .csv or .npz.")
    if target.absolute() == source.absolute():
        raise UsageError(f"--out {target} is the file of points itself.")
    return target


def _used(solution: Solution, columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The columns that are coordinates; others, such as measured values, take no part."""
    known = [symbol.name for symbol in solution.problem.domain.coordinates]
    used = {name: columns[name] for name in known if name in columns}
    if not used:
        raise UsageError(
            f"the points have the columns {', '.join(columns) or 'none'}, and none is a coordinate: {', '.join(known)}."
        )
    return used


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
