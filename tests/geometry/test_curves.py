"""Parametric curves and surfaces: lengths and areas, uniform points, normals, distances, storage."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
import sympy
from sympy import Eq, Rational, cos, cosh, pi, sin, sinh

import phijax as phi
import phijax.geometry as geo
from phijax._precision import precision_scope
from phijax.formulation.serialization import from_json, to_json
from phijax.sampling import RegionSampler

x, y, z = phi.coordinates("x y z")
s, q = sympy.symbols("s q")
circle = phi.Curve({x: 3 + 2 * cos(s), y: 2 * sin(s) - 1}, (s, 0, 2 * pi))
ellipse = phi.Curve({x: 2 * cos(s), y: sin(s)}, (s, 0, 2 * pi))
helix = phi.Curve({x: cos(s), y: sin(s), z: s / 2}, (s, 0, 4 * pi))
uneven = phi.Curve({x: sinh(s), y: cosh(s)}, (s, 0, 2))  # speed sqrt(cosh 2s): far from steady
sphere = phi.ParametricSurface(
    {x: 1 + 2 * sin(s) * cos(q), y: 2 * sin(s) * sin(q), z: 2 * cos(s)}, (s, 0, pi), (q, 0, 2 * pi)
)
patch = phi.ParametricSurface({x: sin(s) * cos(q), y: sin(s) * sin(q), z: cos(s)}, (s, 0, pi / 3), (q, 0, pi / 2))
torus = phi.ParametricSurface(
    {x: (3 + cos(s)) * cos(q), y: (3 + cos(s)) * sin(q), z: sin(s)}, (s, 0, 2 * pi), (q, 0, 2 * pi), flip=True
)


def middles(region, n):
    """The region's points at the middles of n equal cells of the cube, n along each axis."""
    axes = np.meshgrid(*[(np.arange(n) + 0.5) / n] * region.cube_dimension, indexing="ij")
    return region.place(np.stack([axis.ravel() for axis in axes], 1))


def test_lengths_and_areas_are_the_exact_ones():
    assert circle.measure == pytest.approx(4 * np.pi, rel=1e-13)
    assert ellipse.measure == pytest.approx(8 * scipy.special.ellipe(1 - 1 / 4), rel=1e-13)
    assert helix.measure == pytest.approx(4 * np.pi * np.sqrt(1.25), rel=1e-13)
    assert sphere.measure == pytest.approx(16 * np.pi, rel=1e-12)
    assert patch.measure == pytest.approx(np.pi / 4, rel=1e-12)
    assert torus.measure == pytest.approx(12 * np.pi**2, rel=1e-12)


def test_points_of_a_curve_are_uniform_by_arc_length():
    """Equal shares of the length are equal steps: on the ellipse, by the incomplete elliptic integral of SciPy."""
    placed = ellipse.place(np.linspace(0.001, 0.999, 997)[:, None])
    angle = np.arctan2(placed.coordinates["y"], placed.coordinates["x"] / 2)
    # arc length from s = 0: integral of sqrt(4 sin^2 + cos^2) = E(s + pi/2 | 3/4) 2 - E(pi/2 | 3/4) 2
    along = 2 * (scipy.special.ellipeinc(np.mod(angle, 2 * np.pi) - np.pi / 2, 0.75) + scipy.special.ellipe(0.75))
    np.testing.assert_allclose(along / ellipse.measure, np.linspace(0.001, 0.999, 997), atol=1e-9)
    heights = middles(helix, 500).coordinates["z"]
    np.testing.assert_allclose(heights, 2 * np.pi * (np.arange(500) + 0.5) / 500, rtol=1e-9)


def test_a_corner_keeps_the_steps_even():
    """Along |s| and flat beside it: a path of length 2 sqrt(2)."""
    bent = phi.Curve({x: s, y: sympy.Abs(s)}, (s, -1, Rational(1)))
    assert bent.measure == pytest.approx(2 * np.sqrt(2), rel=1e-12)
    np.testing.assert_allclose(middles(bent, 1000).coordinates["x"], -1 + 2 * (np.arange(1000) + 0.5) / 1000, atol=1e-9)


