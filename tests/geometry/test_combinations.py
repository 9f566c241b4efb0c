"""Union, intersection, difference and motions against shapely in the plane and against plain tests of membership in space."""

import math

import jax
import numpy as np
import pytest
import shapely
import shapely.affinity
import sympy
from scipy.special import ellipe

import phijax as phi
from phijax._precision import precision_scope
from phijax.geometry import REGIONS
from phijax.sampling import RegionSampler

x, y, z = phi.coordinates("x y z")
t = phi.time("t")
ARC = 4096  # corners of the polygon that stands for a circle


def drawn(region, n, seed=0):
    """Columns of points, in float64."""
    with precision_scope("float64"):
        points = RegionSampler(region).sample(jax.random.key(seed), n)
        column = lambda table: table and {name: np.asarray(values) for name, values in table.items()}
        return column(points.coordinates), column(points.normals)


def closed_sums(region, points=24):
    """(|sum of w n|, sum of w x.n over the dimension) of the whole boundary's rule."""
    rule = region.boundary.quadrature(points)
    names = [s.name for s in region.coordinates if s.name in rule.normals]
    flux = math.hypot(*(np.sum(rule.weights * rule.normals[name]) for name in names))
    return flux, sum(np.sum(rule.weights * rule.normals[n] * rule.coordinates[n]) for n in names) / len(names)


