"""Surfaces and solids from files of triangles: binary STL, and what trimesh reads."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sympy import Symbol

from phijax.geometry.solid import Solid
from phijax.geometry.surface import Surface
from phijax.geometry.winding import open_edges, told_open

STL_HEADER = 84  # bytes: eighty that say nothing, and the number of triangles
STL_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("unused", "<u2")])


def read_mesh(
    coordinates: tuple[Symbol, Symbol, Symbol], path: str | os.PathLike, scale: float = 1.0
) -> Solid | Surface:
    """The solid that a file's triangles bound, or their surface where they do not close, which a warning says.

    scale: what the file's numbers are multiplied by, such as 1e-3 for millimetres.
    Equal vertices are taken as one, and triangles without area are left out.
    Raises ImportError where trimesh is missing and the file is no binary STL, ValueError for a file that cannot be read or
    holds no triangle.
    """
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"read_mesh: there is no file {file}.")
    written, rows = _binary_stl(file) or _by_trimesh(file)
    vertices, triangles = _merged(float(scale) * np.asarray(written, np.float64), rows)
    if not len(triangles):
        raise ValueError(f"read_mesh: {file} holds no triangles with area.")
    found = open_edges(triangles)
    if not len(found):
        return Solid(coordinates, vertices, triangles)
    warnings.warn(f"{file} bounds no solid: {told_open(vertices, found)}; it is read as a surface.", stacklevel=2)
    return Surface(coordinates, vertices, triangles)


def _binary_stl(file: Path) -> tuple[np.ndarray, np.ndarray] | None:
    """Vertices and rows of them; None for a file whose length is not that of a binary STL of as many triangles as it says."""
    content = file.read_bytes()
    if len(content) < STL_HEADER:
        return None
    count = int.from_bytes(content[STL_HEADER - 4 : STL_HEADER], "little")
    if len(content) != STL_HEADER + count * STL_TRIANGLE.itemsize:
        return None
    corners = np.frombuffer(content, STL_TRIANGLE, count, STL_HEADER)["corners"]
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


def _by_trimesh(file: Path) -> tuple[np.ndarray, np.ndarray]:
    try:
        import trimesh
    except ImportError:
        raise ImportError("read_mesh needs trimesh, which is not installed: pip install 'phijax[mesh]'.") from None
    try:
        mesh: Any = trimesh.load(file, force="mesh", process=False)
    except Exception as error:  # its readers raise whatever the format's parser does
        raise ValueError(f"read_mesh: {file} cannot be read as triangles: {type(error).__name__} {error}.") from error
    return np.asarray(mesh.vertices), np.asarray(mesh.faces)


def _merged(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equal vertices as one, as STL writes them anew for each triangle; triangles without area are left out."""
    kept, place = np.unique(vertices, axis=0, return_inverse=True)
    merged = place.ravel()[triangles] if len(triangles) else triangles.reshape(0, 3)
    corners = kept[merged]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return kept, merged[areas > 0]
