"""SPRING against its definition, computed densely."""

import numpy as np
import pytest

from phijax.optimizers import SPRING

pytestmark = pytest.mark.usefixtures("double")


def definition(jacobian, r, phi, damping, mu):
    """phi after a step, in the space of residuals; damping relative to mean(diag J^T J)."""
    gram = jacobian @ jacobian.T
    shift = damping * np.trace(gram) / jacobian.shape[1]
    inner = np.linalg.solve(gram + shift * np.eye(len(gram)), r - mu * jacobian @ phi)
    return mu * phi + jacobian.T @ inner


@pytest.mark.parametrize("points", [12, 60], ids=["fewer rows than parameters", "more rows than parameters"])
def test_two_steps_are_those_of_the_definition(points, systems, steps):
    system, batch, weights = systems.network(points)
    optimizer = SPRING(momentum=0.6, damping=1e-2, refresh=0)
    theta, state, phi = system.theta, optimizer.init(system.theta), np.zeros(system.theta.size)
    for _ in range(2):
        r, jacobian = (np.asarray(part) for part in system.jacobian(theta, batch, weights))
        phi = definition(jacobian, r, phi, 1e-2, 0.6)
        before = np.asarray(theta)
        theta, state, info = optimizer.step(system, theta, state, batch, weights)
        assert info.damping == 1e-2
        np.testing.assert_allclose(np.asarray(state.momentum), phi, rtol=1e-8, atol=1e-11)
        np.testing.assert_allclose(np.asarray(theta), before - info.step_size * phi, rtol=1e-8, atol=1e-11)


def test_the_length_is_the_best_of_the_grid_by_the_true_loss(systems, steps):
    system, batch, weights = systems.network()
    theta, state, infos = steps(SPRING(refresh=0), system, batch, weights, 2)
    before = theta + infos[-1].step_size * state.momentum
    lengths = 2.0 ** -np.arange(-1, 11)
    losses = [float(np.sum(system.residual(before - eta * state.momentum, batch, weights) ** 2)) for eta in lengths]
    assert infos[-1].step_size == lengths[int(np.argmin(losses))]


def test_momentum_that_points_uphill_is_dropped(systems, steps):
    system, batch, weights, _, _ = systems.linear()
    optimizer = SPRING(refresh=0, damping=1e-3)
    r, jacobian = (np.asarray(part) for part in system.jacobian(system.theta, batch, weights))
    uphill = optimizer.init(system.theta)._replace(momentum=-1e8 * (jacobian.T @ r))
    _, state, infos = steps(optimizer, system, batch, weights, 1, state=uphill)
    assert infos[0].accepted
    np.testing.assert_allclose(state.momentum, definition(jacobian, r, np.zeros(7), 1e-3, 0.9), rtol=1e-8)


def test_no_lower_loss_ends_the_run_after_so_many_idle_steps(systems, steps):
    system, batch, weights, matrix, right = systems.linear()
    _, _, infos = steps(SPRING(refresh=0, idle=8), system, batch, weights, 100)
    lowest = np.linalg.lstsq(matrix, right, rcond=None)[1][0] / 40
    assert infos[-1].stop == f"No step lowers the loss any more: {lowest:.2e} for 8 steps."
