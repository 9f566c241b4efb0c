"""Given points: kept as they are, whole and in order."""

import jax
import numpy as np
import pytest

import phijax.geometry as geo
from phijax._precision import precision_scope
from phijax.sampling import RegionSampler
from phijax.symbolic import coordinates, time

x, y = coordinates("x y")
t = time("t")
xs, ys = np.linspace(0, 1, 5), np.linspace(2, 3, 5) ** 2
cloud = geo.PointCloud({x: xs, y: ys[:, None]})


def test_all_points_are_given_in_order_when_their_number_is_asked_for():
    with precision_scope("float64"):
        placed = RegionSampler(cloud).sample(jax.random.key(0), 5)
        np.testing.assert_array_equal(placed.coordinates["x"], xs)
        np.testing.assert_array_equal(placed.coordinates["y"], ys)
        assert placed.coordinates["x"].dtype == "float64"
    assert RegionSampler(cloud).sample(jax.random.key(0), 5).coordinates["x"].dtype == "float32"


def test_fewer_are_drawn_and_more_are_refused():
    few = RegionSampler(cloud).sample(jax.random.key(0), 3)
    assert few.size == 3
    assert set(np.asarray(few.coordinates["x"])) <= set(xs.astype("float32"))
    with pytest.raises(ValueError, match="has 5 rows, fewer than the 6 asked for; ask for at most 5"):
        RegionSampler(cloud).sample(jax.random.key(0), 6)


def test_the_points_are_a_copy():
    mine = xs.copy()
    region = geo.PointCloud({x: mine})
    mine[0] = 7
    assert region.bounds == {x: (0.0, 1.0)}


def test_distance_is_to_the_nearest_point():
    rng = np.random.default_rng(0)
    table = rng.uniform(size=(6000, 2))
    many = geo.PointCloud({x: table[:, 0], y: table[:, 1]})
    at = rng.uniform(size=(20, 2))
    brute = np.sqrt(((at[:, None] - table[None]) ** 2).sum(-1)).min(1)
    np.testing.assert_allclose(many.signed_distance({"x": at[:, 0], "y": at[:, 1]}), brute, rtol=1e-12)
    assert many.contains({"x": table[:3, 0], "y": table[:3, 1]}).all()


def test_normals_slices_and_products():
    edge = geo.PointCloud({x: [0.0, 1.0], y: [0.5, 0.5]}, normals={x: [-1, 1], y: [0, 0]})
    assert edge.has_normals
    placed = RegionSampler(edge).sample(jax.random.key(0), 2)
    np.testing.assert_array_equal(placed.normals["x"], [-1, 1])
    assert edge.at(x=1).count == 1
    assert "none of the 2 points has x = 1/2" in str(edge.at(x=0.25 * 2).faults).replace("0.500000000000000", "1/2")
    moving = edge * geo.Interval(t, 0, 4)
    assert moving.measure == 8
    columns = RegionSampler(moving).sample(jax.random.key(0), 64)
    assert np.mean(columns.coordinates["x"]) == 0.5
    assert set(columns.normals) == {"x", "y"}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: geo.PointCloud({}), "give a mapping from coordinates to columns"),
        (lambda: geo.PointCloud({x: xs, y: ys[:3]}), r"the columns must have one length; got {'x': 5, 'y': 3}"),
        (
            lambda: geo.PointCloud({x: np.ma.array([0, 1], mask=[1, 0])}),
            "the column of x is masked at row 0; leave out",
        ),
        (lambda: geo.PointCloud({x: [0, np.nan]}), "the column of x has a value that is not finite at row 1"),
        (lambda: geo.PointCloud({x: np.zeros((2, 2))}), r"the column of x has shape \(2, 2\)"),
        (lambda: geo.PointCloud({x: []}), "with n at least 1"),
        (lambda: geo.PointCloud({"x": xs}), "'x' is no coordinate"),
        (
            lambda: geo.PointCloud({x: [0.0]}, normals={x: [2.0]}),
            "the normal at row 0 has length 2; normals must be unit",
        ),
        (lambda: geo.PointCloud({x: [0.0]}, normals={y: [1.0]}), "normals along y, which is no coordinate"),
        (lambda: geo.PointCloud({x: [0.0]}, normals={x: [1.0, 1.0]}), "2 normals for 1 points"),
    ],
)
def test_tables_that_make_no_points_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
