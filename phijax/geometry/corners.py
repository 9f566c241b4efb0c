"""Corners of plane regions that reach into them: where solutions have slopes without bound."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from jaxtyping import Float
from sympy import Symbol

from phijax.geometry._numbers import is_space
from phijax.geometry.region import Region

_NODES = 48  # of the rule on each piece of the boundary: the first is 1/1700 of it from the end
# Points of a circle about a node, and its radii over the region's width: a small hole fills the larger one alone.
_CIRCLE, _RADII = 64, (0.02, 0.005)
_LEAST_SHARE = 0.6  # of that circle inside: an angle of 216 degrees

Places = Float[np.ndarray, "k 2"]


def reentrant_corners(region: Region) -> dict[tuple[Symbol, ...], Places]:
    """Corners of more than 216 degrees, (k, 2), of each plane factor of a region over two coordinates of space."""
    found = {}
    for factor in region.factors:
        plane = len(factor.coordinates) == factor.dimension == 2 and all(map(is_space, factor.coordinates))
        places = _corners(factor) if plane and not factor.depends else np.zeros((0, 2))
        if len(places):
            found[factor.coordinates] = places
    return found


@functools.lru_cache(maxsize=64)
def _corners(region: Region) -> Places:
    boundary = region.boundary
    if boundary.faults:
        return np.zeros((0, 2))
    rule = boundary.quadrature(_NODES)
    nodes = np.stack([np.asarray(rule.coordinates[name]) for name in region.names], axis=1)
    assert rule.normals is not None
    normals = np.stack([np.asarray(rule.normals[name]) for name in region.names], axis=1)
    width = min(high - low for low, high in region.bounds.values())
    near = np.arange(len(nodes))
    for radius in _RADII:
        near = near[_share_inside(region, nodes[near], radius * width) > _LEAST_SHARE]
    corners: list[np.ndarray] = []
    while near.size:
        group = near[np.hypot(*(nodes[near] - nodes[near[0]]).T) < _RADII[0] * width]
        near = np.setdiff1d(near, group)
        corner = _meeting(nodes[group], normals[group])
        if corner is not None:
            corners.append(corner)
    return np.array(corners).reshape(-1, 2)


def _share_inside(region: Region, nodes: Places, radius: float) -> Float[np.ndarray, " n"]:
    """The part of a circle about each node that is in the region."""
    angles = 2 * np.pi * (np.arange(_CIRCLE) + 0.5) / _CIRCLE
    around = nodes[:, None] + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    columns: Any = {name: around[..., axis].ravel() for axis, name in enumerate(region.names)}
    return np.mean(np.asarray(region.signed_distance(columns)).reshape(around.shape[:2]) < 0, axis=1)


def _meeting(nodes: Places, normals: Places) -> np.ndarray | None:
    """Where the tangents of the two nodes meet whose normals differ most; None where all are of one line."""
    turned = normals @ normals.T
    one, two = np.unravel_index(np.argmin(turned), turned.shape)
    if turned[one, two] > 0.999:
        return None
    sides = normals[[one, two]]
    return np.linalg.solve(sides, np.sum(sides * nodes[[one, two]], axis=1))