def random_plane_shape(rng, depth):
    """A random tree of operations, and the same of shapely."""
    if depth == 0:
        cx, cy = (sympy.Rational(int(k), 16) for k in rng.integers(-16, 17, 2))
        if rng.random() < 0.5:
            r = sympy.Rational(int(rng.integers(5, 15)), 16)
            ball = shapely.Point(float(cx), float(cy)).buffer(float(r), quad_segs=ARC // 4)
            return phi.Disk((x, y), (cx, cy), r), ball
        w, h = (sympy.Rational(int(k), 16) for k in rng.integers(6, 24, 2))
        angle = float(rng.uniform(0, 3))
        box = phi.Rectangle((x, 0, w), (y, 0, h)).translate(x=cx, y=cy).rotate(angle)
        return box, shapely.affinity.rotate(
            shapely.box(float(cx), float(cy), float(cx + w), float(cy + h)), angle, (0, 0), use_radians=True
        )
    first, other = random_plane_shape(rng, depth - 1), random_plane_shape(rng, int(rng.integers(0, depth)))
    kind = rng.choice(["|", "&", "-"])
    both = {
        "|": lambda a, b: (a[0] | b[0], a[1].union(b[1])),
        "&": lambda a, b: (a[0] & b[0], a[1].intersection(b[1])),
        "-": lambda a, b: (a[0] - b[0], a[1].difference(b[1])),
    }[kind](first, other)
    return both if both[1].area > 0.05 else first


@pytest.mark.parametrize("seed", range(24))
def test_random_plane_trees_agree_with_shapely(seed):
    rng = np.random.default_rng(seed)
    region, shape = random_plane_shape(rng, 1 + seed % 4)
    assert region.measure == pytest.approx(shape.area, rel=2e-5)
    assert region.boundary.measure == pytest.approx(shape.length, rel=2e-5)
    flux, volume = closed_sums(region)
    assert flux < 1e-9
    assert volume == pytest.approx(shape.area, rel=2e-5)
    probes = {"x": rng.uniform(-3, 3, 2000), "y": rng.uniform(-3, 3, 2000)}
    distance = region.signed_distance(probes)
    clear = shapely.distance(shapely.points(probes["x"], probes["y"]), shape.boundary) > 1e-5
    inside = shapely.contains_xy(shape, probes["x"], probes["y"])
    assert np.array_equal((distance < 0)[clear], inside[clear])
    assert np.array_equal(region.contains(probes)[clear], inside[clear])


def test_points_of_a_plane_tree_are_inside_and_on_its_boundary_with_unit_normals_outward():
    plate = phi.Rectangle((x, -1, 1), (y, -1, 1)) | phi.Disk((x, y), (1, 0), sympy.Rational(1, 2))
    region = plate - phi.Ellipse((x, y), (0, 0), (sympy.Rational(3, 4), sympy.Rational(1, 4))).rotate(0.3)
    inner, _ = drawn(region, 3000)
    assert len(inner["x"]) == 3000
    assert np.all(region.signed_distance(inner) < 0)
    edge, normals = drawn(region.boundary, 3000)
    assert np.max(np.abs(region.signed_distance(edge))) < 1e-12
    assert np.max(np.abs(np.hypot(normals["x"], normals["y"]) - 1)) < 1e-12
    step = lambda size: {name: edge[name] + size * normals[name] for name in "xy"}
    corner = np.abs(np.hypot(np.abs(edge["x"]) - 1, np.abs(edge["y"]) - 0.5)) < 1e-3
    assert np.all(region.contains(step(-1e-6))[~corner])
    assert not np.any(region.contains(step(1e-6))[~corner])


def test_a_channel_with_a_cylinder_has_the_area_length_and_normals_of_the_formulas():
    channel = phi.Rectangle((x, -3, 3), (y, -2, 2)) - phi.Disk((x, y), (0, 0), 0.5).named("cylinder")
    assert channel.measure == pytest.approx(24 - math.pi / 4, rel=1e-14)
    assert channel.boundary.measure == pytest.approx(20 + math.pi, rel=1e-14)
    place, normals = drawn(channel.side("cylinder"), 500)
    for name in "xy":
        np.testing.assert_allclose(normals[name], -place[name] / 0.5, atol=1e-12)


def test_touching_squares_have_no_point_on_the_side_that_they_share():
    both = phi.Rectangle((x, 0, 1), (y, 0, 1)) | phi.Rectangle((x, 1, 2), (y, 0, 1))
    assert both.measure == 2
    assert both.boundary.measure == 6
    place, _ = drawn(both.boundary, 2000)
    assert not np.any((place["x"] == 1) & (place["y"] > 0) & (place["y"] < 1))


@pytest.mark.parametrize(
    ("make", "area", "length"),
    [
        (lambda a: a - phi.Rectangle((x, 0, 2), (y, 1, 2)), 2, 6),  # shares a side, from inside, with three edges
        (lambda a: a - phi.Rectangle((x, 2, 3), (y, 0, 2)), 4, 8),  # touches from outside
        (lambda a: a & phi.Rectangle((x, 0, 2), (y, 0, 1)), 2, 6),
        (lambda a: a | phi.Rectangle((x, 0, 2), (y, 0, 1)), 4, 8),
        (lambda a: a | a, 4, 8),
        (lambda a: a & a, 4, 8),
    ],
)
def test_coincident_sides_are_counted_once(make, area, length):
    region = make(phi.Rectangle((x, 0, 2), (y, 0, 2)))
    assert region.measure == pytest.approx(area, rel=1e-12)
    assert region.boundary.measure == pytest.approx(length, rel=1e-12)


def test_names_last_through_the_algebra_products_and_motions():
    plate = phi.Rectangle((x, 0, 2), (y, 0, 1)).named(left="inlet", right="outlet", bottom="walls", top="walls")
    whole = plate - phi.Disk((x, y), (1, 0.5), 0.25).named("hole")
    assert [whole.side(name).measure for name in ("inlet", "outlet", "walls")] == [1, 1, 4]
    assert whole.side("hole").measure == pytest.approx(math.pi / 2)
    assert whole.side("left") == whole.side("inlet")
    moved = whole.rotate(0.5).translate(x=3)
    assert moved.side("walls").measure == pytest.approx(4)
    timed = whole * phi.Interval(t, 0, 3)
    assert timed.side("hole").measure == pytest.approx(3 * math.pi / 2)
    (fault,) = whole.side("hull").faults
    assert "there is no such side; did you mean 'hole'?" in fault
    with pytest.raises(ValueError, match=r"named: .* has no side 'upper'"):
        plate.named(upper="x")


def test_a_hole_and_an_outline_are_told_apart():
    quadrilateral = phi.Rectangle((x, 0, 1), (y, 0, 1)).rotate(0.4).scale(0.5).named("hole")
    region = phi.Rectangle((x, -1, 1), (y, -1, 1)).named("outer") - quadrilateral
    hole, _ = drawn(region.side("hole"), 400)
    outer, _ = drawn(region.side("outer"), 400)
    assert np.max(np.abs(quadrilateral.boundary.signed_distance(hole))) < 1e-12
    assert np.min(np.maximum(np.abs(outer["x"]), np.abs(outer["y"]))) == 1
    assert region.side("hole").measure == pytest.approx(2)
    assert region.side("outer").measure == 8
    assert region.boundary.measure == pytest.approx(10)


MEMBERSHIP = {
    "box": lambda p: np.max([np.abs(p[c] - 0.5) for c in "xyz"], axis=0) < 0.5,
    "ball": lambda p: p["x"] ** 2 + p["y"] ** 2 + p["z"] ** 2 < 0.36,
    "cylinder": lambda p: ((p["x"] - 0.5) ** 2 + (p["y"] - 0.5) ** 2 < 0.09) & (p["z"] > -1) & (p["z"] < 2),
    "ellipsoid": lambda p: (p["x"] / 0.9) ** 2 + (p["y"] / 0.5) ** 2 + (p["z"] / 0.7) ** 2 < 1,
}
SOLIDS = {
    "box": phi.Box((x, 0, 1), (y, 0, 1), (z, 0, 1)),
    "ball": phi.Ball((x, y, z), radius=0.6),
    "cylinder": phi.Cylinder((x, y, z), (0.5, 0.5), 0.3, -1, 2),
    "ellipsoid": phi.Ellipsoid((x, y, z), radii=(0.9, 0.5, 0.7)),
}


@pytest.mark.parametrize(
    ("tree", "member"),
    [
        (lambda s: s["box"] - s["ball"], lambda m: m["box"] & ~m["ball"]),
        (lambda s: (s["box"] | s["ball"]) - s["cylinder"], lambda m: (m["box"] | m["ball"]) & ~m["cylinder"]),
        (lambda s: (s["ellipsoid"] & s["box"]) | s["cylinder"], lambda m: (m["ellipsoid"] & m["box"]) | m["cylinder"]),
        (
            lambda s: ((s["ball"] | s["ellipsoid"]) - s["box"]) & s["ellipsoid"],
            lambda m: (m["ball"] | m["ellipsoid"]) & ~m["box"] & m["ellipsoid"],
        ),
    ],
)
def test_trees_in_space_agree_with_membership(tree, member):
    region, n = tree(SOLIDS), 40_000
    rng = np.random.default_rng(0)
    probes = {c: rng.uniform(-1.1, 2.1, n) for c in "xyz"}
    truth = member({name: test(probes) for name, test in MEMBERSHIP.items()})
    assert np.array_equal(region.contains(probes), truth)
    assert np.array_equal(region.signed_distance(probes) < 0, truth)
    share = truth.mean()
    error = 3.2**3 * math.sqrt(share * (1 - share) / n)
    assert abs(region.measure - 3.2**3 * share) < 3 * error
    assert float(np.sum(region.quadrature(6).weights)) == pytest.approx(region.measure, rel=5e-3)
    edge, normals = drawn(region.boundary, 2000)
    assert np.max(np.abs(region.signed_distance(edge))) < 1e-9
    length = np.sqrt(sum(normals[c] ** 2 for c in "xyz"))
    assert np.max(np.abs(length - 1)) < 1e-12
    beside = lambda size: region.contains({c: edge[c] + size * normals[c] for c in "xyz"})
    assert np.mean(beside(-1e-7)) > 0.999
    assert np.mean(beside(1e-7)) < 0.001
    flux, volume = closed_sums(region, 4)
    assert flux < 2e-3 * region.boundary.measure
    assert volume == pytest.approx(region.measure, rel=3e-3)


def test_an_ellipse_has_its_length_area_distance_and_points_uniform_by_length():
    ellipse = phi.Ellipse((x, y), center=(1, 0), radii=(2, 1)).rotate(sympy.pi / 6)
    assert ellipse.measure == pytest.approx(2 * math.pi, rel=1e-14)
    assert ellipse.boundary.measure == pytest.approx(8 * ellipe(3 / 4), rel=1e-12)
    own = phi.Ellipse((x, y), radii=(2, 1))
    rng = np.random.default_rng(0)
    probes = rng.uniform(-3, 3, (200, 2))
    angle = np.linspace(0, 2 * math.pi, 200_001)
    near = [np.min(np.hypot(px - 2 * np.cos(angle), py - np.sin(angle))) for px, py in probes]
    sign = np.where((probes[:, 0] / 2) ** 2 + probes[:, 1] ** 2 < 1, -1, 1)
    np.testing.assert_allclose(own.signed_distance({"x": probes[:, 0], "y": probes[:, 1]}), sign * near, atol=1e-7)
    place, _ = drawn(own.boundary, 4096)
    fine = np.linspace(0, 2 * math.pi, 1_000_001)
    speed = np.hypot(2 * np.sin(fine), np.cos(fine))
    mean_square = np.sum(speed * (2 * np.cos(fine)) ** 2) / np.sum(speed)
    assert np.mean(place["x"] ** 2) == pytest.approx(mean_square, rel=1e-4)  # 0.03 by independent points


def test_points_on_an_ellipsoid_are_uniform_by_area():
    shell = phi.Ellipsoid((x, y, z), radii=(1, 2, 3)).boundary
    assert shell.measure == pytest.approx(48.8821463026, rel=1e-8)
    place, _ = drawn(shell, 20_000)
    nodes, weights = np.polynomial.legendre.leggauss(400)
    polar, turn = np.arccos(nodes), 2 * math.pi * (np.arange(400) + 0.5) / 400
    a = np.sin(polar)[:, None] * np.cos(turn), np.sin(polar)[:, None] * np.sin(turn), np.cos(polar)[:, None]
    area = 6 * np.sqrt((a[0] / 1) ** 2 + (a[1] / 2) ** 2 + (a[2] / 3) ** 2) * weights[:, None]
    assert np.mean(place["z"] ** 2) == pytest.approx(np.sum(area * 9 * a[2] ** 2) / np.sum(area), rel=0.02)


def test_motions_of_boxes_balls_and_clouds_are_again_such():
    box = phi.Rectangle((x, 0, 1), (y, 0, 2))
    assert box.translate(x=1) == phi.Rectangle((x, 1, 2), (y, 0, 2))
    assert box.scale(x=2, y=sympy.Rational(1, 2)) == phi.Rectangle((x, 0, 2), (y, 0, 1))
    assert box.mirror(x=0) == phi.Rectangle((x, -1, 0), (y, 0, 2))
    assert phi.Disk((x, y)).rotate(1, about=(1, 0)).scale(3).radius == 3
    turned = phi.PointCloud({x: [1.0, 0.0], y: [0.0, 1.0]}).rotate(sympy.pi / 2)
    np.testing.assert_allclose(turned.columns[x], [0, -1], atol=1e-15)
    rod = phi.Box((x, 0, 3), (y, 0, 1), (z, 0, 1)).rotate(sympy.pi / 2, axis="z")
    assert rod.bounds[x] == pytest.approx((-1, 0))
    assert rod.bounds[y] == pytest.approx((0, 3))
    assert phi.Rectangle((x, 0, 0.1), (y, 0, 1)).repeat(5, x=0.2).boundary.measure == pytest.approx(11)


def test_a_front_opens_its_domain():
    region = phi.Interval(x, 0, t) * phi.Interval(t, 0, 1)
    assert region.measure == pytest.approx(0.5)
    place, _ = drawn(region, 4000)
    assert np.all(place["x"] <= place["t"])
    assert np.all(place["x"] > 0)
    assert np.mean(place["t"]) == pytest.approx(2 / 3, abs=0.01)
    assert np.mean(place["x"]) == pytest.approx(1 / 3, abs=0.01)
    front, normals = drawn(region.side("right"), 100)
    np.testing.assert_array_equal(front["x"], front["t"])
    np.testing.assert_array_equal(normals["x"], 1)
    assert region.at(t=sympy.Rational(1, 2)) == phi.Interval(x, 0, sympy.Rational(1, 2)) * phi.Point(
        {t: sympy.Rational(1, 2)}
    )
    (fault,) = region.at(t=0).faults
    assert "at t = 0, {t*x for [0, 1] in x} has no extent" in fault


def test_the_top_of_a_slab_of_parametric_height_is_at_its_height():
    height = phi.coordinate("L", kind="parameter")
    slab = phi.Interval(y, 0, height) * phi.Interval(height, 1, 2)
    top, _ = drawn(slab.side("right"), 200)
    np.testing.assert_array_equal(top["y"], top["L"])
    assert slab.measure == pytest.approx(1.5)


def test_a_disk_that_moves_and_grows_measures_what_it_sweeps():
    radius = sympy.Rational(1, 5) + t / 10
    sweep = phi.Disk((x, y), (t, 0), radius) * phi.Interval(t, 0, 1)
    assert sweep.measure == pytest.approx(math.pi * (0.3**3 - 0.2**3) / 0.3, rel=1e-12)
    assert sweep.boundary.measure == pytest.approx(2 * math.pi * 0.25, rel=1e-12)
    place, _ = drawn(sweep, 2000)
    assert np.all(np.hypot(place["x"] - place["t"], place["y"]) < 0.2 + place["t"] / 10)
    rim, normals = drawn(sweep.boundary, 500)
    np.testing.assert_allclose(normals["y"], rim["y"] / (0.2 + rim["t"] / 10), atol=1e-9)
    around = (phi.Rectangle((x, -1, 2), (y, -1, 1)) - phi.Disk((x, y), (t, 0), 0.2)) * phi.Interval(t, 0, 1)
    assert around.measure == pytest.approx(6 - math.pi * 0.04, rel=1e-6)
    assert around.boundary.measure == pytest.approx(10 + 0.4 * math.pi, rel=1e-3)
    assert around.at(t=0).measure == pytest.approx(6 - math.pi * 0.04, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: phi.Interval(x, 0, 1 - 2 * t) * phi.Interval(t, 0, 1), "has no extent, or a negative one, at t = "),
        (lambda: phi.Disk((x, y), (x, 0), 1), "which depends on x; shapes move with time"),
        (lambda: phi.Disk((x, y)).translate(q=1), "has no space coordinate 'q'"),
        (lambda: phi.Disk((x, y)).scale(x=-1), "the factor along x is -1; it must be positive. Use mirror"),
        (lambda: phi.Interval(x, 0, 1, periodic=True).translate(x=t), "is periodic in x"),
        (lambda: phi.Ellipse((x, y), radii=(1, 0)), "Ellipse: the radius along y is 0; it must be positive"),
        (lambda: phi.Annulus((x, y), inner=2, outer=1), "the inner must be less"),
    ],
)
def test_motions_that_make_no_shape_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_combinations_of_regions_that_do_not_fit_say_so_when_used():
    (fault,) = (phi.Disk((x, y)) - phi.Interval(x, 0, 1)).faults
    assert "the two must be over the same coordinates" in fault
    square = phi.Rectangle((x, 0, 1), (y, 0, 1))
    (fault,) = (square.side("top") | square.side("bottom")).faults
    assert 'by one name, as in plate.named(top="edge", bottom="edge").side("edge")' in fault
    (fault,) = (phi.Disk((x, y)) & phi.Disk((x, y), (5, 0))).faults
    assert "holds no point" in fault


