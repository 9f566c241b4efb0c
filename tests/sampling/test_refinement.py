"""Residual-based refinement: how many points are in use, which ones are added, and what they weigh."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from following import KEY, arc, batches, check_arc, front, line

import phijax.geometry as geo
from phijax._precision import precision_scope
from phijax.sampling import Grid, NamedBatchSource, PoolSampler, RegionSampler, ResidualRefinement
from phijax.symbolic import coordinate


def refinement(base=None, **options):
    options = {"start": 6, "add": 4, "period": 2} | options
    return ResidualRefinement(RegionSampler(line, "uniform") if base is None else base, **options)


def in_use(points):
    return int(np.count_nonzero(points.weights))


def test_points_are_added_at_each_refresh_but_the_first_until_the_batch_is_full():
    counts = [in_use(points) for points in batches(refinement(), 16, 10)]
    assert counts == [6, 6, 10, 10, 14, 14, 16, 16, 16, 16]


def test_points_in_use_stay_and_the_loss_is_the_mean_over_them():
    with precision_scope("float64"):
        found = batches(refinement(period=1), 20, 6)
    f = lambda column: np.exp(column)
    for before, after in itertools.pairwise(found):
        used = in_use(before)
        np.testing.assert_array_equal(before.coordinates["x"][:used], after.coordinates["x"][:used])
    for points in found:
        used, column = in_use(points), points.coordinates["x"]
        assert np.mean(points.weights * f(column)) == pytest.approx(np.mean(f(column[:used])), rel=1e-14)
        assert np.all((column > 0) & (column < 1))


def test_points_are_added_where_the_residual_is_large():
    """A quarter of the line has density 4 + 1, the rest 1, so that it holds 5/8 of what is added from a large pool."""
    sampler = refinement(start=8, add=1000, period=1, pool_factor=32, exponent=1.0, offset=1.0)
    added = batches(sampler, 1008, 2)[1].coordinates["x"][8:]
    assert np.mean(added < 0.25) == pytest.approx(5 / 8, abs=0.04)
    (_, sharp) = batches(refinement(offset=0.0, period=1), 16, 2)
    assert np.all(sharp.coordinates["x"][6:10] < 0.25)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_greedy_points_are_the_worst_of_the_pool(precision):
    peak = lambda name, points: 1 - jnp.abs(points.coordinates["x"] - 0.6)
    with precision_scope(precision):
        sampler = refinement(RegionSampler(line), greedy=True, period=1, start=8, add=8, pool_factor=4)
        column = batches(sampler, 32, 2, peak)[1].coordinates["x"]
        assert column.dtype == precision
    # Of 128 points of low discrepancy the 8 that are the nearest lie within 4 widths and a little.
    assert np.max(np.abs(column[8:16] - 0.6)) < 5.5 / 128
    assert len(np.unique(column[:16])) == 16


def test_half_of_the_points_are_there_from_the_start_unless_said():
    assert in_use(batches(refinement(start=None), 32, 1)[0]) == 16


def test_regions_by_acceptance_keep_their_normals():
    slope = lambda name, points: jnp.abs(points.normals["y"])
    for points in batches(refinement(RegionSampler(arc), period=1), 14, 4, slope):
        check_arc(points)


@pytest.mark.parametrize("greedy", [False, True])
def test_residuals_that_are_zero_or_not_finite_leave_points_in_the_region(greedy):
    def residuals(name, points):
        column, row = points.coordinates["x"], jnp.arange(points.size)
        values = jnp.where(column < 0.5, jnp.nan, jnp.where(column < 0.7, jnp.inf, 0.0))
        return jnp.where(row % 2 == 0, values, 0.0)

    last = batches(refinement(period=1, greedy=greedy), 14, 3, residuals)[-1]
    assert np.all((last.coordinates["x"] > 0) & (last.coordinates["x"] < 1))
    assert len(np.unique(last.coordinates["x"])) == in_use(last) == 14


def test_the_first_points_are_drawn_at_the_first_step_whatever_the_residual():
    first = [batches(refinement(), 16, 1, residuals)[0] for residuals in (front, lambda n, p: 1 - front(n, p))]
    np.testing.assert_array_equal(first[0].coordinates["x"], first[1].coordinates["x"])
    source = NamedBatchSource({"pde": refinement()}, {"pde": 16}, KEY)
    assert not np.array_equal(source.init()["pde"].points.coordinates["x"], first[0].coordinates["x"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": 0}, "start=0 must be a whole number of at least 1"),
        ({"add": 2.5}, r"add=2\.5 must be a whole number"),
        ({"period": 0}, "period=0 must be"),
        ({"pool_factor": True}, "pool_factor=True must be"),
        ({"exponent": -1}, "exponent=-1 must be a finite number of at least 0"),
        ({"offset": float("nan")}, "offset=nan must be a finite number of at least 0"),
        ({"greedy": 1}, "greedy=1 must be True or False"),
    ],
)
def test_options_out_of_range_are_refused_in_refinement(options, message):
    with pytest.raises(ValueError, match=f"ResidualRefinement: {message}"):
        refinement(**options)


@pytest.mark.parametrize(
    "base",
    [
        PoolSampler({"x": np.arange(9.0)}),
        Grid(line, 4),
        RegionSampler(line.boundary),
        RegionSampler(geo.PointCloud({coordinate("x"): np.arange(5.0)})),
    ],
    ids=["pool", "grid", "ends", "cloud"],
)
def test_finite_sets_of_points_are_refused(base):
    with pytest.raises(ValueError, match=r"ResidualRefinement: the base, a .*, holds a finite set of points"):
        refinement(base)


def test_a_batch_without_room_and_rows_without_weights_are_refused_by_name():
    with pytest.raises(ValueError, match="the sampler of 'pde': ResidualRefinement: it starts with 6 of 6 points"):
        batches(refinement(), 6, 1)

    class Columns:
        def sample(self, key, n):
            return {"x": jax.random.uniform(key, (n,))}

    with pytest.raises(ValueError, match="ResidualRefinement: its base gives dict, which carries no weights"):
        batches(refinement(Columns()), 16, 1)
    with pytest.raises(ValueError, match="ResidualRefinement: the base must be a sampler without state"):
        refinement(refinement())
