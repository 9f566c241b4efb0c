"""Outlines: closed curves as users give them, an array or a file; checked and cut into triangles by shapely."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from sympy import Symbol

from phijax.geometry.meshed import checked_table, read_only


def read_outline(given: Any, axes: tuple[Symbol, ...], what: str) -> Float[np.ndarray, "n 2"]:
    """Corners in the order given, no two in a row the same, the last not a repetition of the first."""
    if isinstance(given, str | os.PathLike):
        given = _from_file(Path(given), axes, what)
    table = checked_table(given, f"{what}", 2)
    kept = np.any(table != np.roll(table, 1, axis=0), axis=1) if len(table) > 1 else np.ones(len(table), bool)
    if len(table) > 1 and not kept[0]:  # the first is written again at the end: the end goes
        kept[0] = True
        kept[len(table) - int(np.argmax(np.any(table != table[0], axis=1)[::-1])) :] = False
    corners = table[kept]
    if len(np.unique(corners, axis=0)) < 3:
        raise ValueError(f"{what} has {len(np.unique(corners, axis=0))} different points; an outline needs three.")
    if np.linalg.matrix_rank(corners - corners.mean(0), tol=1e-13 * np.ptp(corners)) < 2:
        raise ValueError(f"{what} encloses no area: its points lie on a line.")
    return read_only(corners)


def _from_file(path: Path, axes: tuple[Symbol, ...], what: str) -> list[list[float]]:
    """Two columns with commas, semicolons or blanks between, in the order of the axes unless a header names them."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{what}: {path} cannot be read: {error}.") from None
    rows = [(i, re.split(r"\s*[,;]\s*|\s+", line.strip())) for i, line in enumerate(lines, 1) if line.strip()]
    order = (0, 1)
    if rows and any(_number(cell) is None for cell in rows[0][1]):
        header = rows.pop(0)[1]
        names = [axis.name for axis in axes]
        order = tuple(header.index(name) for name in names) if set(names) <= set(header) else order
    table = []
    for line, cells in rows:
        numbers = [_number(cell) for cell in cells]
        if len(numbers) <= max(order) or None in numbers:
            raise ValueError(f"{what}: line {line} of {path} is {lines[line - 1]!r}; each line must hold two numbers.")
        table.append([numbers[i] for i in order])
    return table


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def signed_area(corners: Float[np.ndarray, "n 2"]) -> float:
    """Positive where the corners run counterclockwise."""
    x, y = (corners - corners[0]).T
    return float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)) / 2)


def check_outlines(outer: Float[np.ndarray, "n 2"], holes: Sequence[Float[np.ndarray, "n 2"]], what: str) -> None:
    """ValueError where an outline crosses itself or another, or a hole is outside, with the place."""
    import shapely

    named = [("its outline", outer), *zip(hole_names(len(holes)), holes, strict=True)]
    for name, ring in named:
        reason = shapely.is_valid_reason(shapely.Polygon(ring))
        if reason != "Valid Geometry":
            raise ValueError(
                f"{what}: {name} crosses or touches itself at {_place(reason)}; mend the order of its points."
            )
    shell = shapely.Polygon(outer)
    for name, ring in named[1:]:
        if not shell.covers(shapely.Polygon(ring)):
            out = next((p for p in ring if not shell.covers(shapely.Point(p))), None)
            where = _place(shell.exterior.intersection(shapely.LinearRing(ring)).wkt) if out is None else _pair(out)
            raise ValueError(f"{what}: {name} is not inside the outline, as at {where}; a hole lies within it.")
    reason = shapely.is_valid_reason(shapely.Polygon(outer, holes))
    if reason != "Valid Geometry":
        kind = reason.split("[")[0].lower()
        raise ValueError(f"{what}: the holes and the outline overlap or cut it in parts ({kind}) at {_place(reason)}.")


def hole_names(count: int) -> tuple[str, ...]:
    return ("hole",) if count == 1 else tuple(f"hole {i + 1}" for i in range(count))


def _place(reason: str) -> str:
    numbers = re.findall(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", reason)
    return _pair([float(number) for number in numbers[:2]])


def _pair(numbers: Any) -> str:
    return f"({numbers[0]:.6g}, {numbers[1]:.6g})"


def triangulate(
    outer: Float[np.ndarray, "n 2"], holes: Sequence[Float[np.ndarray, "n 2"]]
) -> Float[np.ndarray, "m 3 2"]:
    """Triangles that fill what the outline encloses, the holes left out."""
    import shapely

    parts = shapely.get_parts(shapely.constrained_delaunay_triangles(shapely.Polygon(outer, holes)))
    corners = shapely.get_coordinates(parts).reshape(-1, 4, 2)[:, :3]
    return corners[np.lexsort(_curve(corners.mean(axis=1)).T)]


def _curve(middles: Float[np.ndarray, "m 2"]) -> np.ndarray:
    """Places along a curve that fills the plane (Morton 1966), so that numbers near each other pick triangles near."""
    size = np.ptp(middles, axis=0)
    cells = ((middles - middles.min(axis=0)) / np.where(size > 0, size, 1) * 65535).astype(np.uint64)
    bits = [(cells[:, i % 2] >> np.uint64(i // 2) & np.uint64(1)) << np.uint64(i) for i in range(32)]
    return np.bitwise_or.reduce(bits)[:, None]