def test_regions_of_every_kind_are_read_back_from_their_fields():
    hole = phi.Disk((x, y), (0, 0), 0.5).named("hole")
    for region in (
        phi.Rectangle((x, -1, 1), (y, -1, 1)).rotate(0.3) - hole,
        phi.Ellipse((x, y), radii=(2, 1)).boundary,
        phi.Ellipsoid((x, y, z), radii=(1, 1, 2)).boundary,
        phi.Interval(x, 0, t) * phi.Interval(t, 0, 1),
        (phi.Box((x, 0, 1), (y, 0, 1), (z, 0, 1)) - phi.Ball((x, y, z))).boundary,
        (phi.Rectangle((x, 0, 1), (y, 0, 1)) - hole).boundary,
    ):
        kind, fields = region.spec
        again = REGIONS[kind](**fields)
        assert again == region
        assert hash(again) == hash(region)
        assert again.measure == region.measure


def test_a_piece_is_renamed_alone_though_it_shares_its_name():
    plate = phi.Rectangle((x, 0, 4), (y, 0, 2)).named("air").named(bottom="chip")
    assert (plate.side("chip").measure, plate.side("air").measure) == (4, 8)
    holes = phi.Rectangle((x, 0, 4), (y, 0, 2)) - phi.Disk((x, y), (1, 1), 0.5) - phi.Disk((x, y), (3, 1), 0.25)
    everywhere = holes.named("all").named(left="inlet")
    assert everywhere.side("inlet").measure == 2
    assert everywhere.side("all").measure == pytest.approx(10 + 1.5 * math.pi)
