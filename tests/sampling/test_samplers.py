"""Samplers of regions, grids and pools: exactly as many points as asked for, or a refusal that says why."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import phijax.geometry as geo
from phijax._precision import precision_scope
from phijax.sampling import ByPiece, Grid, Held, Points, PoolSampler, RegionSampler
from phijax.sampling.unit import draw
from phijax.symbolic import coordinates, time

x, y, z = coordinates("x y z")
t = time("t")
square = geo.Rectangle((x, 0, 1), (y, 0, 1))
KEY = jax.random.key(0)


@pytest.mark.parametrize("method", ["sobol", "uniform", "halton", "latin"])
@pytest.mark.parametrize("n", [1, 1000])
@pytest.mark.parametrize(
    "region",
    [
        square,
        geo.Disk((x, y)),
        geo.Interval(x, 0, 1) * geo.Interval(t, 0, 1),
        square.boundary,
        geo.Disk((x, y)).boundary(where=x > y),
        square.at(x=0, y=0),
    ],
    ids=str,
)
def test_exactly_as_many_points_as_asked_for(region, n, method):
    points = RegionSampler(region, method).sample(KEY, n)
    assert points.size == n
    assert {column.shape for column in jax.tree.leaves(points)} == {(n,)}
    assert tuple(points.coordinates) == region.names


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_every_column_is_of_the_precision_in_force(precision):
    with precision_scope(precision):
        points = RegionSampler((square * geo.Interval(t, 0, 1)).boundary).sample(KEY, 10)
        assert {leaf.dtype for leaf in jax.tree.leaves(points)} == {jnp.dtype(precision)}
        pool = PoolSampler({"x": np.arange(4.0), "label": np.array([1, 2, 3, 16777217], "int32")}).sample(KEY, 4)
        assert pool["x"].dtype == precision
        assert int(pool["label"][3]) == 16777217


def test_compiled_points_equal_plain_ones():
    sampler = RegionSampler(geo.Disk((x, y)).boundary(where=x > y))
    np.testing.assert_array_equal(
        jax.jit(sampler.sample, static_argnums=1)(KEY, 50).coordinates["x"], sampler.sample(KEY, 50).coordinates["x"]
    )


def test_a_thin_part_is_filled_over_several_rounds(monkeypatch):
    part = geo.Disk((x, y)).boundary(where=x**2 + 100 * y**2 < 1.001)
    monkeypatch.setitem(part.regions[0].__dict__, "acceptance", 0.9)  # so that the first round falls far short
    points = RegionSampler(part).sample(KEY, 500)
    column = np.asarray(points.coordinates["y"])
    assert np.all(np.asarray(points.coordinates["x"]) ** 2 + 100 * column**2 < 1.001)
    assert len(np.unique(column)) > 450


def test_a_way_to_sample_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="method='sobel' is no way to sample; did you mean 'sobol'"):
        RegionSampler(square, "sobel")
    with pytest.raises(ValueError, match="there is no such side"):
        RegionSampler(square.side("lft"))


def test_a_grid_counts_per_axis_and_says_how_many_that_makes():
    grid = Grid(square, per_axis=10)
    assert grid.size == 100
    points = grid.sample(KEY, 100)
    assert set(points.coordinates) == {"x", "y"}
    np.testing.assert_allclose(np.unique(points.coordinates["x"]), (np.arange(10) + 0.5) / 10, atol=1e-6)
    with pytest.raises(ValueError, match="has 100 points, not 1000; ask for 100 or change per_axis"):
        grid.sample(KEY, 1000)
    assert Grid(square.at(x=0, y=0), per_axis=10).size == 1
    assert Grid(square.at(x=0, y=0), per_axis=10).sample(KEY, 1).coordinates["y"].shape == (1,)
    with pytest.raises(ValueError, match="takes no grid; use RegionSampler"):
        Grid(geo.Ball((x, y, z)).boundary(where=x > y), 3)


def test_a_pool_gives_all_rows_in_order_or_some_at_random():
    columns = {"x": np.arange(10.0), "u": np.arange(10.0) ** 2}
    whole = PoolSampler(Points({"x": columns["x"]}, values={"u": columns["u"]})).sample(KEY, 10)
    np.testing.assert_array_equal(whole.coordinates["x"], columns["x"])
    np.testing.assert_array_equal(whole.values["u"], columns["u"])
    some = PoolSampler(columns).sample(KEY, 6)
    np.testing.assert_array_equal(some["u"], some["x"] ** 2)
    with pytest.raises(ValueError, match="the pool has 10 rows, fewer than the 11 asked for; ask for at most 10"):
        PoolSampler(columns).sample(KEY, 11)


def test_rows_of_a_pool_are_drawn_evenly():
    sampler = PoolSampler(np.arange(8.0))
    drawn = jax.vmap(lambda key: sampler.sample(key, 4))(jax.random.split(KEY, 2000))
    counts = np.bincount(np.asarray(drawn).astype(int).ravel(), minlength=8)
    assert np.all(np.abs(counts - 1000) < 150)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PoolSampler({}), "got one without rows"),
        (lambda: PoolSampler(3.0), "got one without rows"),
        (lambda: PoolSampler({"x": np.zeros(3), "u": np.zeros(4)}), "must have one length; got 3, 4"),
        (lambda: Held(RegionSampler(square), every=0), "every=0 must be a whole number of at least 1"),
        (lambda: Grid(square, 0), "per_axis=0 must be a whole number of at least 1"),
    ],
)
def test_nonsense_is_refused_at_once(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_latin_hypercube_has_one_point_in_each_slice_of_each_axis():
    with precision_scope("float64"):
        unit = np.asarray(draw("latin", KEY, 100, 3))
    assert np.array_equal(np.sort(np.floor(unit * 100), axis=0), np.tile(np.arange(100.0)[:, None], 3))
    assert np.abs(np.corrcoef(unit.T)[np.triu_indices(3, 1)]).max() < 0.3


def test_halton_points_are_those_of_scipy_up_to_a_shift():
    from scipy.stats import qmc

    with precision_scope("float64"):
        unit = np.asarray(draw("halton", KEY, 500, 4))
    known = qmc.Halton(4, scramble=False).random(501)[1:]
    shift = np.mod(unit - known, 1.0)
    assert np.abs(np.exp(2j * np.pi * shift) - np.exp(2j * np.pi * shift[:1])).max() < 1e-12


def test_a_grid_is_refused_with_the_counts_that_it_can_have():
    sampler = RegionSampler(square, "grid")
    assert sampler.sample(KEY, 900).size == 900
    with pytest.raises(ValueError, match="a grid of 2 coordinates has 961 or 1024 points, not 1000"):
        sampler.sample(KEY, 1000)
    with pytest.raises(ValueError, match="it takes no grid"):
        RegionSampler(geo.Ball((x, y, z)).boundary(where=x > y), "grid")
    with pytest.raises(ValueError, match="did you mean 'halton'"):
        RegionSampler(square, "haltn")


def test_counts_by_piece_keep_the_mean_over_the_whole():
    plate = geo.Rectangle((x, 0, 3), (y, 0, 1)).named(left="in", right="out", bottom="walls", top="walls")
    sampler = ByPiece(plate.boundary, {"in": 64, "out": 8, "walls": 128})
    with precision_scope("float64"):
        points = jax.tree.map(np.asarray, sampler.sample(KEY, 200))
    place, weights = points.coordinates, points.weights
    assert [np.sum(place["x"] == 0), np.sum(place["x"] == 3), points.size] == [64, 8, 200]
    assert np.mean(weights) == pytest.approx(1)
    assert np.mean(weights * place["x"]) == pytest.approx(1.5, abs=1e-3)  # by symmetry; 1.1 without the weights
    with pytest.raises(ValueError, match="has no piece 'wall'; did you mean 'walls'"):
        ByPiece(plate.boundary, {"wall": 3})
    with pytest.raises(ValueError, match="say how many on 'out' as well"):
        ByPiece(plate.boundary, {"in": 3, "walls": 3})
