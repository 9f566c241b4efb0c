"""Polygons, with holes and from files: against shapely, and exact values."""

import json
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shapely
import sympy
from sympy import Eq, Rational

import phijax as phi
import phijax.geometry as geo
from phijax._precision import precision_scope
from phijax.formulation.serialization import from_json, to_json
from phijax.sampling import RegionSampler
from phijax.symbolic import coordinates, time

x, y = coordinates("x y")
t = time("t")
SQUARE = [(-2, -2), (2, -2), (2, 2), (-2, 2)]
ANGLES = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
ELLIPSE = np.stack([np.cos(ANGLES), 0.3 * np.sin(ANGLES)], axis=1)
pierced = geo.Polygon((x, y), SQUARE, holes=[ELLIPSE])
framed = geo.Polygon((x, y), [(0, 0), (4, 0), (4, 3), (0, 3)], holes=[[(1, 1), (2, 2), (3, 2), (2, 1)]])


def sample(region, n, precision="float64", seed=0):
    with precision_scope(precision):
        drawn = RegionSampler(region).sample(jax.random.key(seed), n)
        return jax.tree.map(np.asarray, (drawn.coordinates, drawn.normals))


def star(seed, corners=24):
    """A random outline that turns once about a point, and as shapely has it."""
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * np.pi, corners))
    radii = rng.uniform(0.4, 1.5, corners)
    ring = radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], 1) + rng.normal(size=2)
    return ring[::-1] if seed % 2 else ring


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_hole_of_two_thousand_corners_is_left_out(precision):
    given, _ = sample(pierced, 20_000, precision)
    assert given["x"].dtype == precision
    assert given["x"].shape == (20_000,)
    inside = shapely.contains_xy(shapely.Polygon(SQUARE, [ELLIPSE]), *(given[n].astype(float) for n in "xy"))
    assert inside.all()
    assert pierced.measure == pytest.approx(16 - 0.3 * np.pi, rel=1e-3)
    assert pierced.measure == pytest.approx(shapely.Polygon(SQUARE, [ELLIPSE]).area, rel=1e-14)
    assert np.mean(given["x"] ** 2) == pytest.approx((64 / 3 - 0.3 * np.pi / 4) / pierced.measure, rel=2e-3)


def test_points_are_spread_by_area_with_low_discrepancy():
    given, _ = sample(framed, 2**14)
    left = shapely.Polygon(framed.vertices, framed.holes).intersection(shapely.box(0, 0, 1.5, 3)).area
    assert np.mean(given["x"] < 1.5) == pytest.approx(left / framed.measure, abs=5e-4)  # at random: 4e-3


def test_normals_of_a_pentagon_listed_clockwise_in_single_precision():
    corners = [(4.129 * np.sin(2 * np.pi * k / 5) + 1 / 3, 4.129 * np.cos(2 * np.pi * k / 5)) for k in range(5)]
    pentagon = geo.Polygon((x, y), corners)
    given, normals = sample(pentagon.boundary, 100, "float32")
    points, outward = (np.stack([table[n] for n in "xy"], 1).astype(float) for table in (given, normals))
    np.testing.assert_allclose(np.linalg.norm(outward, axis=1), 1, atol=1e-6)
    assert not shapely.contains_xy(shapely.Polygon(corners), *(points + 1e-3 * outward).T).any()
    assert shapely.contains_xy(shapely.Polygon(corners), *(points - 1e-3 * outward).T).all()
    rule = pentagon.boundary.quadrature(1)
    assert sum(np.sum(rule.weights * rule.normals[n]) for n in "xy") == pytest.approx(0, abs=1e-13)
    flux = sum(np.sum(rule.weights * rule.normals[n] * rule.coordinates[n]) for n in "xy") / 2
    assert (flux, pentagon.boundary.measure) == pytest.approx((40.538, 24.271), abs=2e-2)
    assert flux == pytest.approx(pentagon.measure, rel=1e-14)


def test_a_hole_and_the_outline_are_pieces_of_their_own():
    outer, hole = framed.side("outer"), framed.side("hole")
    assert {piece.face_name for _, piece in framed.boundary.pieces} == {"outer", "hole"}
    assert outer.measure == 14
    assert hole.measure == pytest.approx(2 + 2 * np.sqrt(2))
    on_outer, _ = sample(outer, 500)
    on_hole, inward = sample(hole, 500)
    frame = shapely.LinearRing(framed.vertices)
    assert shapely.distance(shapely.points(on_outer["x"], on_outer["y"]), frame).max() < 1e-15
    assert shapely.distance(shapely.points(on_hole["x"], on_hole["y"]), frame).min() > 0.9
    assert hole.signed_distance(on_hole).max() < 1e-15
    assert hole.signed_distance(on_outer).min() > 0.9
    assert shapely.contains_xy(
        shapely.Polygon(framed.holes[0]), on_hole["x"] + 1e-6 * inward["x"], on_hole["y"] + 1e-6 * inward["y"]
    ).all()
    both, _ = sample(framed.boundary, 2**12)
    near_hole = hole.signed_distance(both) < 1e-9
    assert near_hole.mean() == pytest.approx(hole.measure / framed.boundary.measure, abs=1e-3)


