"""Corners that reach into plane regions: where they are, and that smooth holes have none."""

import math

import numpy as np
import pytest

import phijax as phi
from phijax.geometry.corners import reentrant_corners

x, y, z = phi.coordinates("x y z")
t = phi.time("t")
square = phi.Rectangle((x, -1, 1), (y, -1, 1))
ell = square - phi.Rectangle((x, 0, 1), (y, -1, 0))


def corners(region):
    found = reentrant_corners(region)
    return {tuple(np.round(place, 4) + 0.0) for places in found.values() for place in places}


@pytest.mark.parametrize(
    ("region", "places"),
    [
        (square, set()),
        (ell, {(0.0, 0.0)}),
        (ell * phi.Interval(t, 0, 1), {(0.0, 0.0)}),
        (square - phi.Disk((x, y), (0.3, 0.2), 0.3), set()),
        (square - phi.Disk((x, y), (0.3, 0.2), 0.02), set()),
        (square - phi.Rectangle((x, -0.5, 0.25), (y, 0, 0.5)), {(-0.5, 0), (0.25, 0), (-0.5, 0.5), (0.25, 0.5)}),
        (phi.Interval(x, 0, 1), set()),
        (phi.Ball((x, y, z), radius=1) - phi.Ball((x, y, z), (1, 0, 0), 0.5), set()),
    ],
    ids=["square", "L", "L in time", "hole", "pin", "box", "line", "space"],
)
def test_corners_are_found_where_they_are(region, places):
    assert corners(region) == places


def test_turned_corners_and_those_of_arcs():
    (turned,) = reentrant_corners(ell.translate(x=0.25).rotate(0.3)).values()
    np.testing.assert_allclose(turned, [[0.25 * math.cos(0.3), 0.25 * math.sin(0.3)]], atol=1e-12)
    (lens,) = reentrant_corners(phi.Disk((x, y), (0, 0), 1) | phi.Disk((x, y), (1, 0), 1)).values()
    np.testing.assert_allclose(
        lens[np.argsort(lens[:, 1])], [(0.5, -math.sqrt(0.75)), (0.5, math.sqrt(0.75))], atol=1e-4
    )
