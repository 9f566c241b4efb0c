"""Points and values as npz or csv, one column each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from phijax.evaluation.files import written_whole

ROWS_AT_A_TIME = 100_000  # of a table of text


def write_columns(path: Path, columns: dict[str, Any]) -> None:
    """A file of the kind that its ending names; complex columns become two in csv. Whole or not there."""
    with written_whole(path) as part:
        if path.suffix == ".npz":
            np.savez(part, **columns)
            return
        shape = np.broadcast_shapes(*(np.shape(column) for column in columns.values()))
        plain = split_complex({name: np.broadcast_to(column, shape).ravel() for name, column in columns.items()})
        with part.open("w", encoding="utf-8") as file:
            file.write(",".join(plain) + "\n")
            count = len(next(iter(plain.values())))
            for begin in range(0, count, ROWS_AT_A_TIME):
                parts = [column[begin : begin + ROWS_AT_A_TIME].tolist() for column in plain.values()]
                file.writelines(",".join(map(repr, row)) + "\n" for row in zip(*parts, strict=True))


def split_complex(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Real columns: a complex one becomes NAME_real and NAME_imag."""
    plain: dict[str, Any] = {}
    for name, column in columns.items():
        parts = (
            {f"{name}_real": column.real, f"{name}_imag": column.imag} if np.iscomplexobj(column) else {name: column}
        )
        plain |= parts
    return plain
