"""`phijax export`: a run's solution in files that other programs read, from the run's folder alone."""

from __future__ import annotations

from pathlib import Path

from phijax.cli.errors import Exit, UsageError
from phijax.evaluation import load_run
from phijax.evaluation.export.vtk import vtk_suffix
from phijax.formulation.faults import nearest

FORMATS = {"npz": ".npz", "csv": ".csv", "vtk": "", "netcdf": ".nc", "jax": ".jaxexport", "weights": ".npz"}
FOLDER = "exports"  # in the run's own


def export_verb(run_dir: str, kind: str, *, out: str | None, points: int | None, times: int | None) -> int:
    """Writes one file, or a series of them, and prints its path."""
    if kind not in FORMATS:
        raise UsageError(f"--format {kind}: no format is called so; {nearest(kind, FORMATS)}.")
    solution = load_run(run_dir)
    suffix = FORMATS[kind] or vtk_suffix(solution.problem)
    if out is None:
        folder = Path(run_dir).absolute() / FOLDER
        folder.mkdir(exist_ok=True)
        target = folder / f"{'weights' if kind == 'weights' else 'solution'}{suffix}"
    else:
        target = Path(out)
        target = target if target.suffix else target.with_suffix(suffix)
    if kind == "weights":
        print(solution.save_weights(target))
    else:
        print(solution.export(target, points=points, times=times))
    return Exit.OK
