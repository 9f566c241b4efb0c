"""What is left of pieces where shapes are combined: their bounds, rules, names and points, and what is said of them."""

import math

import jax
import numpy as np
import pytest
import sympy
from sympy import Eq

import phijax as phi
from phijax.sampling import RegionSampler

x, y, z = phi.coordinates("x y z")
t = phi.time("t")
u = phi.field("u", x, y)
half = sympy.Rational(1, 2)
plate = phi.Rectangle((x, 0, 2), (y, 0, 1)).named(left="inlet", right="outlet", bottom="wall", top="wall")
law = Eq(phi.laplacian(u), 0)


def points_of(region, n):
    points = RegionSampler(region).sample(jax.random.key(0), n)
    return {name: np.asarray(column) for name, column in points.coordinates.items()}


HOLES = {
    "polygon": phi.Polygon((x, y), [(0.6, 0.3), (1.4, 0.4), (1.2, 0.8), (0.7, 0.7)]),
    "disk": phi.Disk((x, y), (1, half), sympy.Rational(1, 4)),
    "rectangle": phi.Rectangle((x, half, 1), (y, half, sympy.Rational(3, 4))),
}


@pytest.mark.parametrize("kind", HOLES)
def test_a_hole_of_any_kind_and_what_is_round_it_are_told_apart(kind):
    hole = HOLES[kind]
    region = phi.Rectangle((x, 0, 2), (y, 0, 1)).named("outer") - hole.named("hole")
    inner, outer = points_of(region.side("hole"), 200), points_of(region.side("outer"), 200)
    assert np.max(np.abs(hole.signed_distance(inner))) < 1e-6
    assert np.min(hole.signed_distance(outer)) > 0.1
    on_rim = np.minimum.reduce([outer["x"], 2 - outer["x"], outer["y"], 1 - outer["y"]])
    assert np.all(on_rim == 0)
    assert region.side("hole").measure + region.side("outer").measure == pytest.approx(region.boundary.measure)
    assert region.boundary.measure == pytest.approx(6 + hole.boundary.measure, rel=1e-12)


def test_areas_beside_curves_with_corners_are_exact_however_these_are_moved():
    angle = 2 * np.pi * np.arange(20) / 20
    star = phi.Polygon(
        (x, y), np.stack([np.cos(angle), np.sin(angle)], 1) * np.where(np.arange(20) % 2, 0.6, 1)[:, None]
    )
    lower = phi.Rectangle((x, -2, 2), (y, -2, 0))
    area = star.measure
    for moved in (star, star.mirror(y=0), star.rotate(sympy.pi), star.scale(2).scale(half)):
        assert (moved & lower).measure == pytest.approx(area / 2, rel=1e-12)
        assert (moved - lower).measure == pytest.approx(area / 2, rel=1e-12)
        quarter = (moved - lower) - phi.Rectangle((x, -2, 0), (y, -2, 2))
        assert quarter.measure == pytest.approx(area / 4, rel=1e-12)
        rule = quarter.boundary.quadrature(3)
        assert max(abs(np.sum(rule.weights * rule.normals[name])) for name in "xy") < 1e-12


def test_slivers_that_few_points_meet_are_measured():
    tiny = phi.Disk((x, y), (0, half), sympy.Rational(1, 250))
    assert (tiny & plate).measure == pytest.approx(math.pi / 250**2 / 2, rel=1e-9)
    assert np.all(points_of(tiny & plate, 50)["x"] > 0)
    proud = phi.Disk((x, y), (1, 0.5), 0.50005)  # sticks out by 5e-5 at the top and the bottom
    radius, low = 0.50005, 0.5
    cap = radius**2 * math.acos(low / radius) - low * math.sqrt(radius**2 - low**2)
    assert (proud & plate).measure == pytest.approx(math.pi * radius**2 - 2 * cap, rel=1e-9)