def test_points_of_a_surface_are_uniform_by_area():
    """Moments of the sphere: E x_i^2 = 1/3, E x_i^4 = 1/5, E x_i^2 x_j^2 = 1/15; Archimedes: heights are uniform."""
    placed = middles(sphere, 512).coordinates
    unit = np.stack([(placed["x"] - 1) / 2, placed["y"] / 2, placed["z"] / 2])
    np.testing.assert_allclose(unit @ unit.T / unit.shape[1], np.eye(3) / 3, atol=1e-5)
    np.testing.assert_allclose(unit**2 @ (unit**2).T / unit.shape[1], (1 + 2 * np.eye(3)) / 15, atol=1e-5)
    unit = np.random.default_rng(0).uniform(size=(4096, 2))
    below = (1 - sphere.place(unit).coordinates["z"] / 2) / 2
    np.testing.assert_allclose(below, unit[:, 0], atol=1e-7)
    ring = middles(torus, 256).coordinates  # E of the distance from the axis: (9 + 1/2) / 3
    assert np.mean(np.hypot(ring["x"], ring["y"])) == pytest.approx(9.5 / 3, abs=1e-5)


CLOSED = {"circle": (circle, 2, 4 * np.pi), "ellipse": (ellipse, 2, 2 * np.pi)}
CLOSED |= {"sphere": (sphere, 3, 32 * np.pi / 3), "torus": (torus, 3, 6 * np.pi**2)}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_ones_have_outward_normals_that_sum_to_zero_and_to_the_volume(name):
    region, d, volume = CLOSED[name]
    rule = region.quadrature(40)
    assert rule.weights.sum() == pytest.approx(region.measure, rel=1e-12)
    for axis in region.names:
        assert np.sum(rule.weights * rule.normals[axis]) == pytest.approx(0, abs=1e-12 * region.measure)
    flux = sum(np.sum(rule.weights * rule.normals[axis] * rule.coordinates[axis]) for axis in region.names)
    assert flux == pytest.approx(d * volume, rel=1e-12)


def test_the_side_of_a_plane_curve():
    clockwise = phi.Curve({x: cos(s), y: -sin(s)}, (s, 0, 2 * pi))
    placed = middles(clockwise, 16)
    np.testing.assert_allclose(placed.normals["x"], placed.coordinates["x"], atol=1e-12)
    arc = {x: cos(s), y: sin(s)}
    assert phi.Curve(arc, (s, 0, pi)).normal_coordinates == ()
    left, right = (middles(phi.Curve(arc, (s, 0, pi), normal=side), 16) for side in ("left", "right"))
    np.testing.assert_allclose(right.normals["x"], right.coordinates["x"], atol=1e-12)
    np.testing.assert_allclose(left.normals["y"], -left.coordinates["y"], atol=1e-12)
    assert helix.normal_coordinates == ()


ON_IT = [(ellipse, "float32"), (helix, "float64"), (torus, "float32"), (torus, "float64"), (patch, "float64")]


@pytest.mark.parametrize(("region", "precision"), ON_IT)
def test_points_are_on_it_in_both_precisions_inside_jit(region, precision):
    residual = {
        ellipse: lambda c: [(c["x"] / 2) ** 2 + c["y"] ** 2 - 1],
        helix: lambda c: [c["x"] - np.cos(2 * c["z"]), c["y"] - np.sin(2 * c["z"])],
        torus: lambda c: [(np.hypot(c["x"], c["y"]) - 3) ** 2 + c["z"] ** 2 - 1],
        patch: lambda c: [c["x"] ** 2 + c["y"] ** 2 + c["z"] ** 2 - 1],
    }[region]
    with precision_scope(precision):
        drawn = jax.jit(RegionSampler(region, "uniform").sample, static_argnums=1)(jax.random.key(0), 333)
        assert {leaf.dtype for leaf in jax.tree.leaves(drawn)} == {jnp.dtype(precision)}
        columns = {name: np.asarray(column, float) for name, column in drawn.coordinates.items()}
        assert {len(column) for column in columns.values()} == {333}
        rounding = {"float32": 6e-6, "float64": 1e-13}[precision]
        for difference in residual(columns):
            np.testing.assert_allclose(difference, 0, atol=rounding)
        if region.has_normals:
            length = sum(np.asarray(n, float) ** 2 for n in drawn.normals.values())
            np.testing.assert_allclose(length, 1, atol=rounding)
        if region in (ellipse, torus) and precision == "float32":
            assert np.all(region.contains(drawn.coordinates))


