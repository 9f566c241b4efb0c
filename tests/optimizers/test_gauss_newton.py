"""Gauss-Newton on problems whose minimum is known, its damping, its stops and its replays."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.optimizers import GaussNewton, LeastSquaresSystem
from phijax.optimizers.gauss_newton import GaussNewtonState, _judged, _Trial

ONE = {"fit": 1.0}


@pytest.fixture(autouse=True)
def double():
    with precision_scope("float64"):
        yield


def linear_system(rows: int, columns: int, seed: int = 0):
    matrix = np.random.default_rng(seed).standard_normal((rows, columns + 1))

    def fit(params, point):
        return {"": point["row"] @ params - point["value"]}

    batch = {"fit": {"row": jnp.asarray(matrix[:, :-1]), "value": jnp.asarray(matrix[:, -1])}}
    return LeastSquaresSystem({"fit": fit}, jnp.zeros(columns)), batch, matrix[:, :-1], matrix[:, -1]


def rosenbrock_system():
    def fit(params, point):
        x, y = params
        return {"slope": 10 * (y - x**2), "level": 1 - x}

    return LeastSquaresSystem({"fit": fit}, jnp.array([-1.2, 1.0])), {"fit": {"x": jnp.zeros(1)}}


def network_system(points: int, seed: int = 1):
    """sin(3 x) by a network of 25 parameters."""
    keys = jax.random.split(jax.random.key(seed), 2)
    params = (jax.random.normal(keys[0], (8, 1)), jnp.zeros(8), jax.random.normal(keys[1], (1, 8)), jnp.zeros(1))

    def fit(params, point):
        w, b, v, c = params
        return {"": (v @ jnp.tanh(w @ point["x"][None] + b) + c)[0] - jnp.sin(3 * point["x"])}

    return LeastSquaresSystem({"fit": fit}, params), {"fit": {"x": jnp.linspace(-1, 1, points)}}


def run(optimizer, system, batches, weights, steps, theta=None, state=None, start=0):
    theta = system.theta if theta is None else theta
    state = optimizer.init(theta) if state is None else state
    infos = []
    for step in range(start, steps):
        theta, state, info = optimizer.step(system, theta, state, batches(step), weights)
        infos.append(info)
        if info.stop:
            break
    return theta, state, infos


def test_a_linear_problem_reaches_the_solution_of_lstsq():
    system, batch, matrix, right = linear_system(40, 7)
    theta, _, _ = run(GaussNewton(refresh=0), system, lambda _: batch, ONE, 30)
    np.testing.assert_allclose(theta, np.linalg.lstsq(matrix, right, rcond=None)[0], atol=1e-10)


def test_fewer_rows_than_parameters_reach_the_solution_of_least_norm():
    system, batch, matrix, right = linear_system(7, 40)
    theta, _, _ = run(GaussNewton(refresh=0), system, lambda _: batch, ONE, 30)
    np.testing.assert_allclose(theta, np.linalg.lstsq(matrix, right, rcond=None)[0], atol=1e-8)


def test_rosenbrock_to_rounding():
    system, batch = rosenbrock_system()
    theta, _, infos = run(GaussNewton(refresh=0), system, lambda _: batch, {"fit/slope": 1.0, "fit/level": 1.0}, 60)
    np.testing.assert_allclose(theta, [1.0, 1.0], atol=1e-10)
    assert infos[-1].loss < 1e-20


def test_the_loss_of_a_step_is_that_of_the_parameters_it_gives():
    system, batch = network_system(40)
    theta, _, infos = run(GaussNewton(), system, lambda _: batch, ONE, 3)
    r = system.residual(theta, batch, ONE)
    assert infos[-1].accepted
    assert infos[-1].loss == pytest.approx(float(r @ r), rel=1e-12)


def test_a_network_fits_a_sine_to_a_mean_square_of_1e_7_in_100_steps():
    system, batch = network_system(60)
    _, _, infos = run(GaussNewton(refresh=0), system, lambda _: batch, ONE, 100)
    assert infos[-1].loss < 1e-7


def test_weights_move_the_solution_as_weighted_least_squares():
    def term(params, point):
        return {"left": params[0] - 1.0, "right": params[0] - 3.0}

    system = LeastSquaresSystem({"t": term}, jnp.zeros(1))
    theta, _, _ = run(GaussNewton(), system, lambda _: {"t": {"x": jnp.zeros(2)}}, {"t/left": 3.0, "t/right": 1.0}, 20)
    assert float(theta[0]) == pytest.approx((3 * 1 + 1 * 3) / 4, abs=1e-9)


def test_a_run_cut_anywhere_and_gone_on_with_has_the_same_bits():
    system, _ = network_system(40)
    points = np.random.default_rng(0).uniform(-1, 1, (4, 40))
    batches = lambda step: {"fit": {"x": jnp.asarray(points[step // 5])}}
    optimizer = GaussNewton()
    whole, whole_state, _ = run(optimizer, system, batches, ONE, 18)
    theta, state, _ = run(optimizer, system, batches, ONE, 7)
    stored = [np.asarray(leaf) for leaf in (theta, *state)]
    theta, *leaves = (jnp.asarray(leaf) for leaf in stored)
    fresh, _ = network_system(40)
    again, again_state, _ = run(
        GaussNewton(), fresh, batches, ONE, 18, theta=theta, state=GaussNewtonState(*leaves), start=7
    )
    assert np.asarray(whole).tobytes() == np.asarray(again).tobytes()
    for one, other in zip(whole_state, again_state, strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_state_follows_the_precision_of_the_parameters():
    assert {str(leaf.dtype) for leaf in GaussNewton().init(jnp.zeros(3))} == {"float64", "int32"}
    with precision_scope("float32"):
        assert {str(leaf.dtype) for leaf in GaussNewton().init(jnp.zeros(3))} == {"float32", "int32"}


def test_new_points_on_which_the_loss_no_longer_falls_end_the_run():
    rng = np.random.default_rng(5)

    def fit(params, point):
        return {"": params[0] * point["x"] - point["y"]}

    def batches(step):
        noise = np.random.default_rng(step // 2).standard_normal(50)
        x = np.linspace(0, 1, 50)
        return {"fit": {"x": jnp.asarray(x), "y": jnp.asarray(x + 0.1 * noise)}}

    system = LeastSquaresSystem({"fit": fit}, jnp.asarray(rng.standard_normal(1)))
    _, state, infos = run(GaussNewton(refresh=2, patience=6), system, batches, ONE, 200)
    assert infos[-1].stop == (
        f"The loss on new points no longer falls: {float(state.best):.2e}, 6 changes of points ago."
    )
    assert len(infos) < 60


def test_a_loss_on_new_points_within_the_tolerance_ends_the_run():
    system, _ = network_system(40)
    points = np.random.default_rng(0).uniform(-1, 1, (100, 40))
    batches = lambda step: {"fit": {"x": jnp.asarray(points[step // 5])}}
    _, _, infos = run(GaussNewton(tolerance=1e-5), system, batches, ONE, 200)
    met = float(re.match(r"The loss on new points is (\S+), within the tolerance of 1.0e-05", infos[-1].stop)[1])
    assert met <= 1e-5
    assert len(infos) % 5 == 1  # told at the first step on new points alone


def test_fixed_points_on_which_no_step_lowers_the_loss_end_the_run():
    system, batch, matrix, right = linear_system(40, 7)
    _, _, infos = run(GaussNewton(refresh=0, idle=8), system, lambda _: batch, ONE, 100)
    lowest = np.linalg.lstsq(matrix, right, rcond=None)[1][0] / 40
    assert infos[-1].stop == f"No step lowers the loss any more: {lowest:.2e} for 8 steps."


def test_single_precision_says_that_it_is_used_up():
    with precision_scope("float32"):
        system, batch, _, _ = linear_system(40, 7)
        consistent = {"fit": {"row": batch["fit"]["row"], "value": batch["fit"]["row"] @ jnp.arange(1.0, 8.0)}}
        theta, _, infos = run(GaussNewton(refresh=0), system, lambda _: consistent, ONE, 200)
    assert infos[-1].stop.startswith("The precision of float32 is reached: a loss of ")
    np.testing.assert_allclose(np.asarray(theta), np.arange(1.0, 8.0), rtol=1e-5)


def test_damping_falls_after_long_steps_and_rises_after_short_ones():
    optimizer = GaussNewton(damping=1e-3, long=0.5, short=0.25, lower=4.0, higher=2.0)
    state = optimizer.init(jnp.zeros(2))._replace(loss=jnp.asarray(2.0))
    by_eta = {1.0: 1e-3 / 4, 0.25: 1e-3, 0.125: 2e-3, 0.0: 1e-2}
    for eta, expected in by_eta.items():
        after = optimizer._after(state, 1e-3, _Trial(1.0, eta))
        assert float(after.damping) == pytest.approx(expected)


def test_the_floor_of_the_damping_rises_where_new_points_show_overfitting_and_sinks_where_they_do_not():
    state = GaussNewton(damping=1e-6).init(jnp.zeros(2))._replace(loss=jnp.asarray(1.0), floor=jnp.asarray(1e-6))
    assert float(_judged(state, 30.0, 1e-8).floor) == pytest.approx(1e-5)
    assert float(_judged(state, 10.0, 1e-8).floor) == pytest.approx(1e-6)
    assert float(_judged(state, 2.0, 1e-8).floor) == pytest.approx(1e-6 / 3)
    assert _judged(state, 1.0 + 1e-12, 1e-8) is state


def test_settings_out_of_range_are_named():
    with pytest.raises(ValueError, match=r"GaussNewton: patience=0 must be at least 1\."):
        GaussNewton(patience=0)
