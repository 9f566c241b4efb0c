"""Disk, ball, sphere: in closed form in every dimension."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Rational, Symbol, sqrt, symbols

import phijax.geometry as geo
from phijax._precision import precision_scope
from phijax.sampling.unit import draw
from phijax.symbolic import coordinates, time

x, y, z = coordinates("x y z")
t = time("t")
disk = geo.Disk((x, y), center=(1, -2), radius=3)


def points(region, n=4096, precision="float64", method="sobol"):
    with precision_scope(precision):
        unit = draw(method, jax.random.key(1), n, region.cube_dimension)
        return jax.tree.map(np.asarray, region.from_cube(unit))


def offsets(region, placed):
    """Offsets from the center in radii, (n, d)."""
    center, radius = [float(c) for c in region.center], float(region.radius)
    return (np.stack([placed.coordinates[name] for name in region.names], 1) - center) / radius


def test_measures_of_balls_and_spheres():
    ball = geo.Ball((x, y, z), radius=2)
    assert disk.measure == pytest.approx(9 * np.pi, rel=1e-14)
    assert disk.boundary.measure == pytest.approx(6 * np.pi, rel=1e-14)
    assert ball.measure == pytest.approx(32 * np.pi / 3, rel=1e-14)
    assert ball.boundary.measure == pytest.approx(16 * np.pi, rel=1e-14)
    assert geo.Ball(symbols("a:5")).measure == pytest.approx(8 * np.pi**2 / 15, rel=1e-14)


@pytest.mark.parametrize("d", [2, 3, 4, 5, 8])
def test_ball_is_uniform_in_every_dimension(d):
    """Of the uniform law on the unit ball: E x_i^2 = 1/(d+2), E x_i^4 = 3/((d+2)(d+4)), E x_i^2 x_j^2 a third of it."""
    ball = geo.Ball(symbols(f"a:{d}"), center=range(d), radius=2)
    moved = offsets(ball, points(ball, 2**15))
    assert np.all((moved**2).sum(1) < 1)
    second = moved.T @ moved / len(moved)
    np.testing.assert_allclose(second, np.eye(d) / (d + 2), atol=2e-3)
    fourth = (moved**2).T @ moved**2 / len(moved)
    np.testing.assert_allclose(fourth, (1 + 2 * np.eye(d)) / ((d + 2) * (d + 4)), atol=2e-3)
    np.testing.assert_allclose(moved.mean(0), 0, atol=2e-3)
    radius = np.sqrt((moved**2).sum(1))
    assert np.mean(radius < 0.5 ** (1 / d)) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("d", [2, 3, 4, 5, 8])
def test_sphere_is_uniform_and_its_normal_is_the_direction(d):
    sphere = geo.Sphere(symbols(f"a:{d}"), center=range(d), radius=2)
    assert sphere.cube_dimension == d - 1
    placed = points(sphere, 2**15)
    moved = offsets(sphere, placed)
    np.testing.assert_allclose((moved**2).sum(1), 1, atol=1e-14)
    np.testing.assert_allclose(np.stack([placed.normals[s] for s in sphere.names], 1), moved, atol=1e-13)
    np.testing.assert_allclose(moved.T @ moved / len(moved), np.eye(d) / d, atol=2e-3)
    fourth = (moved**2).T @ moved**2 / len(moved)
    np.testing.assert_allclose(fourth, (1 + 2 * np.eye(d)) / (d * (d + 2)), atol=2e-3)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(
    "ball",
    [
        geo.Disk((x, y)),
        geo.Disk((x, y), center=(1000, -1000), radius=1),
        geo.Ball(symbols("a:40"), radius=Rational(1, 3)),
    ],
)
def test_points_are_strictly_inside_the_ball(precision, ball):
    placed = points(ball, 2048, precision)
    with precision_scope(precision):
        distance = ball.signed_distance({name: jnp.asarray(c) for name, c in placed.coordinates.items()})
        assert distance.dtype == precision
        assert np.all(np.asarray(distance) < 0)


def test_a_disk_too_small_for_single_precision_at_its_center_is_refused():
    with pytest.raises(ValueError, match="too small for float32 at that center; use precision='float64'"):
        points(geo.Disk((x, y), center=(10**6, 0), radius=Rational(1, 100)), precision="float32")


def test_forty_dimensional_ball_and_sphere():
    ball = geo.Ball(symbols("a:40"))
    moved = offsets(ball, points(ball, 2000, "float32"))
    assert np.mean((moved**2).sum(1)) == pytest.approx(40 / 42, rel=1e-3)
    sphere = points(ball.boundary, 2000, "float32")
    lengths = sum(column**2 for column in sphere.normals.values())
    np.testing.assert_allclose(lengths, 1, atol=2e-5)


def test_signed_distance_of_ball_and_cylinder():
    given = {"x": np.array([1.0, 1.0, 7.0]), "y": np.array([-2.0, 4.0, -2.0])}
    np.testing.assert_allclose(disk.signed_distance(given), [-3, 3, 3])
    cylinder = geo.Disk((x, y)) * geo.Interval(z, 0, 1)
    at = {"x": np.array([0.0, 4.0, 0.9]), "y": np.zeros(3), "z": np.array([0.5, 5.0, 0.5])}
    np.testing.assert_allclose(cylinder.signed_distance(at), [-0.5, 5.0, -0.1], atol=1e-14)


def test_a_slice_of_a_ball_is_a_lower_ball():
    ball = geo.Ball((x, y, z), radius=2)
    cut = ball.at(y=1)
    assert cut.fixed == {y: 1}
    assert geo.Ball((x, z), radius=sqrt(3)) in cut.factors
    assert cut.measure == pytest.approx(3 * np.pi)
    line = geo.Disk((x, y)).at(x=Rational(3, 5))
    assert line.bounds == {x: (0.6, 0.6), y: (-0.8, 0.8)}
    assert ball.at(x=2).count == 1
    assert "x = 3 is outside" in ball.at(x=3).faults[0]
    both = ball.at(x=1, y=1)
    assert both.bounds[z] == pytest.approx((-np.sqrt(2), np.sqrt(2)))


def test_a_round_region_in_time():
    drum = geo.Disk((x, y)) * geo.Interval(t, 0, 2)
    rim = drum.boundary
    assert rim.measure == pytest.approx(4 * np.pi)
    placed = points(rim)
    np.testing.assert_allclose(placed.coordinates["x"] ** 2 + placed.coordinates["y"] ** 2, 1, atol=1e-14)
    np.testing.assert_allclose(placed.normals["x"], placed.coordinates["x"], atol=1e-14)
    assert placed.coordinates["t"].mean() == pytest.approx(1, abs=1e-3)
    assert rim.at(t=0).fixed == {t: 0}
    assert rim(x) == rim


def test_cylinder_has_a_wall_and_two_lids_in_proportion():
    cylinder = geo.Disk((x, y)) * geo.Interval(z, 0, 3)
    assert [name for name, _ in cylinder.boundary.pieces] == ["circle in x, y", "z-", "z+"]
    assert cylinder.boundary.measure == pytest.approx(2 * np.pi * 3 + 2 * np.pi)
    placed = points(cylinder.boundary)
    assert np.mean(placed.normals["z"] == 1) == pytest.approx(1 / 8, abs=1e-3)
    length = sum(placed.normals[name] ** 2 for name in "xyz")
    np.testing.assert_allclose(length, 1, atol=1e-14)
    assert cylinder.side("z+").fixed == {z: 3}
    assert "it has circle in x, y, z-, z+" in cylinder.side("left").faults[0]


def test_a_pinhole_flow_has_no_flux_through_a_cylinder_wall():
    """phi = x (1 + 1/(4 r^2)) about the circle of radius 1/2: d phi / d n = 0 there."""
    wall = points(geo.Disk((x, y), radius=Rational(1, 2)).boundary)
    px, py = wall.coordinates["x"], wall.coordinates["y"]
    r2 = px**2 + py**2
    gradient = 1 + 0.25 / r2 - px**2 / (2 * r2**2), -px * py / (2 * r2**2)
    np.testing.assert_allclose(gradient[0] * wall.normals["x"] + gradient[1] * wall.normals["y"], 0, atol=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: geo.Disk((x, y), radius=0), r"Ball in \(x, y\): the radius is 0; it must be positive"),
        (lambda: geo.Disk((x, y), radius=-1), "it must be positive"),
        (lambda: geo.Disk((x, y), center=(0, 0, 0)), "the center has 3 numbers for 2 coordinates"),
        (lambda: geo.Disk((x, y, z)), "Disk: give two coordinates"),
        (lambda: geo.Ball((x,)), "at least two coordinates; with x use phi.Interval"),
        (lambda: geo.Ball((x, x)), "the coordinate 'x' is given more than once"),
        (lambda: geo.Ball((x, Symbol("y")), center=(0, np.nan)), "the center's y is nan"),
    ],
)
def test_nonsense_is_refused_at_once(make, message):
    with pytest.raises(ValueError, match=message):
        make()
