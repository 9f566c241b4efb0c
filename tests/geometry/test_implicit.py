"""Implicit regions: measures, pieces of the boundary with normals, samples, distances, rules, what is refused."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from sympy import Abs, Eq, Rational, exp, sin, sqrt

import phijax as phi
import phijax.geometry as geo
from phijax._precision import precision_scope
from phijax.formulation.serialization import from_json, to_json
from phijax.geometry import predicate
from phijax.sampling import RegionSampler

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
x, y, z = phi.coordinates("x y z")
t = phi.time("t")
box = phi.Rectangle((x, -2, 2), (y, -2, 2))
cube = phi.Box((x, -1, 1), (y, -1, 1), (z, -1, 1))
unit = phi.Rectangle((x, 0, 1), (y, 0, 1))
CIRCLE = x**2 + y**2 < 1
OFF = (x - 1) ** 2 + y**2 < 1
disk = phi.where(box, CIRCLE)
ellipse = phi.where(box, x**2 / 3 + 2 * y**2 <= 1)
lens = phi.where(box, CIRCLE, OFF)
channel = phi.where(phi.Rectangle((x, -3, 3), (y, -2, 2)), x**2 + y**2 > Rational(1, 4))
corner = phi.where(unit, x**2 + y**2 > Rational(1, 4))
ball = phi.where(cube, x**2 + y**2 + z**2 < Rational(16, 25))
octant = phi.where(phi.Box((x, 0, 1), (y, 0, 1), (z, 0, 1)), x**2 + y**2 + z**2 < Rational(16, 25))
ring = phi.where(cube, x**2 + y**2 + z**2 < Rational(16, 25), x**2 + y**2 > Rational(4, 25))
a, b = np.sqrt(3), np.sqrt(0.5)
# (region, measure, {piece: its measure}, relative error)
KNOWN = {
    "disk": (disk, np.pi, {"x**2 + y**2 < 1": 2 * np.pi}, 1e-8),
    "ellipse": (
        ellipse,
        np.pi * a * b,
        {"x**2/3 + 2*y**2 <= 1": 4 * a * scipy.special.ellipe(1 - (b / a) ** 2)},
        1e-7,
    ),
    "lens": (
        lens,
        2 * np.pi / 3 - np.sqrt(3) / 2,
        {"x**2 + y**2 < 1": 2 * np.pi / 3, "y**2 + (x - 1)**2 < 1": 2 * np.pi / 3},
        1e-8,
    ),
    "channel": (
        channel,
        24 - np.pi / 4,
        {"x**2 + y**2 > 1/4": np.pi, "x-": 4, "x+": 4, "y-": 6, "y+": 6},
        1e-7,
    ),
    "corner": (
        corner,
        1 - np.pi / 16,
        {"x**2 + y**2 > 1/4": np.pi / 4, "x-": 0.5, "x+": 1, "y-": 0.5, "y+": 1},
        1e-8,
    ),
    "ball": (ball, 4 / 3 * np.pi * 0.8**3, {"x**2 + y**2 + z**2 < 16/25": 4 * np.pi * 0.64}, 1e-6),
    "octant": (
        octant,
        np.pi * 0.8**3 / 6,
        {"x**2 + y**2 + z**2 < 16/25": np.pi * 0.32, **dict.fromkeys(["x-", "y-", "z-"], np.pi * 0.16)},
        1e-6,
    ),
    "ring": (
        ring,
        4 / 3 * np.pi * 0.48**1.5,
        {
            "x**2 + y**2 + z**2 < 16/25": 4 * np.pi * 0.8 * np.sqrt(0.48),
            "x**2 + y**2 > 4/25": 1.6 * np.pi * np.sqrt(0.48),
        },
        4e-4,
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_measures_are_the_exact_ones_and_the_boundary_has_the_pieces_that_are_really_there(name):
    region, measure, pieces, rtol = KNOWN[name]
    assert region.measure == pytest.approx(measure, rel=rtol)
    found = {piece: part.measure for piece, part in region.boundary.pieces}
    assert found == pytest.approx(pieces, rel=rtol)


@pytest.mark.parametrize("name", KNOWN)
def test_normals_sum_to_zero_and_to_the_volume(name):
    region, measure, pieces, _ = KNOWN[name]
    d, size = len(region.coordinates), sum(pieces.values())
    rule = region.boundary.quadrature(32)
    rtol = 1e-6 if d == 2 else 4e-4
    for axis in region.names:
        assert np.sum(rule.weights * rule.normals[axis]) == pytest.approx(0, abs=rtol * size)
    flux = sum(np.sum(rule.weights * rule.normals[axis] * rule.coordinates[axis]) for axis in region.names)
    assert flux == pytest.approx(d * measure, rel=rtol)


def test_rules_are_spectral_in_the_plane():
    """Integral of x^2 over the disk is pi/4; over the box without a hole 24 (3) - pi/4 (1/16)."""
    for region, exact in ((disk, np.pi / 4), (channel, 4 * 18 - np.pi / 64)):
        rule = region.quadrature(24)
        assert np.sum(rule.weights * rule.coordinates["x"] ** 2) == pytest.approx(exact, rel=1e-12)
    rule = octant.quadrature(10)
    assert np.sum(rule.weights * rule.coordinates["z"]) == pytest.approx(np.pi * 0.8**4 / 16, rel=1e-5)
    tube = disk * phi.Interval(t, 0, 2)
    assert np.sum((r := tube.quadrature(12)).weights * r.coordinates["t"]) == pytest.approx(2 * np.pi, rel=1e-9)


# ---- points ------------------------------------------------------------------------------------------------------------


def missed(region, at):
    """The least distance of each point from the pieces of the boundary, to the first order."""
    square = sum(column**2 for column in at.values())
    sides = [at[n] - bound for n in at for bound in region.bounds[phi.coordinate(n)]]
    level = {
        lens: [(square - 1) / 2, (square - 2 * at["x"]) / 2],
        corner: [square - 0.25],
        ring: [(square - 0.64) / 1.6, (at["x"] ** 2 + at["y"] ** 2 - 0.16) / 0.8],
        octant: [(square - 0.64) / 1.6],
    }[region]
    return np.min(np.abs([*level, *sides]), axis=0)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("region", [lens, corner, ring, octant], ids=["lens", "corner", "ring", "octant"])
def test_boundary_points_are_on_it_with_outward_normals_in_both_precisions(region, precision):
    d = len(region.coordinates)
    unit = np.random.default_rng(0).uniform(1e-6, 1 - 1e-6, (3000, d)).astype(precision)
    found = [piece.place(unit[:, : d - 1]) for _, piece in region.boundary.pieces if isinstance(piece, geo.LevelSet)]
    for placed in found:
        assert {column.dtype for table in placed for column in table.values()} == {np.dtype(precision)}
        at = {name: column.astype(float) for name, column in placed.coordinates.items()}
        normals = {name: column.astype(float) for name, column in placed.normals.items()}
        rounding = {"float32": 1e-6, "float64": 1e-13}[precision]
        np.testing.assert_allclose(missed(region, at), 0, atol=rounding)
        np.testing.assert_allclose(sum(n**2 for n in normals.values()), 1, atol=4 * rounding)
        holds = lambda by, at=at, normals=normals: predicate.holds(
            region.where, {n: at[n] + by * normals[n] for n in at}
        )
        assert not np.any(holds(1e-3))
        assert np.mean(holds(-1e-3)) > 0.98  # all but those near another piece


def test_as_many_points_as_asked_inside_jit():
    region, precision = lens, "float32"
    with precision_scope(precision):
        inside = jax.jit(RegionSampler(region, "uniform").sample, static_argnums=1)(jax.random.key(0), 500)
        edge = jax.jit(RegionSampler(region.boundary, "uniform").sample, static_argnums=1)(jax.random.key(1), 777)
        assert {leaf.dtype for leaf in jax.tree.leaves((inside, edge))} == {jnp.dtype(precision)}
        assert len(inside.coordinates["x"]) == 500
        assert len(edge.coordinates["x"]) == 777
        assert np.all(region.inside(inside.coordinates))
        at = {name: np.asarray(column, float) for name, column in edge.coordinates.items()}
    np.testing.assert_allclose(missed(region, at), 0, atol=1e-6)


def test_boundary_points_are_uniform_by_arc_length_and_area():
    places = ((np.arange(4000) + 0.5) / 4000)[:, None]
    rim = dict(ellipse.boundary.pieces)["x**2/3 + 2*y**2 <= 1"]
    placed = rim.place(places).coordinates
    angle = np.unwrap(np.arctan2(placed["y"] / b, placed["x"] / a))
    # arc from the angle 0: integral of sqrt(a^2 sin^2 + b^2 cos^2) = a E(angle - pi/2 | m) + a E(m)
    along = a * scipy.special.ellipeinc(angle - np.pi / 2, 1 - (b / a) ** 2)
    steps = np.abs(along - along[0]) / rim.measure
    np.testing.assert_allclose(steps, np.arange(4000) / 4000, atol=1e-6)
    spread = np.stack([(np.arange(2**16) + 0.5) / 2**16, np.arange(2**16) * np.sqrt(2) % 1], 1)
    sphere = np.stack(list(ball.boundary.place(spread).coordinates.values())) / 0.8
    np.testing.assert_allclose(sphere @ sphere.T / sphere.shape[1], np.eye(3) / 3, atol=1e-3)


def test_interior_points_are_uniform():
    spread = np.stack([(np.arange(2**15) + 0.5) / 2**15, np.arange(2**15) * np.sqrt(2) % 1], 1)
    placed = disk.cover.place(spread)
    inside = disk.accept(spread, placed)
    points = {name: column[inside] for name, column in placed.coordinates.items()}
    assert np.mean(inside) == pytest.approx(np.pi / 16, abs=1e-3)
    assert np.mean(points["x"] ** 2) == pytest.approx(1 / 4, abs=2e-3)
    assert np.mean(points["y"] ** 4) == pytest.approx(1 / 8, abs=2e-3)


# ---- distances ---------------------------------------------------------------------------------------------------------


def test_signed_distances_are_those_of_the_shape():
    points = np.random.default_rng(0).uniform(-3, 3, (2, 300))
    at = dict(zip("xy", points, strict=True))
    rectangle = phi.Rectangle((x, -3, 3), (y, -2, 2)).signed_distance(at)
    np.testing.assert_allclose(channel.signed_distance(at), np.maximum(rectangle, 0.5 - np.hypot(*points)), atol=1e-6)
    # the lens: to the arcs, or from above and below to its tips
    tips = np.minimum(*(np.hypot(points[0] - 0.5, points[1] - sign * np.sqrt(0.75)) for sign in (1, -1)))
    found = lens.signed_distance(at)
    right = (points[0] >= 1) & (np.abs(points[1]) <= np.sqrt(3) * points[0])
    np.testing.assert_allclose(found[right], np.hypot(*points)[right] - 1, atol=1e-6)
    above = np.abs(points[0] - 0.5) < 0.2 * (np.abs(points[1]) - np.sqrt(0.75))
    np.testing.assert_allclose(found[above], tips[above], atol=1e-6)


def test_signed_distance_in_space():
    points = np.random.default_rng(1).uniform(-1.5, 1.5, (3, 200))
    at = dict(zip("xyz", points, strict=True))
    np.testing.assert_allclose(ball.signed_distance(at), np.linalg.norm(points, axis=0) - 0.8, atol=1e-5)


# ---- what it is made of ------------------------------------------------------------------------------------------------


def test_half_lines_are_cut_exactly_and_intervals_found():
    assert phi.where(box, x > 0) == phi.Rectangle((x, 0, 2), (y, -2, 2))
    assert phi.where(disk, x > Rational(1, 2)).base == phi.Rectangle((x, Rational(1, 2), 2), (y, -2, 2))
    line = phi.where(phi.Interval(x, 0, 4), x**2 < 2)
    np.testing.assert_allclose(line.ends, (0, np.sqrt(2)), rtol=1e-14)
    waves = phi.where(phi.Interval(x, 0, 10), sin(x) > 0)
    assert waves.measure == pytest.approx(2 * np.pi, rel=1e-12)
    ends = [float(piece.value) for _, piece in waves.boundary.pieces]
    np.testing.assert_allclose(ends, [0, np.pi, 2 * np.pi, 3 * np.pi], atol=1e-12)


def test_a_ball_is_the_box_around_it_and_one_more_inequality():
    half = phi.where(phi.Disk((x, y), radius=2), x**2 < y)
    assert {name for name, _ in half.boundary.pieces} == {"x**2 < y", "x**2 + y**2 < 4"}
    low = np.sqrt((np.sqrt(17) - 1) / 2)  # x where x^2 = y on the circle: y^2 + y = 4
    exact = 2 * (low * np.sqrt(4 - low**2) / 2 + 2 * np.arcsin(low / 2) - low**3 / 3)
    assert half.measure == pytest.approx(exact, rel=1e-8)


def test_corners_of_absolute_values_are_no_hindrance():
    diamond = phi.where(box, Abs(x) + 2 * Abs(y) < 1)
    assert diamond.measure == pytest.approx(1, rel=1e-4)
    assert diamond.boundary.measure == pytest.approx(2 * np.sqrt(5), rel=2e-3)


def test_other_coordinates_are_multiplied():
    heated = disk * phi.Interval(t, 0, 3)
    assert heated.measure == pytest.approx(3 * np.pi, rel=1e-8)
    ((name, rim),) = heated.boundary.pieces
    assert name == "x**2 + y**2 < 1"
    assert rim.measure == pytest.approx(6 * np.pi, rel=1e-8)
    assert heated.at(t=0).measure == pytest.approx(np.pi, rel=1e-8)
    u = phi.field("u", x, y, t)  # a condition on the boundary in space holds at all times
    start = phi.on(heated.at(t=0), Eq(u, 1))
    rim = phi.on(disk.boundary, Eq(u, 0))
    problem = phi.Problem(heated, {"pde": Eq(u.diff(t), phi.laplacian(u)), "start": start, "rim": rim})
    assert "(x**2 + y**2 = 1) x [0, 3]" in str(problem)
    assert problem.constraints["rim"].region.measure == pytest.approx(6 * np.pi, rel=1e-8)
    pillar = phi.where(cube, x**2 + y**2 < Rational(1, 4))
    assert pillar.measure == pytest.approx(np.pi / 2, rel=1e-8)
    sizes = {name: piece.measure for name, piece in pillar.boundary.pieces}
    assert sizes == pytest.approx({"x**2 + y**2 < 1/4": 2 * np.pi, "z-": np.pi / 4, "z+": np.pi / 4}, rel=1e-8)
    rule = pillar.boundary.quadrature(16)
    flux = sum(np.sum(rule.weights * rule.normals[n] * rule.coordinates[n]) for n in pillar.names)
    assert flux == pytest.approx(3 * np.pi / 2, rel=1e-8)
    slice_ = channel.at(x=0)
    assert slice_.measure == pytest.approx(3, rel=1e-12)


def test_a_problem_goes_to_its_file_and_back():
    u = phi.field("u", x, y)
    rim = lens.boundary(where=x > Rational(1, 2))
    problem = phi.Problem(
        lens, {"pde": Eq(phi.laplacian(u), 1), "right": phi.on(rim, Eq(u, 0)), "rest": phi.on(lens.boundary, Eq(u, 0))}
    )
    again = from_json(json.loads(json.dumps(to_json(problem))))
    assert again.fingerprint == problem.fingerprint
    assert again.domain == lens
    assert again.constraints["rest"].region == lens.boundary
    assert str(lens).startswith("[-2, 2] x [-2, 2] where ")


REFUSED = {
    "no inequality": (lambda: phi.where(box, Eq(x, y)), r"Eq\(x, y\) is no inequality; give one or several joined"),
    "an or": (lambda: phi.where(box, CIRCLE | OFF), "is no inequality"),
    "no condition": (lambda: phi.where(box, x), "x is no inequality; give one"),
    "foreign": (lambda: phi.where(box, x < z), "uses z, which is no coordinate"),
    "empty": (lambda: phi.where(box, x**2 + y**2 < -1), "holds nowhere"),
    "cloud": (lambda: phi.where(phi.PointCloud({x: [0.0], y: [1.0]}), x**2 < y), "is no box and no ball"),
    "chart": (lambda: phi.where(phi.Interval(phi.polar("r s")[0], 0, 1), phi.polar("r s")[0] ** 2 < 1 / 2), "polar"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_region_is_refused(name):
    make, message = REFUSED[name]
    with pytest.raises(ValueError, match=message):
        make()


def test_a_boundary_without_a_normal_is_refused_with_the_place():
    crossing = phi.where(box, (x - Rational(1, 3)) * (y + Rational(1, 2)) < 0)
    assert "has no normal at x = 0.3333, y = -0.5, where the gradient vanishes too" in crossing.boundary.faults[0]
    cusp = phi.where(box, y**2 < x**3)
    assert "has no normal at x = " in cusp.boundary.faults[0]
    cone = phi.where(cube, x**2 + y**2 < z**2)
    assert "has no normal at x = 0, y = 0, z = 0" in cone.boundary.faults[0]


def test_a_region_that_moves_is_sampled_and_says_that_its_boundary_is_not_traced():
    moving = phi.where(box * phi.Interval(t, 0, 1), x**2 + y**2 < 1 + t)
    assert moving.measure == pytest.approx(1.5 * np.pi, rel=1e-2)
    assert "its boundary moves with t, and is not traced" in moving.boundary.faults[0]
    front = moving.at(t=1)
    assert front.measure == pytest.approx(2 * np.pi, rel=1e-8)
    wavy = phi.where(box, y < exp(sin(3 * x)) / 2, sqrt(x**2 + y**2) < Rational(3, 2))
    assert len(wavy.boundary.pieces) == 2
