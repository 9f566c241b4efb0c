"""Separable networks: sums of products in numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.networks import MLP, Separable, count_parameters
from phijax.series import carries_series

KEY = jax.random.key(7)


def test_value_is_the_sum_over_the_rank_of_products_of_the_bodies():
    with precision_scope("float64"):
        network = Separable(MLP(width=5, depth=2), rank=4)(KEY, 3, 2)
        x = np.array([0.3, -0.6, 0.9])
        factors = [np.asarray(body(jnp.asarray(x[i : i + 1]))).reshape(2, 4) for i, body in enumerate(network.bodies)]
        np.testing.assert_allclose(network(jnp.asarray(x)), np.einsum("or,or,or->o", *factors), rtol=1e-13)


def test_of_rank_one_it_is_a_product():
    with precision_scope("float64"):
        u = Separable(MLP(width=5, depth=1), rank=1)(KEY, 2, 1)
        value = lambda a, b: float(u(jnp.array([a, b]))[0])
        assert value(0.1, 0.7) * value(-0.4, 0.2) == pytest.approx(value(0.1, 0.2) * value(-0.4, 0.7), rel=1e-12)


def test_each_input_has_a_body_of_its_own():
    network = Separable(MLP(width=5, depth=1), rank=2)(KEY, 3, 1)
    weights = {np.asarray(body.layers[0].weight).tobytes() for body in network.bodies}
    assert len(weights) == 3
    assert count_parameters(network) == 3 * (5 + 5 + 5 * 2 + 2)


def test_any_function_serves_as_a_body_and_one_without_a_rule_is_left_to_jax():
    def body(key, inputs, outputs):
        weight = jax.random.normal(key, (inputs, outputs))
        return lambda x: jnp.tanh(x @ weight)

    network = Separable(body, rank=3)(KEY, 2, 1)
    assert network(jnp.array([0.1, 0.2])).shape == (1,)
    assert not carries_series(network)
    assert carries_series(Separable()(KEY, 2, 1))


def test_bodies_draw_what_they_drop_from_keys_of_their_own():
    network = Separable(MLP(width=8, depth=1, dropout=0.5), rank=2)(KEY, 2, 1)
    x = jnp.array([0.3, 0.3])
    parts = [body(x[:1], key=jax.random.fold_in(KEY, i)) for i, body in enumerate(network.bodies)]
    np.testing.assert_allclose(network(x, key=KEY), jnp.sum(parts[0] * parts[1], keepdims=True), rtol=1e-6)


def test_wrong_options_are_refused_by_name_in_a_separable_network():
    with pytest.raises(ValueError, match="Separable: rank=0 must be a whole number of at least 1"):
        Separable(rank=0)
    for body in (3, MLP):
        with pytest.raises(ValueError, match=r"Separable: body=.* must be a specification such as MLP\(\)"):
            Separable(body)
