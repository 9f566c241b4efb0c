"""Intervals, boxes, products: measure, map from the cube, distance, sides, normals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from sympy import Rational, pi

import phijax.geometry as geo
from phijax._precision import precision_scope
from phijax.sampling.unit import draw
from phijax.symbolic import Coordinate, coordinates, time

x, y, z = coordinates("x y z")
t = time("t")
square = geo.Rectangle((x, 0, 1), (y, 0, 1))


def points(region, n=512, seed=0, precision="float64", method="sobol"):
    """Placement of n points, as NumPy."""
    with precision_scope(precision):
        unit = draw(method, jax.random.key(seed), n, region.cube_dimension)
        return jax.tree.map(np.asarray, region.from_cube(unit))


def test_measures_are_exact():
    assert geo.Interval(x, 0, 2 * pi).measure == pytest.approx(2 * np.pi, rel=1e-15)
    assert geo.Box((x, 0, 2), (y, -1, 1), (z, 0, Rational(1, 2))).measure == 2.0
    assert (square * geo.Interval(t, 0, 3)).measure == 3.0
    assert geo.Box((x, 0, 2), (y, 0, 1), (z, 0, 3)).boundary.measure == pytest.approx(2 * (2 + 6 + 3))
    assert (geo.Interval(x, -1, 1) * geo.Interval(t, 0, 5)).boundary.measure == pytest.approx(10)
    assert geo.Interval(x, -1, 1).boundary.measure == 2


def test_bounds_stay_as_written():
    region = geo.Interval(x, -pi, 2 * pi)
    assert (region.lower, region.upper) == (-pi, 2 * pi)
    assert str(region) == "[-pi, 2*pi] in x"
    assert region.bounds == {x: (-np.pi, 2 * np.pi)}


def test_numbers_of_every_kind_make_equal_regions():
    expected = geo.Interval(x, 0, 2)
    for two in (2.0, np.float32(2), np.int64(2), np.array(2.0), sympy.Integer(2), jnp.float32(2)):
        assert geo.Interval(x, 0.0, two) == expected
        assert hash(geo.Interval(x, 0, two)) == hash(expected)


def test_printed_as_mathematics():
    region = geo.Interval(x, -1, 1) * geo.Interval(t, 0, 1)
    assert str(region) == "[-1, 1] x [0, 1] in (x, t)"
    assert region.latex() == r"\left(x, t\right) \in [-1, 1] \times [0, 1]"
    assert str(region.at(t=0)) == "[-1, 1] x {0} in (x, t)"
    assert str(region.boundary) == "{-1, 1} x [0, 1] in (x, t)"
    assert str(square.boundary) == "{0, 1} x [0, 1] + [0, 1] x {0, 1} in (x, y)"
    assert square.boundary.latex().endswith(r"\{0, 1\} \times [0, 1] \cup [0, 1] \times \{0, 1\}")
    assert str(geo.Interval(x, 0, 1, periodic=True)) == "[0, 1] periodic in x"


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("bounds", [(0, 1), (-1, 0), (-1, 1), (1000, 1001), (0, 1e-3), (-pi, pi)])
def test_points_are_strictly_inside_at_the_ends_of_the_cube(precision, bounds):
    region = geo.Interval(x, *bounds)
    low, high = (np.dtype(precision).type(end) for end in region.ends)
    below_one = np.nextafter(np.dtype(precision).type(1), 0)
    with precision_scope(precision):
        unit = jnp.asarray([[2.0**-33], [0.5], [below_one]], precision)
        column = np.asarray(region.from_cube(unit).coordinates["x"])
    assert column.dtype == precision
    assert np.all((low < column) & (column < high))


def test_an_interval_too_thin_for_single_precision_is_refused_by_name():
    region = geo.Interval(x, 1, 1 + Rational(1, 10**9))
    with pytest.raises(ValueError, match=r"x: no float32 number lies strictly between 1\.0 .* use precision='float64'"):
        points(region, precision="float32")
    assert np.ptp(points(region).coordinates["x"]) > 0.9e-9


def test_points_of_a_box_are_uniform():
    columns = points(geo.Box((x, 0, 2), (y, -1, 1), (z, 5, 6)), 4096).coordinates
    assert list(columns) == ["x", "y", "z"]
    for name, mean, variance in (("x", 1, 4 / 12), ("y", 0, 4 / 12), ("z", 5.5, 1 / 12)):
        assert columns[name].mean() == pytest.approx(mean, abs=1e-3)
        assert columns[name].var() == pytest.approx(variance, rel=1e-3)


def test_signed_distance_of_a_box_against_brute_force():
    box = geo.Rectangle((x, 0, 2), (y, 0, 1))
    rng = np.random.default_rng(0)
    given = {"x": rng.uniform(-1, 3, 200), "y": rng.uniform(-1, 2, 200)}
    s = np.linspace(0, 1, 4001)
    edge = np.concatenate(
        [np.stack([2 * s, 0 * s]), np.stack([2 * s, 1 + 0 * s]), np.stack([0 * s, s]), [2 + 0 * s, s]], 1
    )
    brute = np.sqrt(((np.stack(list(given.values()))[:, :, None] - edge[:, None]) ** 2).sum(0)).min(1)
    inside = (given["x"] > 0) & (given["x"] < 2) & (given["y"] > 0) & (given["y"] < 1)
    np.testing.assert_allclose(box.signed_distance(given), np.where(inside, -brute, brute), atol=1e-5)
    np.testing.assert_array_equal(box.contains(given), inside)


def test_a_periodic_interval_has_no_edge_and_no_boundary():
    ring = geo.Interval(x, -1, 1, periodic=True)
    assert ring.periodic == {x}
    assert np.all(ring.signed_distance({"x": np.array([-1.0, 5.0])}) == -np.inf)
    assert ring.boundary.pieces == ()
    assert "x is periodic" in ring.boundary.faults[0]
    tube = ring * geo.Interval(y, 0, 1)
    assert [name for name, _ in tube.boundary.pieces] == ["y-", "y+"]
    assert "x is periodic and has no ends; use at(x=...)" in tube.side("left").faults[0]
    assert tube.side("top").fixed == {y: 1}


def test_normal_derivatives_on_the_sides_of_a_square():
    """u = x: -1, 1, 0, 0 on left, right, bottom, top; u = x^2 + y^2: 0, 2, 0, 2."""
    expected = {"left": (-1, 0), "right": (1, 2), "bottom": (0, 0), "top": (0, 2)}
    for name, (linear, quadratic) in expected.items():
        side = points(square.side(name), 16)
        n, at = side.normals, side.coordinates
        np.testing.assert_array_equal(n["x"], linear)
        np.testing.assert_allclose(2 * at["x"] * n["x"] + 2 * at["y"] * n["y"], quadratic, atol=0)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_side_has_its_coordinate_exactly_at_the_bound(precision):
    box = geo.Rectangle((x, Rational(1, 10), pi), (y, 0, 1))
    assert np.all(points(box.side("right"), precision=precision).coordinates["x"] == np.dtype(precision).type(np.pi))
    whole = points(box.boundary, precision=precision)
    on_left = whole.normals["x"] == -1
    assert np.all(whole.coordinates["x"][on_left] == np.dtype(precision).type(0.1))
    assert np.all((whole.coordinates["y"][on_left] > 0) & (whole.coordinates["y"][on_left] < 1))


def test_boundary_of_a_five_dimensional_cube_spreads_over_ten_faces():
    axes = coordinates("a b c d e")
    cube = geo.Box(*((axis, 0, 1) for axis in axes))
    placed = points(cube.boundary, 1000, method="uniform")
    table = np.stack([placed.coordinates[axis.name] for axis in axes], 1)
    on_low, on_high = table == 0, table == 1
    np.testing.assert_array_equal((on_low | on_high).sum(1), 1)
    counts = np.concatenate([on_low.sum(0), on_high.sum(0)])
    assert counts.sum() == 1000
    assert np.all(np.abs(counts - 100) <= 30)
    evenly = points(cube.boundary, 1000)
    faces = np.stack([evenly.coordinates[axis.name] for axis in axes], 1)
    assert np.all(np.abs(((faces == 0) | (faces == 1)).sum(0) - 200) <= 2)


def test_boundary_of_a_box_above_three_dimensions_is_uniform_on_each_face():
    axes = coordinates("a b c d")
    cube = geo.Box(*((axis, 0, 1 + i) for i, axis in enumerate(axes)))
    placed = points(cube.boundary, 2**15)
    on_face = placed.coordinates["d"] == 4
    assert on_face.mean() == pytest.approx(6 / cube.boundary.measure, abs=1e-3)
    for axis, width in zip(axes[:3], (1, 2, 3), strict=True):
        column = placed.coordinates[axis.name][on_face]
        assert column.mean() == pytest.approx(width / 2, rel=0.01)
        assert column.var() == pytest.approx(width**2 / 12, rel=0.02)


def test_a_region_in_time_has_faces_in_space_alone():
    slab = square * geo.Interval(t, 0, 2)
    assert [name for name, _ in slab.boundary.pieces] == ["x-", "x+", "y-", "y+"]
    placed = points(slab.boundary)
    assert set(placed.normals) == {"x", "y"}
    assert (placed.coordinates["t"] > 0).all()
    assert (placed.coordinates["t"] < 2).all()
    family = square * geo.Interval(Coordinate("Re", "parameter"), 100, 1000)
    assert {name for name, _ in family.boundary.pieces} == {"x-", "x+", "y-", "y+"}


def test_a_slice_keeps_its_coordinate_as_a_constant_column():
    slab = square * geo.Interval(t, 0, 2)
    start = slab.at(t=0)
    placed = points(start, 64)
    assert start.fixed == {t: 0}
    assert start.names == ("x", "y", "t")
    np.testing.assert_array_equal(placed.coordinates["t"], 0)
    assert placed.normals is None
    assert start.dimension == 2
    corner = square.at(x=0, y=1)
    assert corner.dimension == 0
    assert corner.count == 1
    np.testing.assert_array_equal(points(corner, 3).coordinates["y"], 1)


def test_an_interface_line_inside_an_interval_gives_points():
    line = geo.Interval(x, 0, 3) * geo.Interval(t, 0, 1)
    placed = points(line.at(x=2.0), 50)
    np.testing.assert_array_equal(placed.coordinates["x"], 2.0)
    assert len(np.unique(placed.coordinates["t"])) == 50


def test_interior_points_are_never_on_the_boundary():
    interval = geo.Interval(x, 0, 1)
    inner, ends = points(interval, 50).coordinates["x"], points(interval.boundary, 25).coordinates["x"]
    assert len(inner) == 50
    assert len(ends) == 25
    assert not set(inner) & {0.0, 1.0}
    assert set(ends) == {0.0, 1.0}


def test_products_of_one_coordinate_twice_are_refused():
    with pytest.raises(ValueError, match="has the coordinate 'x' twice"):
        square * geo.Interval(x, 0, 1)


def test_regions_of_equal_value_are_equal_and_can_be_rebuilt_from_their_spec():
    slab = square * geo.Interval(t, 0, 2)
    regions = [
        slab,
        slab.boundary,
        slab.at(t=1),
        slab.side("left"),
        slab.boundary(where=x > Rational(1, 3)),
        slab.at(t=7),
        geo.Disk((x, y), center=(1, 2), radius=pi),
        geo.Disk((x, y)).boundary(where=x > y),
        geo.PointCloud({x: [0.0, 1.0], y: [1.0, 2.0]}, normals={x: [1.0, 0.0], y: [0.0, 1.0]}),
        geo.Interval(x, 0, 1, periodic=True),
    ]
    for region in regions:
        kind, fields = region.spec
        again = geo.REGIONS[kind](**fields)
        assert again == region
        assert hash(again) == hash(region)
        assert type(again) is type(region)
    assert len(set(regions)) == len(regions)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: geo.Interval(x, 1, 0), "the bounds of x are 1 and 0; the lower must be less"),
        (lambda: geo.Interval(x, 1, 1), "the lower must be less"),
        (lambda: geo.Interval(x, 0, float("nan")), "the upper bound of x is nan"),
        (lambda: geo.Interval(x, -sympy.oo, 0), "the lower bound of x is -oo: it must be a finite real number"),
        (lambda: geo.Interval(x, 0, "1"), "the upper bound of x is '1': it must be a number"),
        (lambda: geo.Interval(x, 0, True), "the upper bound of x is True: it must be a number"),
        (lambda: geo.Interval(x, 0, y), "depends on y; shapes move with time and with coordinates of kind 'parameter'"),
        (lambda: geo.Interval(x, 0, sympy.I), "must be a finite real number"),
        (lambda: geo.Interval("x", 0, 1), r"'x' is no coordinate; make one with phi.coordinate\('x'\)"),
        (lambda: geo.Rectangle((x, 0, 1), (x, 0, 2)), "Rectangle: the coordinate 'x' is given more than once"),
        (lambda: geo.Rectangle((x, 0, 1)), "give two sides, not 1"),
        (lambda: geo.Box((x, 0)), r"each side is \(coordinate, lower, upper\)"),
        (lambda: geo.Box(), "give at least one side"),
        (lambda: geo.Point({}), "Point takes a mapping"),
        (lambda: geo.Point({x: np.inf}), "the value of x is inf"),
    ],
)
def test_nonsense_is_refused_at_once_naming_the_coordinate(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_cube_is_checked():
    with pytest.raises(ValueError, match=r"takes points of the unit cube of shape \(n, 2\), not \(4, 3\)"):
        square.from_cube(jnp.ones((4, 3)) / 2)
    with pytest.raises(ValueError, match="need the coordinate y; given: x"):
        square.contains({"x": np.zeros(2)})
