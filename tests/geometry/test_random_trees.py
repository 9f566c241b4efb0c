"""Random trees of up to five operations on random primitives, against shapely in the plane and membership in space."""

import functools
import math

import jax
import numpy as np
import pytest
import shapely
import shapely.affinity
import sympy

import phijax as phi
from phijax._precision import precision_scope
from phijax.sampling import RegionSampler

x, y, z = phi.coordinates("x y z")
R = sympy.Rational
ARC = 4096  # corners of the polygon that stands for a circle
LIMITS = {"x": (-4.0, 4.0), "y": (-4.0, 4.0), "z": (-4.0, 4.0)}


def sampled(region, n, precision="float64", seed=0):
    """Coordinates and normals of n points, drawn by compiled code."""
    with precision_scope(precision):
        draw = jax.jit(lambda key: RegionSampler(region).sample(key, n))
        points = draw(jax.random.key(seed))
        read = lambda table: table and {name: np.asarray(column) for name, column in table.items()}
        return read(points.coordinates), read(points.normals)


def rational(rng, low, high):
    return R(int(rng.integers(round(16 * low), round(16 * high) + 1)), 16)


# In the plane: a region and the same of shapely.


def interval_strip(rng):
    low, high = rational(rng, -1.5, 0), rational(rng, 0.4, 1.5)
    box = phi.Interval(x, low, high) * phi.Interval(y, -R(3, 4), rational(rng, 0, 1))
    (a, b), (c, d) = box.bounds[x], box.bounds[y]
    return box, shapely.box(a, c, b, d)


