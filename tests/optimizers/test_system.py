"""The stacked residual vector and its derivatives, against JAX's own and against finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.optimizers import LeastSquaresSystem
from phijax.sampling.points import Points


@pytest.fixture(autouse=True)
def double():
    with precision_scope("float64"):
        yield


def flow(params, point):
    """Two terms on one point."""
    x = point.coordinates["x"]
    hidden = jnp.tanh(params["w"] * x + params["b"])
    return {"sum": jnp.sum(params["v"] * hidden) - x, "product": hidden[0] * hidden[1]}


def wall(params, point):
    return {"": jnp.sin(jnp.sum(params["v"])) * point.coordinates["x"] ** 2 - 1}


WEIGHTS = {"flow/sum": 4.0, "flow/product": 0.25, "wall": 9.0}


def build():
    params = {"w": jnp.array([0.3, -0.7]), "b": jnp.array([0.1, 0.2]), "v": jnp.array([1.1, -0.4])}
    batch = {
        "flow": Points({"x": jnp.linspace(-1, 1, 5)}, weights=jnp.array([0.5, 1.0, 1.0, 2.0, 0.5])),
        "wall": Points({"x": jnp.array([0.2, 0.9, 1.4])}),
    }
    return LeastSquaresSystem({"flow": flow, "wall": wall}, params), params, batch


def by_hand(params, batch, weights):
    """Rows by block, then point, then term, in plain NumPy."""
    w, b, v = (np.asarray(params[name]) for name in ("w", "b", "v"))
    rows = []
    points = batch["flow"]
    for x, point_weight in zip(np.asarray(points.coordinates["x"]), np.asarray(points.weights), strict=True):
        hidden = np.tanh(w * x + b)
        rows.append(np.sqrt(weights["flow/sum"] * point_weight / 5) * (v @ hidden - x))
        rows.append(np.sqrt(weights["flow/product"] * point_weight / 5) * hidden[0] * hidden[1])
    for x in np.asarray(batch["wall"].coordinates["x"]):
        rows.append(np.sqrt(weights["wall"] / 3) * (np.sin(v.sum()) * x**2 - 1))
    return np.array(rows)


def test_rows_follow_block_point_term_and_carry_the_square_roots_of_the_weights():
    system, params, batch = build()
    np.testing.assert_allclose(
        system.residual(system.theta, batch, WEIGHTS), by_hand(params, batch, WEIGHTS), rtol=1e-14
    )


def test_the_sum_of_squares_is_the_weighted_sum_of_mean_squares():
    system, params, batch = build()
    terms = {
        name: jax.vmap(lambda point, f=f: f(params, point))(batch[name]) for name, f in (("flow", flow), ("wall", wall))
    }
    total = sum(
        WEIGHTS[f"flow/{term}"] * jnp.mean(batch["flow"].weights * value**2) for term, value in terms["flow"].items()
    ) + WEIGHTS["wall"] * jnp.mean(terms["wall"][""] ** 2)
    r = system.residual(system.theta, batch, WEIGHTS)
    assert float(r @ r) == pytest.approx(float(total), rel=1e-14)


def test_a_weight_scales_the_squares_of_its_own_term_alone():
    system, _, batch = build()
    before = np.asarray(system.residual(system.theta, batch, WEIGHTS)) ** 2
    after = np.asarray(system.residual(system.theta, batch, WEIGHTS | {"flow/product": 1.0})) ** 2
    factor = np.ones(13)
    factor[1:10:2] = 4
    np.testing.assert_allclose(after, factor * before, rtol=1e-14)


def test_jacobian_equals_forward_mode_of_the_whole_vector():
    system, _, batch = build()
    r, jacobian = system.jacobian(system.theta, batch, WEIGHTS)
    np.testing.assert_allclose(r, system.residual(system.theta, batch, WEIGHTS), rtol=1e-14)
    reference = jax.jacfwd(lambda theta: system.residual(theta, batch, WEIGHTS))(system.theta)
    assert jacobian.shape == (13, 6)
    np.testing.assert_allclose(jacobian, reference, rtol=1e-12, atol=1e-14)


def test_curvature_equals_second_differences_along_the_direction():
    system, _, batch = build()
    d, h = jnp.linspace(-1, 1, 6), 1e-4
    ahead, here, behind = (system.residual(system.theta + s * h * d, batch, WEIGHTS) for s in (1, 0, -1))
    np.testing.assert_allclose(
        system.curvature(system.theta, d, batch, WEIGHTS), (ahead - 2 * here + behind) / h**2, atol=1e-6
    )


def test_losses_along_the_parabola():
    system, _, batch = build()
    d, a, steps = jnp.linspace(-1, 1, 6), jnp.linspace(0.5, -0.3, 6), jnp.array([2.0, 0.5, 0.01])
    expected = [
        float(jnp.sum(system.residual(system.theta + s * d + s**2 / 2 * a, batch, WEIGHTS) ** 2))
        for s in (2.0, 0.5, 0.01)
    ]
    np.testing.assert_allclose(system.losses_along(system.theta, d, a, steps, batch, WEIGHTS), expected, rtol=1e-13)


def test_new_points_and_new_weights_compile_nothing():
    traces = 0

    def counted(params, point):
        nonlocal traces
        traces += 1
        return wall(params, point)

    _, params, _ = build()
    system = LeastSquaresSystem({"wall": counted}, params)
    for shift, weight in ((0.0, 1.0), (0.5, 2.0), (0.7, 3.0)):
        batch = {"wall": Points({"x": jnp.array([0.2, 0.9, 1.4]) + shift})}
        system.jacobian(system.theta, batch, {"wall": jnp.asarray(weight)})
        if shift == 0.0:
            first = traces
    assert traces == first


def test_float32_parameters_give_float32_rows():
    with precision_scope("float32"):
        params = {"w": jnp.array([0.3, -0.7]), "b": jnp.zeros(2), "v": jnp.ones(2)}
        system = LeastSquaresSystem({"wall": wall}, params)
        r, jacobian = system.jacobian(system.theta, {"wall": Points({"x": jnp.ones(3)})}, {"wall": 1.0})
        assert r.dtype == jacobian.dtype == jnp.float32


def test_a_term_without_a_weight_is_named():
    system, _, batch = build()
    with pytest.raises(
        ValueError, match=r"no weight for the loss term 'wall'; weights were given for flow/product, flow/sum"
    ):
        system.residual(system.theta, batch, {"flow/sum": 1.0, "flow/product": 1.0})


def test_carried_arrays_are_read_and_neither_differentiated_nor_compiled_anew():
    traces = []

    def fit(arrays, point):
        traces.append(1)
        return {"": arrays["slope"] * point["x"] + arrays["offset"]}

    params = {"slope": jnp.ones(1)[0], "offset": None}
    first = LeastSquaresSystem({"fit": fit}, params, {"slope": None, "offset": jnp.asarray(2.0)})
    batch, one = {"fit": {"x": jnp.ones(4)}}, {"fit": 1.0}
    value, jacobian = first.jacobian(first.theta, batch, one)
    count = len(traces)
    other, _ = first.carrying({"slope": None, "offset": jnp.asarray(3.0)}).jacobian(first.theta, batch, one)
    assert jacobian.shape == (4, 1)
    np.testing.assert_allclose(np.asarray(value), 3 / 2, rtol=1e-14)
    np.testing.assert_allclose(np.asarray(other), 4 / 2, rtol=1e-14)
    assert len(traces) == count
