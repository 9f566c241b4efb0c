"""Selecting from regions, and the sentences for what can't be selected."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from sympy import Eq, Or, Rational, Symbol, pi

import phijax.geometry as geo
from phijax._precision import precision_scope
from phijax.geometry.predicate import holds
from phijax.sampling import RegionSampler
from phijax.symbolic import Coordinate, coordinates, time

x, y, z = coordinates("x y z")
t = time("t")
channel = geo.Rectangle((x, 0, 2), (y, 0, 1))
slab = channel * geo.Interval(t, 0, 3)


def sample(region, n=2000, precision="float64"):
    with precision_scope(precision):
        return jax.tree.map(np.asarray, RegionSampler(region).sample(jax.random.key(0), n))


def test_sides_go_by_place_and_by_coordinate():
    for place, axis in (("left", "x-"), ("right", "x+"), ("bottom", "y-"), ("top", "y+")):
        assert channel.side(place) == channel.side(axis)
        assert slab.side(place) == channel.side(place) * geo.Interval(t, 0, 3)
    assert slab.side("right").constant_normal == {x: 1}
    assert slab.boundary.side("left") == slab.side("left")
    box = geo.Box((x, 0, 1), (y, 0, 1), (z, 0, 1))
    assert box.side("z-").fixed == {z: 0}
    assert "there is no such side; it has x-, x+" in box.side("left").faults[0]


def test_pieces_of_a_boundary_belong_to_the_coordinates_that_they_cross():
    assert [name for name, _ in slab.boundary(x).pieces] == ["x-", "x+"]
    assert slab.boundary("y") == slab.boundary(y)
    assert slab.boundary(x, y) == slab.boundary
    assert slab.boundary(x)(where=x > 1).pieces == (("x+", slab.side("right")),)


def test_a_condition_cuts_flat_faces_exactly():
    part = channel.boundary(where=x > Rational(1, 2))
    assert part.measure == pytest.approx(1 + 2 * 1.5)
    assert part.cube_dimension == 1
    bottom = dict(part.pieces)["y-"]
    assert bottom.bounds == {x: (0.5, 2.0), y: (0.0, 0.0)}
    window = channel.side("left").boundary  # its ends, as a set of two points
    assert window.count == 2
    inflow = channel.boundary(x)(where=(x < 1) & (y > Rational(1, 4)) & (2 * y < Rational(3, 2)))
    assert [piece.bounds[y] for _, piece in inflow.pieces] == [(0.25, 0.75)]
    placed = sample(inflow, 100)
    np.testing.assert_array_equal(placed.coordinates["x"], 0)
    assert placed.coordinates["y"].min() > 0.25
    assert placed.coordinates["y"].max() < 0.75


def test_equality_picks_the_side_where_it_holds():
    assert channel.boundary(where=Eq(x, 2)).pieces == (("x+", channel.side("right")),)
    assert channel.boundary(where=Eq(y, 0.0)).pieces == (("y-", channel.side("bottom")),)
    tenth = geo.Interval(x, Rational(1, 10), 1).boundary(where=Eq(x, 0.1))
    assert [name for name, _ in tenth.pieces] == ["x-"]


def test_symbols_of_a_condition_are_matched_by_name():
    assert channel.boundary(where=Symbol("x") > 1) == channel.boundary(where=x > 1)


def test_plain_truth_values_select_all_or_nothing():
    assert channel.boundary(where=True) == channel.boundary
    assert (
        "nothing is selected, or a part too thin to find; the pieces are x-, x+, y-, y+"
        in channel.boundary(where=False).faults[0]
    )


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_half_a_circle_is_cut_out_exactly_with_exact_counts(precision):
    part = geo.Disk((x, y), radius=2).boundary(where=x > y)
    assert part.cube_dimension == 1
    assert part.measure == pytest.approx(2 * np.pi, rel=1e-12)
    for n in (7, 1000):
        placed = sample(part, n, precision)
        assert placed.coordinates["x"].shape == (n,)
        assert placed.coordinates["x"].dtype == precision
        assert np.all(placed.coordinates["x"] > placed.coordinates["y"])
        np.testing.assert_allclose(placed.coordinates["x"], 2 * placed.normals["x"], rtol=1e-6)
    angles = np.sort(np.arctan2(*(sample(part, 4000).coordinates[name] for name in "yx")))
    uniform = -3 * np.pi / 4 + np.pi * (np.arange(4000) + 0.5) / 4000
    assert np.abs(angles - uniform).max() < 4 * np.pi / 4000


def test_a_part_of_several_pieces_is_uniform_over_them():
    """On a cylinder, x > 0 takes half of the wall (3 pi) and half of both lids (pi)."""
    part = (geo.Disk((x, y)) * geo.Interval(z, 0, 3)).boundary(where=x > 0)
    assert part.measure == pytest.approx(4 * np.pi, rel=1e-3)
    placed = sample(part, 8000)
    assert np.all(placed.coordinates["x"] > 0)
    assert np.mean(placed.normals["z"] == 1) == pytest.approx(1 / 8, abs=0.01)


def test_whole_pieces_beside_cut_ones_keep_their_share():
    where = Or(Eq(x, 0), x**2 + y > 2)  # the left side, the right one, and the top from x = 1 and bottom from sqrt(2)
    part = channel.boundary(where=where)
    placed = sample(part, 4000)
    on_left = placed.coordinates["x"] == 0
    assert part.measure == pytest.approx(1 + 1 + 1 + 2 - np.sqrt(2), rel=1e-3)
    assert on_left.mean() == pytest.approx(1 / part.measure, abs=0.01)
    rest = {name: column[~on_left] for name, column in placed.coordinates.items()}
    assert np.all(rest["x"] ** 2 + rest["y"] > 2)
    np.testing.assert_array_equal(part.contains(placed.coordinates), True)


def test_a_condition_that_holds_nowhere_leaves_an_empty_region_with_its_reason():
    nowhere = geo.Disk((x, y)).boundary(where=x + y > 2)
    assert nowhere.empty
    assert "boundary(where=x + y > 2) of {x^2 + y^2 = 1} in (x, y): nothing is selected" in nowhere.faults[0]
    with pytest.raises(ValueError, match="nothing is selected, or a part too thin to find"):
        RegionSampler(nowhere)
    assert "nothing is selected" in channel.boundary(where=x > 3).faults[0]
    assert channel.boundary(where=x > 3).empty


def test_what_was_selected_can_be_sliced():
    start = slab.boundary(x).at(t=0)
    assert [piece.fixed for _, piece in start.pieces] == [{x: 0, t: 0}, {x: 2, t: 0}]
    corner = slab.boundary.at(x=2, t=0)
    assert corner.fixed[x] == 2
    assert corner.fixed[t] == 0
    half = (geo.Disk((x, y)) * geo.Interval(t, 0, 1)).boundary(where=x > y).at(t=1)
    np.testing.assert_array_equal(sample(half, 50).coordinates["t"], 1)


@pytest.mark.parametrize(
    ("region", "sentences"),
    [
        (slab.side("lft"), ["side('lft') of [0, 2] x [0, 1] x [0, 3] in (x, y, t)", "did you mean 'left'?"]),
        (slab.side("t-"), ["t is of kind time, and sides are of space; use at(t=...)"]),
        (slab.side(3), ["side(3)", "it has left, right"]),
        (slab.side(["left"]), ["side(['left'])", "did you mean"]),
        (slab.at({"time": 0}), ["there is no coordinate 'time'; it has x, y, t"]),
        ((geo.Disk((x, y)) * geo.Interval(z, 0, 1)).boundary(x).pieces[0][1].boundary, ["being a boundary itself"]),
        (slab.at(t=5), ["at(t=5)", "t = 5 is outside [0, 3]; choose a value in it"]),
        (slab.at(time=0), ["there is no coordinate 'time'; it has x, y, t"]),
        (slab.at(), ["give a coordinate and its value, as in at(x=0)"]),
        (slab.at(t=x), ["t is x, which depends on x"]),
        (slab.at(t=sympy.nan), ["t is nan: it must be a finite real number"]),
        (slab.at(t="0"), ["t is '0': it must be a number"]),
        (slab.at(t=0).at(t=1), ["t is 0 in the whole region, so it can't be 1"]),
        (slab.boundary(t), ["t is of kind time, and a boundary has faces in space alone; use at(t=...)"]),
        (slab.boundary("xx"), ["there is no coordinate 'xx'; did you mean 'x'?"]),
        (slab.at(x=1).boundary(x), ["there is no face across x, which is fixed"]),
        (slab.boundary(where=x + z > 0), ["uses z, which is no coordinate; it has x, y, t"]),
        (slab.boundary(where=lambda x: x > 0), ["is no condition; write one such as x > 0"]),
        (slab.boundary(where=sympy.gamma(x) > y), ["holds gamma(x), which can't be evaluated on points"]),
        (geo.Disk((x, y)).side("left"), ["there is no such side; it has circle in x, y"]),
        (geo.Disk((x, y)).boundary.at(x=0), ["its slices are no regions here"]),
        (channel.boundary.boundary, ["it has none in space, being a boundary itself"]),
        (channel.at(x=0, y=0).boundary, ["it has none in space, being a set of points"]),
        (geo.Interval(t, 0, 1).boundary, ["time and parameters have no boundary: use at"]),
        (geo.Interval(Coordinate("Re", "parameter"), 1, 2).side("left"), ["sides are of space, and Re is not; use at"]),
    ],
)
def test_selectors_never_raise_and_say_what_was_written_and_the_cure(region, sentences):
    (fault,) = region.faults
    for sentence in sentences:
        assert sentence in fault
    assert region.empty


def test_all_faults_of_one_selection_are_kept_and_pass_through_products_and_further_selections():
    lost = slab.at(t=5, q=3)
    assert len(lost.faults) == 2
    assert lost.at(x=0).side("left").boundary(x).faults == lost.faults
    wider = lost * geo.Interval(z, 0, 1)
    assert wider.faults == lost.faults
    assert wider.names == ("x", "y", "t", "z")
    with pytest.raises(ValueError, match=r"t = 5 is outside \[0, 3\]"):
        lost.contains({"x": np.zeros(1)})


def test_interface_of_two_intervals_has_one_normal_from_left_to_right():
    left, right = geo.Interval(x, 0, Rational(1, 2)), geo.Interval(x, 0.5, 1)
    assert geo.interface(left, right).constant_normal == {x: 1}
    assert geo.interface(right, left).constant_normal == {x: -1}
    placed = sample(geo.interface(left, right) * geo.Interval(t, 0, 1), 20)
    np.testing.assert_array_equal(placed.coordinates["x"], 0.5)
    np.testing.assert_array_equal(placed.normals["x"], 1)
    assert set(placed.normals) == {"x"}


def test_interface_of_boxes_and_what_has_none():
    lower, upper = channel, geo.Rectangle((x, 0, 2), (y, 1, pi))
    face = geo.interface(lower, upper)
    assert face.fixed == {y: 1}
    assert face.measure == 2
    assert geo.interface(channel, geo.Rectangle((x, 2, 3), (y, 0, pi / 4))).measure == pytest.approx(np.pi / 4)
    cases = [
        (geo.interface(channel, geo.Rectangle((x, 3, 4), (y, 0, 1))), "[0, 2] and [3, 4] in x do not touch at one end"),
        (geo.interface(channel, channel), "they differ along nothing"),
        (geo.interface(channel, geo.Rectangle((x, 5, 6), (y, 0, 2))), "they differ along x, y"),
        (geo.interface(channel, geo.Interval(x, 0, 1)), "over the same coordinates"),
        (geo.interface(geo.Interval(t, 0, 1), geo.Interval(t, 1, 2)), "t is not of space"),
        (geo.interface(geo.Interval(x, 0, 1, periodic=True), geo.Interval(x, 1, 2)), "do not touch"),
        (geo.interface(channel.at(x=5), channel), "x = 5 is outside"),
    ]
    for region, sentence in cases:
        assert sentence in region.faults[0]


def test_a_region_is_extended_over_the_coordinates_that_it_lacks():
    assert geo.extend(channel.boundary, slab) == slab.boundary
    assert geo.extend(channel.at(x=1), slab) == slab.at(x=1)
    assert geo.extend(slab, slab) == slab
    early = geo.extend(geo.Interval(t, 0, 1).at(t=0), slab)
    assert early.names == ("x", "y", "t")
    drum = geo.Disk((x, y)) * geo.Interval(t, 0, 1)
    wall = geo.Disk((x, y)).boundary(where=x > y)
    assert geo.extend(wall, drum).names == ("x", "y", "t")
    half = geo.extend(geo.Interval(x, 0, 1), drum)
    assert "lacks y, which {x^2 + y^2 < 1} in (x, y) has only together with x" in half.faults[0]


KINDS = [
    geo.Interval(x, -1, 2).boundary,
    geo.Rectangle((x, 0, 1), (y, -1, 1)).boundary * geo.Interval(t, 0, 1),
    geo.Disk((x, y), center=(1, 2), radius=3),
    (geo.Disk((x, y)) * geo.Interval(z, 0, 1)).boundary,
    geo.Ball((x, y, z)).boundary * geo.Interval(t, 0, 1),
    geo.PointCloud({x: [0.0, 1.0, 2.0], y: [1.0, 1.0, 1.0]}, normals={x: [1.0, 0.0, 0.0], y: [0.0, 1.0, -1.0]}),
]
CONDITION = sympy.Or(sympy.And(x > 0.25, x**2 + sympy.sin(3 * x) / 2 < 1, sympy.Max(x, 1, -x) < 2), ~(x < 0.4))


@pytest.mark.parametrize("region", KINDS, ids=str)
def test_points_and_conditions_are_the_same_by_numpy_as_by_jax(region):
    unit = np.random.default_rng(0).uniform(1e-3, 1 - 1e-3, (200, region.cube_dimension))
    alone, places = region.place(unit), region.place(jnp.asarray(unit, jnp.float32))
    assert {type(leaf) for leaf in jax.tree.leaves(alone)} == {np.ndarray}
    for mine, theirs in zip(alone, places, strict=True):
        assert (mine is None) == (theirs is None)
        for name in mine or {}:
            np.testing.assert_allclose(mine[name], theirs[name], atol=1e-5)
    same = {name: np.asarray(column, np.float32) for name, column in places.coordinates.items()}
    np.testing.assert_array_equal(holds(CONDITION, same), holds(CONDITION, places.coordinates))
    assert type(holds(CONDITION, same)) is np.ndarray


def test_a_part_of_a_curve_is_cut_exactly_and_has_a_rule_also_over_other_coordinates():
    disk = geo.Disk((x, y), radius=1)
    for region, length in ((disk, 1.0), (disk * geo.Interval(t, 0, 2), 2.0)):
        ((_, part),) = region.boundary(where=x > 0.5).pieces
        np.testing.assert_allclose(part.measure, length * 2 * np.pi / 3, rtol=1e-12)
        rule = part.quadrature(8)
        np.testing.assert_allclose(np.sum(rule.weights * rule.coordinates["x"]), length * np.sqrt(3), rtol=1e-12)
        assert "where x > 0.5" in str(part)
