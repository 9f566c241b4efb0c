"""Residual-adaptive points: their density, when they change, and what residuals can do to them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import phijax.geometry as geo
from phijax.sampling import NamedBatchSource, PoolSampler, RegionSampler, ResidualAdaptive
from phijax.sampling.adaptive import density
from phijax.symbolic import coordinates

(x,) = coordinates("x")
line = geo.Interval(x, 0, 1)
KEY = jax.random.key(2)


evenly = eqx.filter_jit(lambda source, step: source(step))


def front(name, points):
    """Residuals of one on [0, 1/4], zero elsewhere."""
    return (points.coordinates["x"] < 0.25).astype(points.coordinates["x"].dtype)


def compiled(source, residuals):
    """`draw` of the source in one piece."""
    return jax.jit(lambda state, step: source.draw(state, step, residuals))


def drawn(sampler, n, steps, residuals):
    """Columns of x over the steps."""
    source = NamedBatchSource({"pde": sampler}, {"pde": n}, KEY)
    draw = compiled(source, residuals)
    state, columns = source.init(), []
    for step in range(steps):
        state, batch = draw(state, step)
        columns.append(np.asarray(batch["pde"].coordinates["x"]))
    return columns


def test_density_of_wu_et_al():
    """|r|^k / mean |r|^k + c, up to a factor."""
    r = jnp.array([1.0, -2.0, 3.0, 0.0])
    np.testing.assert_allclose(density(r, 1, 1), np.abs(r) / 1.5 + 1, rtol=1e-6)
    np.testing.assert_allclose(density(r, 2, 0.5), np.abs(r) ** 2 / 3.5 + 0.5, rtol=1e-6)
    np.testing.assert_allclose(density(r * 1e-30, 2, 0.5), np.abs(r) ** 2 / 3.5 + 0.5, rtol=1e-6)


def test_points_gather_where_the_residual_is_large():
    """A quarter of the line has density 4 + 1, the rest 1, so that it holds 5/8 of draws from a large pool."""
    sampler = ResidualAdaptive(RegionSampler(line), period=1, pool_factor=64)
    share = np.mean([np.mean(column < 0.25) for column in drawn(sampler, 250, 8, front)])
    assert share == pytest.approx(5 / 8, abs=0.03)


def test_points_are_picked_without_replacement():
    (column,) = drawn(ResidualAdaptive(RegionSampler(line), pool_factor=2), 512, 1, front)
    assert len(np.unique(column)) == 512


def test_points_change_at_steps_divisible_by_the_period_alone():
    columns = drawn(ResidualAdaptive(RegionSampler(line), period=3), 16, 7, front)
    kept = [np.array_equal(columns[step], columns[step - 1]) for step in range(1, 7)]
    assert kept == [True, True, False, True, True, False]


def test_points_follow_the_model_of_their_step():
    """The batch is a function of key, step and state: the residuals of another model move the refresh and no more."""
    sampler = ResidualAdaptive(RegionSampler(line), period=2, pool_factor=32)
    left = drawn(sampler, 64, 1, front)[0]
    right = drawn(sampler, 64, 1, lambda name, points: 1 - front(name, points))[0]
    assert np.mean(left < 0.25) > 0.5
    assert np.mean(right < 0.25) < 0.25


@pytest.mark.parametrize(
    "values", [lambda p: 0 * p, lambda p: jnp.where(p < 0.5, jnp.nan, 1), lambda p: jnp.where(p < 0.5, jnp.inf, 1)]
)
def test_residuals_that_are_zero_or_not_finite_leave_points_in_the_region(values):
    columns = drawn(ResidualAdaptive(RegionSampler(line), period=1), 64, 3, lambda n, p: values(p.coordinates["x"]))
    for column in columns:
        assert np.all((column > 0) & (column < 1))
        assert len(np.unique(column)) == 64


def test_other_samplers_keep_their_points_beside_an_adaptive_one():
    plain = NamedBatchSource(
        {"pde": RegionSampler(line), "ends": RegionSampler(line.boundary)}, {"pde": 8, "ends": 4}, KEY
    )
    mixed = NamedBatchSource(
        {"pde": ResidualAdaptive(RegionSampler(line)), "ends": RegionSampler(line.boundary)}, {"pde": 8, "ends": 4}, KEY
    )
    state, draw = mixed.init(), compiled(mixed, front)
    for step in range(3):
        state, batch = draw(state, step)
        np.testing.assert_array_equal(batch["ends"].coordinates["x"], evenly(plain, step)["ends"].coordinates["x"])


def test_candidates_and_picks_have_keys_of_their_own():
    sampler = ResidualAdaptive(RegionSampler(line, "uniform"), pool_factor=4)
    source = NamedBatchSource({"pde": sampler}, {"pde": 8}, KEY)
    _, batch = source.draw(source.init(), 0, front)
    pool_key, pick_key = jax.random.split(jax.random.split(jax.random.fold_in(KEY, 0), 1)[0])
    pool = sampler.update(sampler.pool(None, pool_key, 8)[0], front("pde", sampler.pool(None, pool_key, 8)[1]))
    _, expected = sampler.sample(pool, pick_key, 8)
    np.testing.assert_array_equal(batch["pde"].coordinates["x"], expected.coordinates["x"])


def test_an_adaptive_sampler_reads_the_residuals_of_its_own_name():
    samplers = {"ends": RegionSampler(line.boundary), "pde": ResidualAdaptive(RegionSampler(line))}
    source, asked = NamedBatchSource(samplers, {"ends": 4, "pde": 8}, KEY), []
    source.draw(source.init(), 0, lambda name, points: asked.append(name) or front(name, points))
    assert set(asked) == {"pde"}


def test_points_before_the_first_refresh_are_of_the_region_too():
    source = NamedBatchSource({"pde": ResidualAdaptive(RegionSampler(line), period=10)}, {"pde": 32}, KEY)
    _, batch = compiled(source, front)(source.init(), 7)
    column = np.asarray(batch["pde"].coordinates["x"])
    assert np.all((column > 0) & (column < 1))
    assert np.ptp(column) > 0.5


def test_a_finite_pool_can_be_refined():
    pool = PoolSampler({"x": np.arange(100.0)})
    source = NamedBatchSource({"data": ResidualAdaptive(pool, offset=0.0)}, {"data": 20}, KEY)
    _, batch = compiled(source, lambda name, points: (points["x"] >= 80.0) * 1.0)(source.init(), 0)
    assert sorted(np.asarray(batch["data"]["x"])) == list(range(80, 100))


def test_without_residuals_an_adaptive_sampler_is_refused():
    source = NamedBatchSource({"pde": ResidualAdaptive(RegionSampler(line))}, {"pde": 8}, KEY)
    with pytest.raises(ValueError, match="needs the residuals of the current model"):
        source.draw(source.init(), 0, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"period": 0}, "period=0 must be at least 1"),
        ({"pool_factor": 0}, "pool_factor=0 must be at least 1"),
        ({"exponent": -1}, "exponent=-1 must be at least 0"),
        ({"offset": -0.5}, "offset=-0.5 must be at least 0"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=f"ResidualAdaptive: {message}"):
        ResidualAdaptive(RegionSampler(line), **options)
