"""VTK files for ParaView: an image for a box, a mesh of triangles or tetrahedra for a shape, a series over time."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from phijax._numbers import is_whole
from phijax._precision import precision_scope
from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.export.lattice import checked_places, lattice, spatial_axes, values_over
from phijax.evaluation.export.tables import split_complex
from phijax.evaluation.files import written_whole
from phijax.evaluation.grids import parts_over
from phijax.formulation import Problem
from phijax.geometry import Interval, Region
from phijax.geometry.product import product
from phijax.symbolic import kind_of

FRAMES = 41
MESH_POINTS = {1: 1001, 2: 129, 3: 25}  # an axis
EDGE_POINTS = {2: 8, 3: 6.5}  # times the points along an axis, and times their square
MASK = "inside"
TRIANGLE, TETRA, LINE = 5, 10, 3  # types of cells, as VTK numbers them


def write_vtk(
    evaluator: Evaluator,
    parameters: Mapping[str, float],
    path: Path,
    *,
    points: int | None = None,
    times: int | None = None,
    at: Mapping[str, float] | None = None,
) -> Path:
    """Writes `.vti`, `.vtu` or, with a file for each of `times` in a folder beside it, `.pvd`; gives the path.

    What is neither an axis nor time is held: at `at`, or in the middle. Outside a `.vti`, NaN and an array `inside` say
    which points are of the domain. Raises ValueError where there are more than three coordinates of space.
    """
    problem = evaluator.problem
    axes = spatial_axes(problem)
    if len(axes) > 3:
        names = ", ".join(symbol.name for symbol in axes)
        raise ValueError(f"VTK has three axes, and {problem.name!r} has {names}; export to .npz or .csv.")
    held = _held(problem, axes, at)
    if path.suffix != ".pvd":
        write = write_image if path.suffix == ".vti" else write_mesh
        write(evaluator, parameters, path, axes, held, points)
        return path
    return _write_series(evaluator, parameters, path, axes, held, points, times)


def vtk_suffix(problem: Problem) -> str:
    """What suits a problem: a series where it has space and time, an image for a box, else a mesh."""
    axes = spatial_axes(problem)
    if any(kind_of(s) == "time" and s not in axes for s in problem.domain.coordinates):
        return ".pvd"
    return ".vti" if _is_box(problem, axes) else ".vtu"


def _write_series(
    evaluator: Evaluator, parameters: Any, path: Path, axes: Any, held: dict, points: Any, times: Any
) -> Path:
    from pyevtk.vtk import VtkGroup

    problem = evaluator.problem
    clocks = [s for s in problem.domain.coordinates if kind_of(s) == "time" and s not in axes]
    if not clocks:
        raise ValueError(f"{problem.name!r} has no time beside space, so no series; export to .vti or .vtu.")
    if times is not None and not is_whole(times):
        raise ValueError(f"times={times!r} must be a whole number of at least 1, the files of the series.")
    suffix, write = (".vti", write_image) if _is_box(problem, axes) else (".vtu", write_mesh)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}; make it first.")
    folder = path.absolute().with_suffix("")
    folder.mkdir(exist_ok=True)
    with written_whole(path.absolute()) as part:
        group = VtkGroup(str(part.with_suffix("")))
        for number, moment in enumerate(np.linspace(*problem.domain.bounds[clocks[0]], times or FRAMES)):
            frame = folder / f"{path.stem}_{number:04d}{suffix}"
            write(evaluator, parameters, frame, axes, held | {clocks[0].name: float(moment)}, points)
            group.addFile(str(frame), float(moment))
        group.save()
    return path


def write_image(
    evaluator: Evaluator, parameters: Any, path: Path, axes: tuple, held: dict[str, float], points: int | None = None
) -> None:
    """Values on an even grid over the axes, as ImageData; point data run over x fastest."""
    from pyevtk.hl import imageToVTK

    problem = evaluator.problem
    chosen = lattice(problem, points, held)
    mesh = {name: column.ravel() for name, column in chosen.mesh().items()}
    order = [list(chosen.axes).index(symbol.name) for symbol in axes]
    inside = chosen.inside.ravel()
    values = {}
    for name, column in split_complex(values_over(evaluator, list(problem.fields.values()), mesh)).items():
        values[name] = np.where(inside, column, np.nan)
    values |= {} if inside.all() else {MASK: inside.astype(np.uint8)}
    shape = [len(chosen.axes[symbol.name]) for symbol in axes] + [1] * (3 - len(axes))
    others = [i for i in range(len(chosen.axes)) if i not in order]

    def laid(column: np.ndarray) -> np.ndarray:
        whole = column.reshape(chosen.inside.shape).transpose(*order, *others)
        return np.asfortranarray(whole.reshape(shape), None if whole.dtype == np.uint8 else np.float64)

    lines = [chosen.axes[symbol.name] for symbol in axes]
    origin = (*(float(line[0]) for line in lines), *([0.0] * (3 - len(axes))))
    steps = [float(line[1] - line[0]) if len(line) > 1 else 1.0 for line in lines]
    with written_whole(path) as part:
        data = {name: laid(column) for name, column in values.items()}
        spacing = (*steps, *([1.0] * (3 - len(axes))))
        imageToVTK(str(part.with_suffix("")), origin, spacing, pointData=data)
        _add_constants(part, {**held, **parameters})


def write_mesh(
    evaluator: Evaluator, parameters: Any, path: Path, axes: tuple, held: dict[str, float], points: int | None = None
) -> None:
    """Values at the corners of triangles or tetrahedra that fill the domain at the held coordinates."""
    from pyevtk.hl import unstructuredGridToVTK

    problem = evaluator.problem
    corners, cells = _triangulated(_shape(problem, axes, held), axes, points)
    columns = {symbol.name: corners[:, i] for i, symbol in enumerate(axes)}
    columns |= {name: np.full(len(corners), value) for name, value in held.items() if name not in columns}
    values = split_complex(values_over(evaluator, list(problem.fields.values()), columns))
    places = [np.ascontiguousarray(corners[:, i]) if i < len(axes) else np.zeros(len(corners)) for i in range(3)]
    width = cells.shape[1]
    kind = {2: LINE, 3: TRIANGLE, 4: TETRA}[width]
    with written_whole(path) as part:
        unstructuredGridToVTK(
            str(part.with_suffix("")),
            *places,
            connectivity=np.ascontiguousarray(cells.ravel(), np.int64),
            offsets=np.arange(width, cells.size + 1, width, dtype=np.int64),
            cell_types=np.full(len(cells), kind, np.uint8),
            pointData={name: np.ascontiguousarray(column, np.float64) for name, column in values.items()},
        )
        _add_constants(part, {**held, **parameters})


def _add_constants(path: Path, constants: Mapping[str, float]) -> None:
    """Parameters and held coordinates as field data of a file that pyevtk wrote.

    It would put them inside the piece, where VTK's readers do not look. Offsets count from the appended data on, so that
    lines before it may be added.
    """
    arrays = "".join(
        f'<DataArray Name="{name}" type="Float64" NumberOfTuples="1" format="ascii">{value!r}</DataArray>\n'
        for name, value in constants.items()
    )
    head, piece, rest = path.read_bytes().partition(b"<Piece ")
    path.write_bytes(head + f"<FieldData>\n{arrays}</FieldData>\n".encode() + piece + rest)


def _held(problem: Problem, axes: tuple, at: Mapping[str, float] | None) -> dict[str, float]:
    """Every coordinate that is no axis: as asked, time at its end, others in the middle."""
    asked = checked_places(problem, at)
    for symbol in axes:
        if symbol.name in asked:
            raise ValueError(f"at: {symbol.name} is an axis of the file; only time and parameters are held.")
    held = {}
    for symbol, (low, high) in problem.domain.bounds.items():
        if symbol not in axes:
            held[symbol.name] = asked.get(symbol.name, high if kind_of(symbol) == "time" else (low + high) / 2)
    return held


def _is_box(problem: Problem, axes: tuple[sympy.Symbol, ...]) -> bool:
    parts = parts_over(problem.domain, axes)
    return all(isinstance(part, Interval) for part in parts)


def _shape(problem: Problem, axes: tuple[sympy.Symbol, ...], held: Mapping[str, float]) -> Region:
    """The domain over the axes alone, cut where it moves with what is held."""
    parts = []
    for part in parts_over(problem.domain, axes):
        for symbol in part.coordinates:
            if symbol not in axes:
                part = part.at({symbol: held[symbol.name]})
        parts += [factor for factor in part.factors if set(factor.coordinates) <= set(axes)]
    return product(*parts)


@functools.lru_cache(maxsize=1)  # the files of a series have one mesh, unless the shape moves
def _triangulated(region: Region, axes: tuple, points: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, d) and cells (m, d + 1) of a region of d axes: Delaunay's, of even points and of some on the boundary.

    Cells whose middle is outside are left out, so that holes stay open.
    """
    from scipy.spatial import Delaunay

    d = len(axes)
    size = points or MESH_POINTS[d]
    lines = [np.linspace(*region.bounds[symbol], size) for symbol in axes]
    if d == 1:
        return lines[0][:, None], np.stack([np.arange(size - 1), np.arange(1, size)], axis=1)
    mesh = np.stack([m.ravel() for m in np.meshgrid(*lines, indexing="ij")], axis=1)
    spacing = np.array([line[1] - line[0] for line in lines])
    edge = _edge(region, axes, round(EDGE_POINTS[d] * size ** (d - 1)))
    corners = mesh[_deep(region, axes, mesh, 0.3 * float(spacing.min()))]
    corners = np.concatenate([corners, edge]) if len(edge) else mesh[_contains(region, axes, mesh)]
    cells = Delaunay(corners / spacing).simplices
    middles = corners[cells].mean(axis=1)
    cells = cells[_contains(region, axes, middles)]
    sides = corners[cells[:, 1:]] - corners[cells[:, :1]]
    flat = np.abs(np.linalg.det(sides / spacing)) < 1e-9  # what lies on one straight edge
    return corners, cells[~flat]


