"""Retain, resample, release: which points stay, and where they gather."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from following import arc, batches, check_arc, line

from phijax.sampling import PoolSampler, RegionSampler, RetainResampleRelease


def column(points):
    return points.coordinates["x"]


def test_points_above_the_mean_residual_stay_in_place_and_others_are_new():
    size = lambda points: np.exp(3 * column(points))
    residuals = lambda name, points: jnp.exp(3 * points.coordinates["x"])
    found = batches(RetainResampleRelease(RegionSampler(line), period=1), 64, 4, residuals)
    for before, after in itertools.pairwise(found):
        stays = size(before) > size(before).mean()
        assert 0 < stays.sum() < 64
        np.testing.assert_array_equal(column(before) == column(after), stays)


def test_points_gather_where_the_residual_stays_large():
    """Of the share s in the front, all stay while s < 1: 1 - s falls by 3/4 a refresh."""
    found = batches(RetainResampleRelease(RegionSampler(line), period=1), 4096, 5)
    shares = np.array([np.mean(column(points) < 0.25) for points in found])
    np.testing.assert_allclose((1 - shares[1:]) / (1 - shares[:-1]), 3 / 4, atol=0.02)


def test_new_points_are_uniform_and_unweighted():
    flat = lambda name, points: 0 * points.coordinates["x"]
    one, two = batches(RetainResampleRelease(RegionSampler(line), period=1), 256, 2, flat)
    assert one.weights is None
    assert not np.any(column(one) == column(two))
    np.testing.assert_allclose(np.sort(column(two)), (np.arange(256) + 0.5) / 256, atol=1 / 256)


def test_points_change_at_refreshes_alone():
    found = batches(RetainResampleRelease(RegionSampler(line), period=3), 32, 7)
    changed = [not np.array_equal(column(a), column(b)) for a, b in itertools.pairwise(found)]
    assert changed == [False, False, True, False, False, True]


def test_points_with_residuals_that_are_not_finite_are_replaced():
    residuals = lambda name, points: jnp.where(points.coordinates["x"] < 0.5, jnp.nan, 1.0)
    one, two = batches(RetainResampleRelease(RegionSampler(line), period=1), 32, 2, residuals)
    np.testing.assert_array_equal(column(one) == column(two), column(one) >= 0.5)


def test_regions_by_acceptance_keep_their_normals_when_rows_are_replaced():
    for points in batches(
        RetainResampleRelease(RegionSampler(arc), period=1), 16, 3, lambda n, p: jnp.abs(p.normals["y"])
    ):
        check_arc(points)


def test_what_has_no_new_points_or_no_period_is_refused():
    with pytest.raises(
        ValueError, match=r"RetainResampleRelease: the base, a PoolSampler, holds a finite set of points"
    ):
        RetainResampleRelease(PoolSampler({"x": np.arange(9.0)}))
    with pytest.raises(ValueError, match="RetainResampleRelease: period=0 must be a whole number"):
        RetainResampleRelease(RegionSampler(line), period=0)
