"""NTK: exact traces against whole Jacobians, and the weights by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.balancing import NTK, RowwiseResiduals, kernel_traces
from phijax.networks import MLP, frozen

KEY, STEP = jax.random.key(0), jnp.array(0)


def refreshed(balancer, params, residuals):
    shapes = jax.eval_shape(residuals, params)
    losses = {term: jnp.ones(()) for term in shapes}
    state = balancer.initialize(tuple(shapes))
    diagnostics = balancer.diagnostics(params, losses=None, residuals=residuals)
    new = balancer.update(state, losses, diagnostics, key=KEY, step=STEP)
    return {term: float(weight) for term, weight in new.weights.items()}


def test_trace_of_two_samples_with_opposite_gradients_is_twice_the_square():
    g = np.array([3.0, -4.0, 1.0])
    residuals = lambda theta: {"r": jnp.stack([theta @ jnp.asarray(g), -(theta @ jnp.asarray(g))])}
    assert float(kernel_traces(residuals, jnp.zeros(3))["r"]) == pytest.approx(2 * 26.0)
    rowwise = RowwiseResiduals(
        {"r": lambda theta, sign: {"r": sign * (theta @ jnp.asarray(g))}}, {"r": jnp.array([1.0, -1.0])}
    )
    assert float(kernel_traces(rowwise, jnp.zeros(3))["r"]) == pytest.approx(2 * 26.0)


def problem():
    network = MLP(width=4, depth=2)(KEY, 2, 1)
    params = {"net": network, "held": frozen(network), "lam": jnp.array(0.3), "steps": jnp.array(5)}
    points = jax.random.uniform(KEY, (7, 2))
    edge = jax.random.uniform(jax.random.key(1), (3, 2))

    def inside(p, x):
        u = lambda x: p["net"](x)[0]
        curvature = jnp.trace(jax.hessian(u)(x))
        return {"pde/a": curvature - p["lam"] * u(x), "pde/b": u(x) * p["held"](x)[0]}

    def wall(p, x):
        return {"wall": p["net"](x)[0] - 1.0}

    return params, RowwiseResiduals({"pde": inside, "wall": wall}, {"pde": points, "wall": edge})


@jax.jit
def jacobian_squares(params):
    floats = {name: params[name] for name in ("net", "held", "lam")}
    rows = jax.jacrev(lambda p: problem()[1](params | p))(floats)
    return {term: sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)) for term, tree in rows.items()}


@pytest.mark.parametrize("block", [None, 1, 2])
def test_trace_is_that_of_the_whole_jacobian_for_any_block(block):
    with precision_scope("float64"):
        params, rowwise = problem()
        by_row = jax.jit(lambda p: kernel_traces(rowwise, p, block))(params)
        by_cotangent = jax.jit(lambda p: kernel_traces(lambda q: rowwise(q), p, block))(params)
        assert set(by_row) == set(by_cotangent) == {"pde/a", "pde/b", "wall"}
        for term, value in jacobian_squares(params).items():
            assert float(by_row[term]) == pytest.approx(float(value), rel=1e-12)
            assert float(by_cotangent[term]) == pytest.approx(float(value), rel=1e-12)


def test_rows_may_carry_keys_of_a_stochastic_model():
    network = MLP(width=8, depth=1, dropout=0.5)(KEY, 1, 1)
    keys = jax.random.split(KEY, 5)
    rows = (jnp.linspace(0.0, 1.0, 5)[:, None], keys)
    rowwise = RowwiseResiduals({"r": lambda net, row: {"r": net(row[0], key=row[1])[0]}}, {"r": rows})
    gradients = jax.vmap(jax.grad(lambda net, x, key: net(x, key=key)[0]), (None, 0, 0))(network, *rows)
    expected = sum(np.sum(np.asarray(leaf) ** 2) for leaf in jax.tree.leaves(gradients))
    assert float(kernel_traces(rowwise, network, 2)["r"]) == pytest.approx(expected, rel=1e-5)


def test_rowwise_residuals_called_with_parameters_are_those_of_all_rows():
    params, rowwise = problem()
    values = jax.jit(rowwise)(params)
    assert {term: value.shape for term, value in values.items()} == {"pde/a": (7,), "pde/b": (7,), "wall": (3,)}
    last = rowwise.functions["wall"](params, rowwise.rows["wall"][2])["wall"]
    assert float(values["wall"][2]) == pytest.approx(float(last), rel=1e-6)


def test_weights_are_sum_of_traces_over_own_trace_for_equal_numbers_of_samples():
    residuals = lambda x: {"a": x * jnp.array([1.0, 1.0]), "b": x * jnp.array([2.0, 2.0])}
    # Traces 2 and 8: (2 + 8)/2 and (2 + 8)/8.
    assert refreshed(NTK(), jnp.array(1.0), residuals) == pytest.approx({"a": 5.0, "b": 1.25})


def test_weights_do_not_depend_on_how_many_samples_a_term_has():
    few = lambda x: {"a": x * jnp.ones(2), "b": 2.0 * x * jnp.ones(2)}
    many = lambda x: {"a": x * jnp.ones(2), "b": 2.0 * x * jnp.ones(40)}
    assert refreshed(NTK(), jnp.array(1.0), few) == pytest.approx(refreshed(NTK(), jnp.array(1.0), many))


def test_smoothing_keeps_that_share_of_the_present_weight_in_ntk():
    residuals = lambda x: {"a": x * jnp.ones(2), "b": 2.0 * x * jnp.ones(2)}
    weights = refreshed(NTK(smoothing=0.75), jnp.array(1.0), residuals)
    assert weights == pytest.approx({"a": 0.75 + 0.25 * 5.0, "b": 0.75 + 0.25 * 1.25})


def test_term_of_zero_trace_keeps_its_weight_and_is_left_out_of_the_sum():
    residuals = lambda x: {"a": x * jnp.ones(2), "b": 2.0 * x * jnp.ones(2), "dead": jnp.zeros(2)}
    assert refreshed(NTK(), jnp.array(1.0), residuals) == pytest.approx({"a": 5.0, "b": 1.25, "dead": 1.0})


def test_frozen_parameters_add_nothing_to_the_trace():
    with precision_scope("float64"):
        network = MLP(width=3, depth=1)(KEY, 1, 1)
        x = jnp.linspace(0.0, 1.0, 4)[:, None]
        residuals = lambda p: {"r": jax.vmap(lambda x: p["net"](x)[0])(x) * p["lam"]}
        params = {"net": frozen(network), "lam": jnp.array(2.0)}
        expected = np.sum(np.asarray(jax.vmap(network)(x)) ** 2)
        assert float(kernel_traces(residuals, params)["r"]) == pytest.approx(expected, rel=1e-12)


def test_wrong_options_of_ntk_are_refused():
    with pytest.raises(ValueError, match="NTK: every=-5 must be a whole number of at least 1"):
        NTK(every=-5)
    with pytest.raises(ValueError, match=r"NTK: smoothing=-0.1 must be"):
        NTK(smoothing=-0.1)