def test_edges_of_a_short_outline_are_sides_in_the_order_of_the_corners():
    triangle = geo.Triangle((x, y), (0, 0), (0, 1), (1, 0))  # clockwise
    for name, ends, normal in [("edge 0", [(0, 0), (0, 1)], (-1, 0)), ("edge 2", [(1, 0), (0, 0)], (0, -1))]:
        np.testing.assert_array_equal(triangle.side(name).vertices, ends)
        given, normals = sample(triangle.side(name), 8)
        np.testing.assert_array_equal(np.stack([normals[n] for n in "xy"], 1), np.tile(normal, (8, 1)))
        assert np.all(given["x" if normal[0] else "y"] == 0)
    moving = framed * geo.Interval(t, 0, 2)
    assert moving.side("hole edge 1").measure == 2
    assert moving.side("hole edge 1").names == ("x", "y", "t")
    assert "did you mean 'hole edge 3'? (it has edge 0, outer, edge 1" in framed.side("hole edge").faults[0]
    assert "edge 0" not in pierced.side("nothing").faults[0].split("hole")[-1]
    where = framed.boundary(where=x < 0.5)
    assert where.measure == pytest.approx(4, rel=1e-3)
    assert sample(where, 50)[0]["x"].max() < 0.5


def test_many_holes_are_named_by_number():
    holes = [[(i, 0.2), (i + 0.5, 0.2), (i, 0.7)] for i in range(1, 5)]
    comb = geo.Polygon((x, y), [(0, 0), (6, 0), (6, 1), (0, 1)], holes)
    names = [piece.face_name for _, piece in comb.boundary.pieces]
    assert list(dict.fromkeys(names)) == ["outer", "hole 1", "hole 2", "hole 3", "hole 4"]
    assert comb.measure == pytest.approx(6 - 4 / 8)
    given, _ = sample(comb.boundary, 2**12)
    assert np.mean(comb.side("hole 3").signed_distance(given) < 1e-9) == pytest.approx(
        (1 + np.sqrt(0.5)) / comb.boundary.measure, abs=1e-3
    )


@pytest.mark.parametrize("seed", range(6))
def test_random_polygons_agree_with_shapely(seed):
    ring = star(seed)
    ours, theirs = geo.Polygon((x, y), ring), shapely.Polygon(ring)
    rng = np.random.default_rng(seed)
    (x0, y0, x1, y1) = theirs.buffer(0.3).bounds
    points = rng.uniform((x0, y0), (x1, y1), (3000, 2))
    inside = shapely.contains_xy(theirs, *points.T)
    away = shapely.distance(shapely.points(points), theirs.exterior) * np.where(inside, -1, 1)
    table = {"x": points[:, 0], "y": points[:, 1]}
    np.testing.assert_array_equal(ours.contains(table), inside)
    np.testing.assert_allclose(ours.signed_distance(table), away, atol=1e-14)
    assert ours.measure == pytest.approx(theirs.area, rel=1e-13)
    assert ours.boundary.measure == pytest.approx(theirs.length, rel=1e-13)
    assert shapely.contains_xy(theirs, *(sample(ours, 500, "float32")[0][n].astype(float) for n in "xy")).all()
    if seed == 0:
        with precision_scope("float64"):
            compiled = jax.jit(lambda given: (ours.inside(given), ours.distance(given)))(
                jax.tree.map(jnp.asarray, table)
            )
        np.testing.assert_array_equal(compiled[0], inside)
        np.testing.assert_allclose(compiled[1], away, atol=1e-14)


def test_points_on_the_edges_are_of_the_closed_set():
    corners = {"x": np.array([0.0, 4, 4, 0, 2, 4, 0, 1.5, 2]), "y": np.array([0.0, 0, 3, 3, 0, 1, 1, 1.0, 2])}
    assert framed.contains(corners).all()
    assert not framed.contains({"x": np.array([-1e-9, 2.0]), "y": np.array([1.0, 1.5])}).any()
    assert framed.contains({"x": -1e-9, "y": 1.0}, tolerance=1e-8)


def test_polynomials_are_integrated_exactly():
    (x0, y0), (x1, y1), (x2, y2) = (0, 0), (2, Rational(1, 2)), (Rational(1, 3), 1)
    a, b = sympy.symbols("a b")
    px, py = x0 + a * (x1 - x0) + b * (x2 - x0), y0 + a * (y1 - y0) + b * (y2 - y0)
    jacobian = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    exact = sympy.integrate(sympy.integrate(sympy.expand(px**3 * py**2), (b, 0, 1 - a)), (a, 0, 1)) * jacobian
    rule = geo.Triangle((x, y), (x0, y0), (x1, y1), (x2, y2)).quadrature(3)
    assert np.sum(rule.weights * rule.coordinates["x"] ** 3 * rule.coordinates["y"] ** 2) == pytest.approx(
        float(exact), rel=1e-13
    )
    rule = framed.quadrature(2)
    hole = geo.Polygon((x, y), framed.holes[0]).quadrature(2)
    moment = lambda rule: np.sum(rule.weights * rule.coordinates["x"] ** 2 * rule.coordinates["y"])
    assert moment(rule) == pytest.approx(64 / 3 * 9 / 2 - moment(hole), rel=1e-13)


