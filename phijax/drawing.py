"""Pictures of what has been declared: the one way up from declarations to what draws them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(what: Any, path: str | Path | None = None, *, points: int | Mapping[str, int] | None = None) -> Figure:
    """A picture of a region or of a problem; written to `path` where one is given.

    A region is shaded, its boundary's pieces are named, and arrows are outward normals. Of a problem, also the points
    that its samplers draw; points: how many of each constraint. More coordinates than three are held in their middle.
    Raises TypeError for anything else, ValueError for a region that has no points.
    """
    from phijax.evaluation.plots import save_figure
    from phijax.evaluation.plots.regions import problem_figure, region_figure
    from phijax.formulation import Problem
    from phijax.geometry import Region

    if isinstance(what, Problem):
        figure = problem_figure(what, points)
    elif isinstance(what, Region):
        figure = region_figure(what)
    else:
        raise TypeError(f"plot draws a region or a problem, not {what!r}; of a solution use solution.plot(path).")
    return figure if path is None else save_figure(figure, path)
