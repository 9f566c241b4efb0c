"""Levenberg-Marquardt: its rules of damping against their definitions, and its failures."""

import jax.numpy as jnp
import numpy as np
import pytest

from phijax.optimizers import LeastSquaresSystem, LevenbergMarquardt
from phijax.optimizers.levenberg_marquardt import CAP, FLOOR, _Trial

pytestmark = pytest.mark.usefixtures("double")


def ladder(ratio_of):
    """attempt(damping) with a ratio that is a function of the damping; what was tried is kept."""
    tried = []

    def attempt(damping):
        tried.append(damping)
        return _Trial(damping, 1.0, ratio_of(damping), jnp.zeros(1))

    return attempt, tried


@pytest.mark.parametrize("rule", ["nielsen", "target_ratio"])
def test_one_step_of_almost_no_damping_solves_a_linear_problem(rule, systems, steps):
    system, batch, weights, matrix, right = systems.linear()
    optimizer = LevenbergMarquardt(rule=rule, damping=1e-14, refresh=0)
    theta, _, infos = steps(optimizer, system, batch, weights, 1)
    np.testing.assert_allclose(theta, np.linalg.lstsq(matrix, right, rcond=None)[0], atol=1e-12)
    assert infos[0].accepted


def test_a_step_is_that_of_the_damped_normal_equations(systems, steps):
    system, batch, weights = systems.network()
    r, jacobian = (np.asarray(part) for part in system.jacobian(system.theta, batch, weights))
    gram = jacobian.T @ jacobian
    theta, _, infos = steps(LevenbergMarquardt(damping=0.3), system, batch, weights, 1)
    damping = infos[0].damping
    expected = -np.linalg.solve(gram + damping * np.diag(gram).mean() * np.eye(len(gram)), jacobian.T @ r)
    np.testing.assert_allclose(np.asarray(theta - system.theta), expected, rtol=1e-9, atol=1e-14)


def test_nielsens_damping_follows_the_ratio():
    optimizer = LevenbergMarquardt()
    for ratio, factor in ((0.5, 1.0), (0.2, 1.216), (0.7, 0.936), (0.76, 1 - 0.52**3), (1.0, 1 / 9), (0.75, 0.875)):
        trial, damping, growth = optimizer._nielsen(ladder(lambda _, ratio=ratio: ratio)[0], 1e-2, 8.0)
        assert trial.damping == 1e-2
        assert damping == pytest.approx(1e-2 * factor)
        assert growth == 2.0
    assert optimizer._nielsen(ladder(lambda _: 1.0)[0], FLOOR, 2.0)[1] == FLOOR


def test_nielsens_damping_grows_ever_faster_while_steps_fail():
    attempt, tried = ladder(lambda damping: 1.0 if damping > 0.5 else -1.0)
    LevenbergMarquardt()._nielsen(attempt, 1e-2, 2.0)
    np.testing.assert_allclose(tried, 1e-2 * np.array([1, 2, 8, 64]))


def test_the_target_ratio_rule_takes_the_least_damping_of_the_walk_whose_ratio_is_met():
    optimizer = LevenbergMarquardt(rule="target_ratio", ratio=0.1, factor=2.0)
    ratio_of = lambda damping: 0.5 if damping >= 0.9e-3 else 0.05
    attempt, tried = ladder(ratio_of)
    trial, damping, _ = optimizer._target(attempt, 8e-3, 2.0)
    assert trial.damping == damping == pytest.approx(1e-3)
    np.testing.assert_allclose(tried, [8e-3, 4e-3, 2e-3, 1e-3, 0.5e-3])
    attempt, tried = ladder(ratio_of)
    assert optimizer._target(attempt, 2.5e-4, 2.0)[0].damping == pytest.approx(1e-3)
    np.testing.assert_allclose(tried, [2.5e-4, 5e-4, 1e-3])


def test_the_foretold_decrease_is_that_of_the_linear_model(systems, steps):
    """On a linear problem loss and model agree, so that the ratio is one whatever the damping, to rounding."""
    system, batch, weights, _, _ = systems.linear()
    optimizer = LevenbergMarquardt(damping=1.0, refresh=0)
    _, state, infos = steps(optimizer, system, batch, weights, 1)
    assert infos[0].damping == 1.0
    assert float(state.damping) == pytest.approx(1 / 9)


def test_the_correction_is_left_out_where_it_is_long_against_the_step(steps):
    def bent(params, point):
        return {"": params[0] + point["bend"] * params[0] ** 2 - point["x"]}

    def step_of(bend, correction):
        system = LeastSquaresSystem({"fit": bent}, jnp.zeros(1))
        batch = {"fit": {"x": jnp.full(2, 0.01), "bend": jnp.full(2, bend)}}
        return float(
            steps(LevenbergMarquardt(damping=1e-12, correction=correction), system, batch, {"fit": 1.0}, 1)[0][0]
        )

    # d = x; the correction is -2 bend x^2 / 2.
    assert step_of(10.0, True) == pytest.approx(0.01 - 10.0 * 0.01**2, rel=1e-6)
    assert step_of(20.0, True) == pytest.approx(step_of(20.0, False), rel=1e-9)


def test_three_failures_up_to_the_largest_damping_end_the_run(steps):
    """A loss that is higher wherever one goes: its Jacobian is zero to the right of a step."""

    def kinked(params, point):
        return {"": 1.0 + jnp.where(params[0] == 0.0, params[0], 10.0)}

    system = LeastSquaresSystem({"fit": kinked}, jnp.zeros(1))
    theta, state, infos = steps(LevenbergMarquardt(refresh=0), system, {"fit": {"x": jnp.zeros(1)}}, {"fit": 1.0}, 20)
    assert [info.accepted for info in infos] == [False] * 3
    assert infos[-1].stop == "No step lowers the loss, 3 times up to the largest damping: 1.00e+00."
    assert infos[-1].damping == CAP
    assert float(theta[0]) == 0.0
    assert float(state.damping) == pytest.approx(1e-2)  # new points are met as at the start