def test_a_pipe_through_a_block_and_a_hole_that_leaves_the_box_stay_in_their_domains():
    tube = phi.Cylinder((x, y, z), (half, half), sympy.Rational(1, 5), -1, 2)
    block = phi.Box((x, 0, 1), (y, 0, 1), (z, 0, 1)) - tube
    assert block.side("wall").bounds[z] == (0, 1)
    assert block.side("wall").measure == pytest.approx(0.4 * math.pi, rel=1e-3)
    v = phi.field("v", x, y, z)
    problem = phi.Problem(block, {"law": Eq(phi.laplacian(v), 0), "edge": phi.on(block.boundary, Eq(v, 0))})
    assert problem.constraints["edge"].region.measure == pytest.approx(6 - 2 * math.pi / 25 + 0.4 * math.pi, rel=1e-3)
    gate = (plate - phi.Disk((x, y), (t, half), sympy.Rational(1, 5)).named("gate")) * phi.Interval(t, 0, 1)
    assert gate.side("gate").bounds[x] == (0, pytest.approx(1.2))


def test_the_top_of_a_slab_of_parametric_height_is_its_upper_side():
    height = phi.coordinate("L", kind="parameter")
    slab = phi.Interval(x, 0, 1) * phi.Interval(y, 0, height) * phi.Interval(height, 1, 2)
    top = points_of(slab.side("top"), 200)
    np.testing.assert_array_equal(top["y"], top["L"])


def fault_of(domain, conditions):
    with pytest.raises(phi.DeclarationError) as caught:
        phi.Problem(domain, {"law": law, **conditions})
    return str(caught.value)


@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_what_a_shape_cannot_be_is_one_sentence_with_its_cure():
    ring = plate - phi.Disk((x, y), (1, half), sympy.Rational(1, 5)).named("hole")
    far = plate - phi.Disk((x, y), (900, half), 1).named("hole")
    moving = plate - phi.Disk((x, y), (t, half), sympy.Rational(1, 5))
    edge = {"edge": phi.on(ring.boundary, Eq(u, 0))}
    assert "there is no such side; did you mean 'hole'?" in fault_of(ring, {"a": phi.on(ring.side("holes"), Eq(u, 0))})
    assert "a shape has a side of that name, and nothing of it is on the boundary of the whole" in fault_of(
        far, {"a": phi.on(far.side("hole"), Eq(u, 0))}
    )
    assert "moves with t; multiply it by the region of t" in fault_of(moving, edge)
    assert "holds no point; look at where the two regions are" in fault_of(plate - plate, edge)
    assert "cannot be made exact" in fault_of(
        ring, {"a": phi.on(ring.side("hole"), Eq(phi.normal_derivative(u), 0), exact=True)}
    )
    measured = phi.data({"x": [0.5, 1.0], "y": [0.5, 0.5], "u": [1.0, 2.0]})
    assert "1 of its 2 points lie outside the domain, such as x = 1, y = 0.5" in fault_of(ring, edge | {"a": measured})
    on_surface = phi.data({"x": [0.8, 1.0], "y": [0.5, 0.701], "u": [1.0, 2.0]})
    assert "a" in phi.Problem(ring, {"law": law, "a": on_surface} | edge).constraints
    with pytest.raises(ValueError, match=r"repeat: say along which coordinate, as in repeat\(x=1\)"):
        plate.repeat(3)


def test_products_and_cut_pieces_are_printed_as_they_are_joined():
    ring = phi.Rectangle((x, 0, 2), (y, 0, 1)) - phi.Disk((x, y), (1, half), half / 2)
    assert str(ring * phi.Interval(t, 0, 1)).startswith(
        "([0, 2] x [0, 1] - {(x - 1)^2 + (y - 1/2)^2 < 1/16}) x [0, 1] in"
    )
    split = phi.Rectangle((x, 0, 2), (y, 0, 1)) - phi.Rectangle((x, half, 1), (y, -1, 2))
    assert str(split.boundary).endswith("+ {1/2} x [-1, 2] in part + {1} x [-1, 2] in part in (x, y)")