def test_distances_are_those_to_the_foot_of_the_normal():
    points = np.random.default_rng(0).uniform(-4, 6, (3, 400))
    at = dict(zip("xyz", points, strict=True))
    fine = np.stack([2 * np.cos(t := np.linspace(0, 2 * np.pi, 200_001)), np.sin(t)])
    brute = [np.min(np.hypot(fine[0] - a, fine[1] - b)) for a, b in points[:2, :60].T]
    found = ellipse.signed_distance({"x": points[0, :60], "y": points[1, :60]})
    np.testing.assert_allclose(found, brute, atol=1e-8)
    assert np.all(found <= np.array(brute) + 1e-12)
    ring = np.hypot(np.hypot(points[0], points[1]) - 3, points[2])
    np.testing.assert_allclose(torus.signed_distance(at), np.abs(ring - 1), atol=1e-9)


def test_bounds_hold_the_set_tightly():
    bounds = ellipse.bounds
    np.testing.assert_allclose([bounds[x], bounds[y]], [(-2, 2), (-1, 1)], atol=1e-12)
    np.testing.assert_allclose([torus.bounds[s] for s in (x, y, z)], [(-4, 4), (-4, 4), (-1, 1)], atol=1e-10)
    np.testing.assert_allclose(uneven.bounds[x], (0, np.sinh(2)), atol=1e-12)


def test_a_problem_on_a_curve_goes_to_its_file_and_back():
    u = phi.field("u", x, y)
    t = phi.time("t")
    assert geo.REGIONS["Curve"](**circle.spec[1]) == circle
    wall = phi.on(circle, Eq(phi.normal_derivative(u), 1))
    problem = phi.Problem(phi.Disk((x, y), (3, -1), 2), {"pde": Eq(phi.laplacian(u), 1), "wall": wall})
    again = from_json(json.loads(json.dumps(to_json(problem))))
    assert again.fingerprint == problem.fingerprint
    assert again.constraints["wall"].region == circle
    assert geo.REGIONS["ParametricSurface"](**torus.spec[1]) == torus
    tube = circle * phi.Interval(t, 0, 1)
    assert tube.measure == pytest.approx(4 * np.pi)
    assert tube.normal_coordinates == (x, y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: phi.Curve({x: cos(s), y: q}, (s, 0, 1)), "y = q depends on q, which is no parameter"),
        (lambda: phi.Curve({x: s}, (s, 0, 1)), "give 2 or 3 coordinates, not 1"),
        (lambda: phi.Curve({x: s, y: s}, (s, 1, 0)), "the bounds of s are 1 and 0; the lower must be less"),
        (lambda: phi.Curve({x: s, y: s}, (s, 0)), r"a parameter is \(symbol, lower, upper\)"),
        (lambda: phi.Curve({x: s, y: s}, (s, 0, 1), normal="up"), "choose 'left', 'right' or None"),
        (lambda: phi.Curve({x: 0, y: 1}, (s, 0, 1)), "has the length 0"),
        (lambda: phi.Curve({x: sympy.gamma(s), y: s}, (s, 1, 2)), "holds gamma.s., which can't be evaluated"),
        (lambda: phi.ParametricSurface({x: s, y: q, z: 0}, (s, 0, 1), (s, 0, 1)), "name of a coordinate or of another"),
        (lambda: phi.Curve(dict(zip(phi.polar("r a"), (s, s), strict=True)), (s, 0, 1)), "is of a polar chart"),
    ],
)
def test_what_is_no_curve_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
