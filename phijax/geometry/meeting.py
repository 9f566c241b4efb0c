"""Where two pieces of a boundary meet."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from phijax.geometry._numbers import evenly_spread
from phijax.geometry.probes import probed
from phijax.geometry.region import Region

_INSIDE, _EDGE = 1024, 512  # points of a piece and of each edge of its cube that are looked at
_TINY = 2.0**-40  # how near to its edge
_TOLERANCE = 1e-7  # of the extent


def meeting_points(one: Region, other: Region) -> dict[str, Float[np.ndarray, "m"]]:
    """Points of the one that are of the other, or at its edge; none where the two are apart.

    The ends of curves and the edges of sides are found; the edges of a surface that is cut by another one are not.
    """
    size = max(high - low for region in (one, other) for low, high in region.bounds.values())
    rows: list[Any] = []
    for region, partner in ((one, other), (other, one)):
        points: Any = _near(_spread(region), partner, _TOLERANCE * size)
        count = len(points[one.names[0]])
        near = np.asarray(partner.inside(points, _TOLERANCE * size)) if count else np.zeros(0, bool)
        rows.append(np.stack([points[name][near] for name in one.names]))
    return dict(zip(one.names, np.concatenate(rows, axis=1), strict=True))


def touches(piece: Region, other: Region) -> bool:
    """Whether some of a piece, and not just its edge, is of the other region."""
    size = max(high - low for region in (piece, other) for low, high in region.bounds.values())
    points: Any = _near(_inner(piece), other, _TOLERANCE * size)
    return bool(len(points[piece.names[0]]) and np.any(other.inside(points, _TOLERANCE * size)))


def _near(points: dict[str, np.ndarray], region: Region, margin: float) -> dict[str, np.ndarray]:
    """The points in the smallest box that holds a region: distances are dear, and most pieces are apart."""
    pairs = [(points[symbol.name], bounds) for symbol, bounds in region.bounds.items()]
    kept = np.logical_and.reduce([(c >= low - margin) & (c <= high + margin) for c, (low, high) in pairs])
    return {name: column[kept] for name, column in points.items()}


def _inner(region: Region) -> dict[str, np.ndarray]:
    points, kept = probed(region, _INSIDE)
    return {name: points[name][kept] for name in region.names}


def _spread(region: Region) -> dict[str, np.ndarray]:
    """Points of a region, many of them at the edges of its map."""
    inner = _inner(region)
    size = region.cube_dimension
    if not size:
        return inner
    edges = []
    for axis in range(size):
        for end in (_TINY, 1 - _TINY):
            unit = evenly_spread(_EDGE if size > 1 else 1, size)
            unit[:, axis] = end
            edges.append(unit)
    if size == 1:  # a curve of several parts has ends between them
        breaks = region.breaks
        edges += [np.array([[place - _TINY], [place + _TINY]]) for place in breaks]
    unit: Any = np.concatenate(edges)
    placed = region.place(unit).coordinates
    return {name: np.concatenate([inner[name], np.asarray(placed[name])]) for name in region.names}