def disk(rng):
    cx, cy, r = rational(rng, -1, 1), rational(rng, -1, 1), rational(rng, 0.3, 0.9)
    return phi.Disk((x, y), (cx, cy), r), shapely.Point(float(cx), float(cy)).buffer(float(r), quad_segs=ARC // 4)


def ellipse(rng):
    cx, cy, a, b = (rational(rng, *pair) for pair in ((-1, 1), (-1, 1), (0.5, 1.2), (0.3, 0.8)))
    angle = float(rng.uniform(0, 3))
    round_one = shapely.affinity.scale(shapely.Point(0, 0).buffer(1, quad_segs=ARC // 4), float(a), float(b))
    turned = shapely.affinity.rotate(round_one, angle, (0, 0), use_radians=True)
    region = phi.Ellipse((x, y), radii=(a, b)).rotate(angle).translate(x=cx, y=cy)
    return region, shapely.affinity.translate(turned, float(cx), float(cy))


def annulus(rng):
    cx, cy, inner = rational(rng, -1, 1), rational(rng, -1, 1), rational(rng, 0.2, 0.5)
    outer = inner + rational(rng, 0.2, 0.6)
    at = shapely.Point(float(cx), float(cy))
    ring = at.buffer(float(outer), quad_segs=ARC // 4).difference(at.buffer(float(inner), quad_segs=ARC // 4))
    return phi.Annulus((x, y), (cx, cy), inner, outer), ring


def star(rng, corners):
    """A polygon that is seen whole from its middle."""
    angle = np.sort(2 * math.pi * (np.arange(corners) + rng.uniform(0.1, 0.9, corners)) / corners)
    reach = rng.uniform(0.4, 1.1, corners)
    return np.stack([reach * np.cos(angle), reach * np.sin(angle)], axis=1) + rng.uniform(-0.8, 0.8, 2)


def polygon(rng):
    corners = star(rng, int(rng.integers(5, 20)))
    return phi.Polygon((x, y), corners[:: rng.choice([-1, 1])]), shapely.Polygon(corners)


def triangle(rng):
    corners = star(rng, 3)
    return phi.Triangle((x, y), *corners.tolist()), shapely.Polygon(corners)


def implicit(rng):
    """An ellipse by its inequality, cut by the box that holds it."""
    a, b = rational(rng, 0.5, 1.2), rational(rng, 0.3, 0.8)
    cut = rational(rng, 0.2, 0.4)
    box = phi.Rectangle((x, -2, cut), (y, -2, 2))
    whole = shapely.affinity.scale(shapely.Point(0, 0).buffer(1, quad_segs=ARC // 4), float(a), float(b))
    return phi.where(box, (x / a) ** 2 + (y / b) ** 2 < 1), whole.intersection(shapely.box(-2, -2, float(cut), 2))


def turned_box(rng):
    w, h, cx, cy = (rational(rng, *pair) for pair in ((0.4, 1.5), (0.4, 1.5), (-1, 1), (-1, 1)))
    angle = float(rng.uniform(0, 3))
    box = phi.Rectangle((x, 0, w), (y, 0, h)).translate(x=cx, y=cy).rotate(angle)
    plain = shapely.box(float(cx), float(cy), float(cx + w), float(cy + h))
    return box, shapely.affinity.rotate(plain, angle, (0, 0), use_radians=True)


PLANE = (interval_strip, disk, ellipse, annulus, polygon, triangle, implicit, turned_box)
SHAPELY = {"|": shapely.union, "&": shapely.intersection, "-": shapely.difference}
JOIN = {"|": lambda a, b: a | b, "&": lambda a, b: a & b, "-": lambda a, b: a - b}


def plane_tree(rng, operations):
    """A random tree; now and then it is moved as a whole."""
    if operations == 0:
        return PLANE[rng.integers(len(PLANE))](rng)
    left = int(rng.integers(0, operations))
    one, two = plane_tree(rng, operations - 1 - left), plane_tree(rng, left)
    kind = rng.choice(list(JOIN))
    shape = SHAPELY[kind](one[1], two[1])
    region = JOIN[kind](one[0], two[0])
    if shape.area < 0.05:
        region, shape = one
    if rng.random() < 0.3:
        angle = float(rng.uniform(0, 3))
        region, shape = region.rotate(angle), shapely.affinity.rotate(shape, angle, (0, 0), use_radians=True)
    if rng.random() < 0.2:
        region, shape = region.mirror(x=0), shapely.affinity.scale(shape, -1, 1, origin=(0, 0))
    return region, shape


def check_plane(region, shape, rng):
    size = math.hypot(*(b - a for a, b in region.bounds.values()))
    assert region.measure == pytest.approx(shape.area, rel=3e-5)
    assert region.boundary.measure == pytest.approx(shape.length, rel=1e-4)
    probes = {"x": rng.uniform(-3, 3, 1500), "y": rng.uniform(-3, 3, 1500)}
    clear = shapely.distance(shapely.points(probes["x"], probes["y"]), shape.boundary) > 2e-5
    inside = shapely.contains_xy(shape, probes["x"], probes["y"])
    assert np.array_equal((region.signed_distance(probes) < 0)[clear], inside[clear])
    assert np.array_equal(region.contains(probes)[clear], inside[clear])
    rule = region.boundary.quadrature(48)
    flux = [np.sum(rule.weights * rule.normals[name]) for name in "xy"]
    assert math.hypot(*flux) < 1e-5 * shape.length
    turned = sum(np.sum(rule.weights * rule.normals[name] * rule.coordinates[name]) for name in "xy")
    assert turned == pytest.approx(2 * shape.area, rel=1e-4)
    assert float(np.sum(region.quadrature(4).weights)) == pytest.approx(shape.area, rel=3e-3)
    return size


def check_edge(region, names, precision, size, n=400):
    """Points of the boundary are on it, with unit normals outward; points inside are inside, as many as asked."""
    inner, _ = sampled(region, n + 1, precision)
    assert all(len(inner[name]) == n + 1 for name in names)
    wide = {name: inner[name].astype(np.float64) for name in names}
    eps = 0.0 if precision == "float64" else 1e-6 * size
    assert np.all(region.signed_distance(wide) <= eps)
    edge, normals = sampled(region.boundary, n, precision)
    assert all(len(edge[name]) == n for name in names)
    wide = {name: edge[name].astype(np.float64) for name in names}
    assert np.max(np.abs(region.signed_distance(wide))) < 1e-6 * size
    length = np.sqrt(sum(normals[name].astype(np.float64) ** 2 for name in names))
    assert np.max(np.abs(length - 1)) < 1e-6
    step = lambda sign: {name: wide[name] + sign * 1e-5 * size * normals[name] for name in names}
    assert np.mean(region.contains(step(-1))) > 0.985
    assert np.mean(region.contains(step(1))) < 0.015


@pytest.mark.parametrize(("stream", "seed"), [(7, 3), (7, 6), (7, 8), (11, 19)])  # of up to five operations, and quick
def test_plane_trees(stream, seed):
    rng = np.random.default_rng([stream, seed])
    region, shape = plane_tree(rng, 1 + seed % 5)
    size = check_plane(region, shape, rng)
    if seed == 8:
        check_edge(region, "xy", "float64", size)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_many_plane_trees(seed):
    rng = np.random.default_rng([11, seed])
    region, shape = plane_tree(rng, 1 + seed % 5)
    size = check_plane(region, shape, rng)
    check_edge(region, "xy", ("float64", "float32")[seed % 2], size)


# In space: a region and a function that says what is in it.


def box3(rng):
    ends = [(rational(rng, -1, 0), rational(rng, 0.3, 1)) for _ in range(3)]
    member = lambda p: np.all([(p[c] > a) & (p[c] < b) for c, (a, b) in zip("xyz", np.float64(ends), strict=True)], 0)
    return phi.Box(*((s, *pair) for s, pair in zip((x, y, z), ends, strict=True))), member


def ball(rng):
    center, r = [rational(rng, -0.5, 0.5) for _ in range(3)], rational(rng, 0.4, 0.9)
    at = np.float64(center)
    return phi.Ball(
        (x, y, z), center, r
    ), lambda p: sum((p[c] - m) ** 2 for c, m in zip("xyz", at, strict=True)) < float(r) ** 2


def cylinder(rng):
    r, low, high = rational(rng, 0.3, 0.7), rational(rng, -1, -0.3), rational(rng, 0.3, 1)
    member = lambda p: (p["x"] ** 2 + p["y"] ** 2 < float(r) ** 2) & (p["z"] > float(low)) & (p["z"] < float(high))
    return phi.Cylinder((x, y, z), radius=r, lower=low, upper=high), member


def ellipsoid(rng):
    radii = [rational(rng, 0.4, 1) for _ in range(3)]
    member = lambda p: sum((p[c] / float(r)) ** 2 for c, r in zip("xyz", radii, strict=True)) < 1
    return phi.Ellipsoid((x, y, z), radii=radii), member


def tetrahedron(rng):
    corners = np.array([[-1, -1, -1], [1, 1, -1], [1, -1, 1], [-1, 1, 1]]) * 0.8 + rng.uniform(-0.3, 0.3, (4, 3))
    inverse = np.linalg.inv(np.vstack([corners.T, np.ones(4)]))

    def member(p):
        rows = np.stack([p["x"], p["y"], p["z"], np.ones_like(p["x"])])
        return np.all(inverse @ rows > 0, axis=0)

    return corners, member


def simplex(rng):
    corners, member = tetrahedron(rng)
    return phi.Simplex((x, y, z), corners.tolist()), member


def solid(rng):
    corners, member = tetrahedron(rng)
    return phi.Solid((x, y, z), corners, [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]), member


SPACE = (box3, ball, cylinder, ellipsoid, simplex, solid)
MEMBERS = {
    "|": lambda f, g: lambda p: f(p) | g(p),
    "&": lambda f, g: lambda p: f(p) & g(p),
    "-": lambda f, g: lambda p: f(p) & ~g(p),
}


def space_tree(rng, operations):
    if operations == 0:
        return SPACE[rng.integers(len(SPACE))](rng)
    left = int(rng.integers(0, operations))
    one, two = space_tree(rng, operations - 1 - left), space_tree(rng, left)
    kind = rng.choice(list(JOIN))
    probes = {c: rng.uniform(-1.5, 1.5, 2000) for c in "xyz"}
    member = MEMBERS[kind](one[1], two[1])
    if np.mean(member(probes)) < 0.01:
        return one
    region = JOIN[kind](one[0], two[0])
    if rng.random() < 0.2:
        region, member = region.mirror(y=0), functools.partial(lambda f, p: f(p | {"y": -p["y"]}), member)
    return region, member


def check_space(region, member, rng):
    n = 20_000
    probes = {c: rng.uniform(-1.5, 1.5, n) for c in "xyz"}
    truth = member(probes)
    assert np.array_equal(region.contains(probes), truth)
    assert np.array_equal(region.signed_distance(probes) < 0, truth)
    share = truth.mean()
    assert abs(region.measure - 27 * share) < 3.5 * 27 * math.sqrt(share * (1 - share) / n)
    rule = region.boundary.quadrature(4)
    area, names = float(np.sum(rule.weights)), "xyz"
    assert area == pytest.approx(region.boundary.measure, rel=1e-2)
    assert math.hypot(*(np.sum(rule.weights * rule.normals[c]) for c in names)) < 5e-3 * area
    volume = sum(np.sum(rule.weights * rule.normals[c] * rule.coordinates[c]) for c in names) / 3
    assert volume == pytest.approx(region.measure, rel=1e-2)
    return math.hypot(*(b - a for a, b in region.bounds.values()))


@pytest.mark.parametrize("seed", [0, 2])
def test_space_trees(seed):
    rng = np.random.default_rng([13, seed])
    region, member = space_tree(rng, 1 + seed)
    size = check_space(region, member, rng)
    if seed == 2:
        check_edge(region, "xyz", "float32", size)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_many_space_trees(seed):
    rng = np.random.default_rng([17, seed])
    region, member = space_tree(rng, 1 + seed % 5)
    size = check_space(region, member, rng)
    check_edge(region, "xyz", ("float64", "float32")[seed % 2], size)