def _edge(region: Region, axes: tuple, count: int) -> np.ndarray:
    from phijax.evaluation.plots.shapes import spread_over

    boundary = region.boundary
    if boundary.faults:
        return np.zeros((0, len(axes)))
    spread = []
    for _, piece in boundary.pieces:
        share = max(round(count * piece.measure / boundary.measure), 2)
        unit: Any = np.linspace(1e-12, 1 - 1e-12, share)[:, None]  # from end to end
        found = piece.place(unit).coordinates if piece.cube_dimension == 1 else spread_over(piece, share).coordinates
        spread.append(np.stack([np.asarray(found[symbol.name]) for symbol in axes], axis=1))
    found = np.concatenate(spread)
    size = max(high - low for low, high in region.bounds.values())
    _, first = np.unique(np.round(found / (1e-6 * size)).astype(np.int64), axis=0, return_index=True)
    return found[np.sort(first)]  # corners of two pieces once


def _columns(axes: tuple, at: np.ndarray) -> Any:
    return {symbol.name: at[:, i] for i, symbol in enumerate(axes)}


def _contains(region: Region, axes: tuple, at: np.ndarray) -> np.ndarray:
    with precision_scope("float64"):
        return np.asarray(region.contains(_columns(axes, at)))


def _deep(region: Region, axes: tuple, at: np.ndarray, depth: float) -> np.ndarray:
    """Which points are inside and no nearer to the edge than `depth`, where the region knows the distance."""
    try:
        return np.asarray(region.signed_distance(_columns(axes, at))) < -depth
    except ValueError:
        return _contains(region, axes, at)
