"""Importance sampling: unbiased by its weights, of lower variance where the residual is peaked, its weights bounded."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from following import arc, batches, check_arc, line

from phijax._precision import precision_scope
from phijax.sampling import ImportanceSampler, Points, PoolSampler, RegionSampler
from phijax.sampling.stateful import begin

WIDTH = 0.02
EXACT = WIDTH * (np.arctan(0.7 / WIDTH) + np.arctan(0.3 / WIDTH))  # of 1 / (1 + ((x - 0.3) / WIDTH)^2) over [0, 1]


def peak(points):
    """A residual whose square is a peak of that integral."""
    return 1 / jnp.sqrt(1 + ((points.coordinates["x"] - 0.3) / WIDTH) ** 2)


def means(sampler, n, keys, judged=peak):
    """Mean of weight x r^2 for each key, the density being that of the residual `judged`."""

    def one(key):
        _, points = jax.tree.map(jnp.asarray, drawn(sampler, key, n, judged))
        weights = 1.0 if points.weights is None else points.weights
        return jnp.mean(weights * peak(points) ** 2)

    return np.asarray(jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(5), keys)))


def drawn(sampler, key, n, judged):
    if not hasattr(sampler, "pool"):
        return None, sampler.sample(key, n)
    pool_key, pick_key = jax.random.split(key)
    state, candidates = sampler.pool(None, pool_key, n)
    return sampler.sample(sampler.update(state, judged(candidates)), pick_key, n)


@pytest.mark.parametrize("exponent", [1.0, 2.0])
@pytest.mark.parametrize("method", ["uniform", "sobol"])
def test_weighted_means_are_unbiased_estimates_of_the_integral(exponent, method):
    with precision_scope("float64"):
        found = means(ImportanceSampler(RegionSampler(line, method), exponent=exponent), 32, 4000)
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - EXACT) < 3.5 * error
    assert error < 0.01 * EXACT


def test_they_are_unbiased_for_what_the_points_did_not_follow():
    elsewhere = lambda points: (points.coordinates["x"] > 0.5) * 1.0
    found = means(ImportanceSampler(RegionSampler(line, "uniform"), exponent=2.0), 32, 20000, elsewhere)
    assert abs(np.mean(found) - EXACT) < 3.5 * np.std(found) / np.sqrt(len(found))


def test_their_variance_on_a_peak_is_lower_than_that_of_uniform_points():
    with precision_scope("float64"):
        uniform = np.var(means(RegionSampler(line, "uniform"), 32, 4000))
        by_size, by_square = (
            np.var(means(ImportanceSampler(RegionSampler(line, "uniform"), exponent=k, pool_factor=32), 32, 4000))
            for k in (1.0, 2.0)
        )
    assert by_size < uniform / 5
    assert by_square < by_size


def test_weights_are_bounded_and_of_mean_one():
    sampler = ImportanceSampler(RegionSampler(line), period=1, uniform=0.2, exponent=4.0)
    weights = np.stack([points.weights for points in batches(sampler, 64, 200, lambda name, points: peak(points))])
    assert np.max(weights) < 5 * (1 + 1e-6)
    assert np.mean(weights) == pytest.approx(1.0, abs=4 * np.std(weights.mean(1)) / np.sqrt(200))


def test_equal_residuals_give_equal_weights_as_do_zero_and_no_finite_ones():
    for value in (1.0, 0.0, jnp.nan):
        points = batches(
            ImportanceSampler(RegionSampler(line, "uniform")), 32, 1, lambda n, p, v=value: v + 0 * p.coordinates["x"]
        )[0]
        np.testing.assert_allclose(points.weights, 1, rtol=1e-6)


def test_weights_of_the_base_are_kept():
    """A base of density 2 x, which it tells by weights 1 / (2 x): the estimate is still that of the uniform mean."""

    class Ramp:
        def sample(self, key, n):
            column = jnp.sqrt(jax.random.uniform(key, (n,), minval=1e-4))
            return Points({"x": column}, weights=0.5 / column)

    with precision_scope("float64"):
        found = means(ImportanceSampler(Ramp()), 64, 8000)
    assert abs(np.mean(found) - EXACT) < 4 * np.std(found) / np.sqrt(len(found)) + 1e-4 * EXACT


def test_a_finite_pool_of_points_can_be_drawn_from():
    pool = PoolSampler(Points({"x": np.linspace(0.0, 1.0, 101)}))
    found = batches(ImportanceSampler(pool, uniform=0.01), 64, 1, lambda name, p: (p.coordinates["x"] > 0.895) * 1.0)[0]
    inside = found.coordinates["x"] > 0.895
    assert inside.sum() >= 63
    np.testing.assert_allclose(found.weights[inside], 1 / (0.99 * 101 / 11 + 0.01), rtol=1e-5)


def test_regions_by_acceptance_keep_their_normals_and_points_their_precision():
    for precision in ("float32", "float64"):
        with precision_scope(precision):
            sampler = ImportanceSampler(RegionSampler(arc), period=1)
            for points in batches(sampler, 16, 2, lambda name, p: jnp.abs(p.normals["y"])):
                check_arc(points)
                assert {leaf.dtype.name for leaf in jax.tree.leaves(points)} == {precision}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"period": 0}, "period=0 must be a whole number"),
        ({"pool_factor": 0}, "pool_factor=0 must be"),
        ({"exponent": -0.5}, r"exponent=-0\.5 must be a finite number of at least 0"),
        ({"uniform": 0.0}, r"uniform=0\.0 must be a finite number above 0 and at most 1"),
        ({"uniform": 1.5}, r"uniform=1\.5 must be a finite number above 0 and at most 1"),
    ],
)
def test_options_out_of_range_are_refused_in_importance(options, message):
    with pytest.raises(ValueError, match=f"ImportanceSampler: {message}"):
        ImportanceSampler(RegionSampler(line), **options)


def test_rows_that_carry_no_weights_are_refused_by_name():
    with pytest.raises(ValueError, match="ImportanceSampler: its base gives dict, which carries no weights"):
        begin(ImportanceSampler(PoolSampler({"x": np.arange(9.0)})), jax.random.key(0), 4)
