"""Points of the unit cube: exact counts, strictly inside, new for each key, and of low discrepancy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.sampling.unit import draw, sobol, sobol_generators, uniform

KEYS = [
    jax.random.key(5),
    jax.random.key(5, impl="rbg"),
    jax.random.key(5, impl="unsafe_rbg"),
    jax.random.PRNGKey(5),
]


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("method", ["sobol", "uniform"])
@pytest.mark.parametrize("key", KEYS, ids=["threefry", "rbg", "unsafe_rbg", "raw"])
def test_counts_precision_and_open_cube_for_every_kind_of_key(precision, method, key):
    with precision_scope(precision):
        unit = np.asarray(jax.jit(draw, static_argnums=(0, 2, 3))(method, key, 1000, 3))
        again = np.asarray(draw(method, key, 1000, 3))
    assert unit.shape == (1000, 3)
    assert unit.dtype == precision
    assert unit.min() > 0
    assert unit.max() < 1
    np.testing.assert_array_equal(unit, again)
    np.testing.assert_allclose(unit.mean(0), 0.5, atol=0.03)


def test_the_ends_of_the_generator_stay_inside_the_cube(monkeypatch):
    for bits in (0, 2**32 - 1):
        constant = lambda key, shape, dtype, bits=bits: jnp.full(shape, np.iinfo(dtype).max if bits else 0, dtype)
        monkeypatch.setattr(jax.random, "bits", constant)
        for precision in ("float32", "float64"):
            with precision_scope(precision):
                for unit in (sobol(KEYS[0], 1, 2), uniform(KEYS[0], 1, 2)):
                    assert 0 < float(unit[0, 0]) < 1


def test_sobol_has_a_much_lower_integration_error_than_uniform():
    """RMS error of the mean of prod (1 + (x_i - 1/2)) over 20 keys, 4096 points, 3 dimensions."""
    f = lambda unit: jnp.mean(jnp.prod(unit + 0.5, axis=1)) - 1
    with precision_scope("float64"):
        keys = jax.random.split(jax.random.key(0), 20)
        error = {
            m: np.sqrt(np.mean([float(f(draw(m, key, 4096, 3))) ** 2 for key in keys])) for m in ("sobol", "uniform")
        }
    assert error["uniform"] == pytest.approx(np.sqrt(((13 / 12) ** 3 - 1) / 4096), rel=0.5)
    assert error["sobol"] < error["uniform"] / 100


def test_scrambling_keeps_the_net_balanced():
    """Each of 64 boxes of 8 x 8 holds one of 64 points, for every key."""
    for seed in range(3):
        unit = np.asarray(sobol(jax.random.key(seed), 64, 2))
        assert len({tuple(row) for row in np.floor(unit * 8).astype(int)}) == 64


def test_points_are_new_for_each_key():
    a, b = (np.asarray(sobol(jax.random.key(seed), 256, 2)) for seed in (1, 2))
    assert not np.intersect1d(a[:, 0], b[:, 0]).size


def test_every_dimension_is_scrambled_by_itself():
    bits = np.floor(np.asarray(sobol(KEYS[0], 2, 3), "float64") * 2**24).astype(int)
    assert len(set(bits[0])) == 3  # the shift
    assert len(set(bits[0] ^ bits[1])) == 3  # the matrix


def test_the_generators_are_the_published_ones():
    """Joe & Kuo (2008): 1/2, 1/4, 1/8 in the first dimension, 1/2, 3/4, 5/8 in the second."""
    np.testing.assert_array_equal(sobol_generators(3, 2) / 2.0**29, [[4, 4], [2, 6], [1, 5]])


def test_points_are_uniform_in_every_bit_over_keys():
    """A point alone is uniform: over 4000 keys, its first and 20th bits are one half of the time."""
    points = jax.vmap(lambda key: sobol(key, 3, 1))(jax.random.split(jax.random.key(0), 4000))[:, 2, 0]
    for bit in (1, 20):
        share = np.mean(np.floor(np.asarray(points, "float64") * 2**bit) % 2)
        assert share == pytest.approx(0.5, abs=0.04)


def test_as_many_dimensions_as_the_direction_numbers_have():
    assert sobol(jax.random.key(0), 2, 21201).shape == (2, 21201)
    with pytest.raises(ValueError, match="at most 21201 dimensions, not 21202; use method='uniform'"):
        sobol(jax.random.key(0), 2, 21202)


@pytest.mark.parametrize(("bits", "d"), [(5, 1), (12, 2), (13, 40), (6, 1200)])
def test_the_generators_are_those_of_scipys_sequence(bits, d):
    from scipy.stats import qmc

    table = qmc.Sobol(d, scramble=False, bits=32).random_base2(bits)
    by_gray_code = 2 ** np.arange(1, bits + 1) - 1  # scipy's point i is that of i ^ (i >> 1)
    np.testing.assert_array_equal(sobol_generators(bits, d), np.round(table[by_gray_code] * 2.0**32).astype(np.uint32))
