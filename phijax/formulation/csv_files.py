"""Reads tables of numbers from csv files: a line of names, then a number in every cell."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

CURE = "separate columns by commas, and write numbers with a decimal point"


def read_csv(path: Path, choose: Callable[[list[str]], Sequence[str]] | None = None) -> dict[str, np.ndarray]:
    """Columns by name, as float64, or complex128 where a number is complex.

    choose: gives those of the names that are wanted; others take no part. None takes all.
    Raises ValueError, naming line and column, for anything that is no number: nothing is filled in.
    """
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, skipinitialspace=True)
        try:
            names = [unicodedata.normalize("NFKC", name.strip()) for name in next(reader, [])]
            _check_names(path, names)
            wanted = names if choose is None else list(choose(names))
            for name in wanted:
                if not name or names.count(name) > 1:
                    fault = (
                        f"names the column {name!r} twice" if name else f"has no name for column {names.index('') + 1}"
                    )
                    raise ValueError(f"{path}: its first line {fault}; give each column a name of its own.")
            lines, rows = [], []
            for row in reader:
                if row:
                    _check_row(path, reader.line_num, row, names)
                    lines.append(reader.line_num)
                    rows.append(row)
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path} is no csv file in UTF-8: {error}.") from None
    return {name: _column(path, name, [row[names.index(name)] for row in rows], lines) for name in wanted}


def _check_names(path: Path, names: list[str]) -> None:
    if not any(names):
        raise ValueError(f"{path} has an empty first line; its first line must name the columns.")
    if names[0].startswith("#"):
        raise ValueError(f"{path}: line 1 is a comment; its first line must name the columns, without '#'.")
    if len(names) == 1 and (";" in names[0] or "\t" in names[0]):
        raise ValueError(f"{path}: its columns are separated by {'semicolons' if ';' in names[0] else 'tabs'}; {CURE}.")


def _check_row(path: Path, line: int, row: list[str], names: list[str]) -> None:
    if row[0].startswith("#"):
        raise ValueError(f"{path}: line {line} is a comment; leave it out, since every line is a row of numbers.")
    if len(row) != len(names):
        raise ValueError(f"{path}: line {line} has {len(row)} cells, and the first line names {len(names)}; {CURE}.")


def _column(path: Path, name: str, cells: list[str], lines: list[int]) -> np.ndarray:
    try:
        return np.array(list(map(float, cells)), np.float64)
    except ValueError:
        return np.array([_number(path, name, cell, line) for cell, line in zip(cells, lines, strict=True)])


def _number(path: Path, name: str, cell: str, line: int) -> complex:
    try:
        return complex(cell.strip())
    except ValueError:
        pass
    fault = f"holds {cell!r}, which is no number" if cell.strip() else "is empty"
    cure = CURE if "," in cell else "leave out rows without a value"
    raise ValueError(f"{path}: column {name!r} {fault} in line {line}; {cure}.")