def test_slices_are_intervals_and_points():
    cut = framed.at(x=2)
    assert [piece.bounds[y] for _, piece in cut.pieces] == [(0, 1), (2, 3)]
    assert framed.at(y=0.5).bounds == {x: (0, 4), y: (0.5, 0.5)}
    ends = framed.side("outer").at(y=1)
    assert [float(part.columns[x][0]) for _, part in ends.pieces] == [4, 0]
    assert [float(part.normals[x][0]) for _, part in ends.pieces] == [1, -1]
    assert "choose a value between 0 and 4" in framed.at(x=7).faults[0]


def test_outlines_are_read_from_files(tmp_path):
    rows = "0, 0\n0, 3\n4, 3\n4, 0\n0, 0\n"
    for name, text in [("bare.csv", rows), ("named.csv", "x,y\n" + rows), ("blank.dat", rows.replace(",", " "))]:
        (tmp_path / name).write_text(text)
        outline = geo.Polygon((x, y), tmp_path / name)
        np.testing.assert_array_equal(outline.vertices, [(0, 0), (0, 3), (4, 3), (4, 0)])
    (tmp_path / "turned.csv").write_text("y,x\n" + rows)
    assert geo.Polygon((x, y), str(tmp_path / "turned.csv")).bounds == {x: (0, 3), y: (0, 4)}
    (tmp_path / "bad.csv").write_text("x,y\n0,0\n1,none\n")
    with pytest.raises(ValueError, match=r"line 3 of .*bad.csv is '1,none'; each line must hold two numbers"):
        geo.Polygon((x, y), tmp_path / "bad.csv")
    with pytest.raises(ValueError, match=r"missing.csv cannot be read"):
        geo.Polygon((x, y), "missing.csv")


def test_a_polygon_is_stored_and_read_back():
    u = phi.field("u", x, y)
    conditions = {
        "pde": Eq(phi.laplacian(u), 1),
        "hole": phi.on(framed.side("hole"), Eq(u, 0)),
        "edge": phi.on(framed.side("edge 1"), Eq(u, 1)),
        "rest": phi.free(framed.side("outer")),
    }
    problem = phi.Problem(framed, conditions)
    again = from_json(json.loads(json.dumps(to_json(problem))))
    assert again.domain == framed
    assert hash(again.domain) == hash(framed)
    assert [c.region for c in again.constraints.values()] == [c.region for c in problem.constraints.values()]
    assert again.fingerprint == problem.fingerprint
    assert pickle.loads(pickle.dumps(framed)) == framed
    assert framed != geo.Polygon((x, y), framed.vertices)
    assert str(framed) == "polygon (0, 0) (4, 0) (4, 3) (0, 3) with 1 hole in (x, y)"
    assert not framed.vertices.flags.writeable


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: geo.Polygon((x, y), [(0, 0), (1, 1), (1, 0), (0, 1)]),
            r"its outline crosses or touches itself at \(0\.5, 0\.5\)",
        ),
        (lambda: geo.Polygon((x, y), [(0, 0), (1, 1)]), "has 2 different points; an outline needs three"),
        (lambda: geo.Polygon((x, y), [(0, 0), (1, 1), (3, 3)]), "encloses no area"),
        (
            lambda: geo.Polygon((x, y), SQUARE, [[(5, 5), (6, 5), (5, 6)]]),
            r"hole is not inside the outline, as at \(5, 5\)",
        ),
        (
            lambda: geo.Polygon((x, y), SQUARE, [[(0, 0), (1, 0), (0, 1)], [(0.2, 0.2), (1, 1), (0, 1)]]),
            "the holes and the outline overlap",
        ),
        (lambda: geo.Polygon((x, y), SQUARE, [[(0, 0), (1, 1), (1, 0), (0, 1)]]), "hole crosses or touches itself at"),
        (lambda: geo.Polygon((x, y), [(0, 0), (1, np.nan), (1, 1)]), "a value that is not finite at row 1"),
        (lambda: geo.Polygon((x, y), [1, 2, 3]), r"has shape \(3,\); it must be \(n, 2\)"),
        (lambda: geo.Polygon((x,), SQUARE), "give 2 coordinates, not 1"),
        (lambda: geo.Polygon((x, y), [(0, 0), (x, 1), (1, 1)]), "must be an array of numbers"),
    ],
)
def test_outlines_that_enclose_nothing_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_polygon_too_thin_for_single_precision_where_it_lies_is_refused():
    far = geo.Polygon((x, y), np.array([(0, 0), (1e-2, 0), (0, 1e-2)]) + 1e6)
    assert shapely.contains_xy(shapely.Polygon(far.vertices), *(sample(far, 100)[0][n] for n in "xy")).all()
    with pytest.raises(ValueError, match="too thin for float32; use precision='float64'"):
        sample(far, 10, "float32")
