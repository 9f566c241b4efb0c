"""Every kind of boundary, in both precisions: normals are unit, in space, and point outward."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Rational, pi, symbols

import phijax.geometry as geo
from phijax._precision import precision_scope
from phijax.sampling import RegionSampler
from phijax.symbolic import Coordinate, coordinates, time

x, y, z = coordinates("x y z")
t, re = time("t"), Coordinate("Re", "parameter")
REGIONS = [
    geo.Interval(x, -pi, Rational(1, 3)),
    geo.Rectangle((x, 0, pi), (y, -1, Rational(1, 7))),
    geo.Interval(x, 0, 1) * geo.Interval(t, 0, 1) * geo.Interval(re, 100, 1000),
    geo.Interval(x, 0, 1, periodic=True) * geo.Interval(y, 10, 11),
    geo.Disk((x, y), center=(3, -5), radius=Rational(1, 3)),
    geo.Ball(symbols("a:5"), radius=2) * geo.Interval(t, 0, 1),
    geo.Disk((x, y)) * geo.Interval(z, -1, 1),
]


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_normals_are_unit_and_point_outward(region, precision):
    with precision_scope(precision):
        placed = jax.jit(RegionSampler(region.boundary).sample, static_argnums=1)(jax.random.key(0), 256)
        step = 1e-3
        space = [s.name for s in region.coordinates if s not in (t, re)]
        assert list(placed.normals) == space
        assert {leaf.dtype for leaf in jax.tree.leaves(placed)} == {jnp.dtype(precision)}
        length = sum(placed.normals[name] ** 2 for name in space)
        np.testing.assert_allclose(length, 1, atol=20 * np.finfo(precision).eps)
        moved = lambda by: {n: c + by * placed.normals.get(n, 0.0) for n, c in placed.coordinates.items()}
        rounding = 100 * np.finfo(precision).eps
        np.testing.assert_allclose(region.signed_distance(moved(step)), step, atol=rounding)
        assert np.all(region.signed_distance(moved(-step)) < 0)
        assert np.all(region.boundary.contains(placed.coordinates))
