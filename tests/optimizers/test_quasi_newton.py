"""Self-scaled updates against the equations that define them, and steps on problems whose minimum is known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax.optimizers import SSBFGS, LeastSquaresSystem, SSBroyden
from phijax.optimizers.quasi_newton import Curvatures, updated_inverse
from phijax.optimizers.wolfe import Point

KINDS = [SSBFGS, SSBroyden]
SIZE = 6

pytestmark = pytest.mark.usefixtures("double")


def drawn(seed, product=0.5):
    """(H, s, y): H positive definite, s.y = product."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((SIZE, SIZE))
    s, y = rng.standard_normal((2, SIZE))
    y = y + (product - s @ y) * s / (s @ s)
    return root @ root.T + 0.1 * np.eye(SIZE), s, y


def curvatures(inverse, s, y):
    return Curvatures(b=s @ np.linalg.solve(inverse, s) / (s @ y), h=y @ inverse @ y / (s @ y))


def updated(kind, inverse, s, y):
    tau, phi = kind.scaling(curvatures(inverse, s, y), SIZE)
    turned = inverse @ y
    new = updated_inverse(*(jnp.asarray(part) for part in (inverse, s, turned, tau, phi, s @ y, y @ turned)))
    return np.asarray(new), tau, phi


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("product", [1e-2, 1.0, 30.0])
def test_the_secant_equation_holds_and_the_inverse_stays_symmetric_and_positive_definite(kind, seed, product):
    inverse, s, y = drawn(seed, product)
    new, tau, _ = updated(kind, inverse, s, y)
    np.testing.assert_allclose(new @ y, s, atol=1e-13 * np.linalg.norm(new) * np.linalg.norm(y))
    assert np.array_equal(new, new.T)
    assert np.linalg.eigvalsh(new)[0] > -1e-14 * np.linalg.norm(new)
    assert 0 < tau <= 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("product", [0.3, 1.0, 30.0])
def test_the_inverse_is_that_of_the_update_of_the_hessian(kind, seed, product):
    """B <- tau (B - B s s^T B / s.B s + theta w w^T) + y y^T / s.y, w = sqrt(s.B s) (y / s.y - B s / s.B s)."""
    inverse, s, y = drawn(seed, product)
    new, tau, phi = updated(kind, inverse, s, y)
    hessian, (b, h) = np.linalg.inv(inverse), curvatures(inverse, s, y)
    theta = (1 - phi) / (1 + phi * (h * b - 1))
    bs = hessian @ s
    w = np.sqrt(s @ bs) * (y / (s @ y) - bs / (s @ bs))
    expected = tau * (hessian - np.outer(bs, bs) / (s @ bs) + theta * np.outer(w, w)) + np.outer(y, y) / (s @ y)
    rounding = 1e-12 * np.linalg.norm(new) * np.linalg.norm(expected)
    np.testing.assert_allclose(new @ expected, np.eye(SIZE), atol=rounding)
    assert rounding < 1e-2


def test_the_scaling_of_bfgs_is_one_over_b_where_the_hessian_is_too_large():
    assert SSBFGS.scaling(Curvatures(4.0, 1.0), 9) == (0.25, 1.0)
    assert SSBFGS.scaling(Curvatures(0.5, 3.0), 9) == (1.0, 1.0)


@pytest.mark.parametrize("b", [0.05, 0.7, 1.0, 1.4, 20.0])
@pytest.mark.parametrize("spread", [1e-6, 0.3, 5.0, 1e4])
def test_the_factors_of_broydens_class_keep_their_bounds(b, spread):
    """theta between those bounds that keep the update of B positive definite and its condition from growing."""
    h, n = (1 + spread) / b, 50
    tau, phi = SSBroyden.scaling(Curvatures(b, h), n)
    theta = (1 - phi) / (1 + phi * spread)
    root = np.sqrt(spread / (1 + spread))
    least = min(1.0, h * (1 - root))
    assert (least - 1) / spread - 1e-9 <= theta <= 1 / least + 1e-9
    sigma = 1 + theta * spread
    assert sigma > 0
    bound = min(1.0, 1 / b) * sigma ** (-1 / (n - 1))
    assert tau == pytest.approx(min(bound, min(1.0, 1 / b) / theta) if theta > 0 else min(bound, sigma), rel=1e-6)


def test_steps_parallel_to_h_y_have_one_update_whatever_theta():
    """With h b = 1 the class has one member: BFGS's, scaled."""
    inverse, _, y = drawn(3)
    y = y if y @ inverse @ y > 0 else -y
    s = 0.5 * inverse @ y
    assert curvatures(inverse, s, y).h * curvatures(inverse, s, y).b == pytest.approx(1.0)
    np.testing.assert_allclose(updated(SSBroyden, inverse, s, y)[0], updated(SSBFGS, inverse, s, y)[0], rtol=1e-9)
    assert SSBroyden.scaling(Curvatures(2.0, 0.5), 1) == (0.5, 1.0)  # in one dimension nothing else can happen


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_is_along_minus_h_g_and_h_is_that_of_the_update(kind, systems, steps):
    system, batch, weights = systems.network()
    optimizer = kind(refresh=0)
    theta, state, _ = steps(optimizer, system, batch, weights, 3)
    gradient_of = jax.grad(lambda theta: jnp.sum(system.residual(theta, batch, weights) ** 2))
    after, new, info = optimizer.step(system, theta, state, batch, weights)
    inverse, before = np.asarray(state.inverse), np.asarray(gradient_of(theta))
    s, y = np.asarray(after - theta), np.asarray(gradient_of(after)) - before
    np.testing.assert_allclose(s, -info.step_size * inverse @ before, rtol=1e-7, atol=1e-12)
    tau, phi = kind.scaling(curvatures(inverse, s, y), s.size)
    turned = inverse @ y
    expected = updated_inverse(*(jnp.asarray(part) for part in (inverse, s, turned, tau, phi, s @ y, y @ turned)))
    np.testing.assert_allclose(new.inverse, expected, rtol=1e-5, atol=1e-8)
    assert int(new.updates) == int(state.updates) + 1 == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_quadratic_is_solved_in_little_more_steps_than_it_has_dimensions(kind, systems, steps):
    system, batch, weights, matrix, right = systems.linear(40, 7)
    theta, _, infos = steps(kind(refresh=0), system, batch, weights, 7 + 8)
    assert infos[-1].loss == pytest.approx(np.linalg.lstsq(matrix, right, rcond=None)[1][0] / 40, rel=1e-12)
    np.testing.assert_allclose(theta, np.linalg.lstsq(matrix, right, rcond=None)[0], atol=1e-6)


def test_value_and_gradient_are_those_of_the_sum_of_squares_in_pieces_too(systems):
    for points in (40, 512, 700):  # one piece, whole pieces, pieces and what is left
        system, batch, weights = systems.network(points)
        loss = lambda theta, system=system, batch=batch: jnp.sum(system.residual(theta, batch, ONE) ** 2)
        value, gradient = system.value_and_gradient(system.theta, batch, weights)
        assert float(value) == pytest.approx(float(loss(system.theta)), rel=1e-13)
        np.testing.assert_allclose(gradient, jax.grad(loss)(system.theta), rtol=1e-10, atol=1e-13)


ONE = {"fit": 1.0}


def test_new_points_and_weights_compile_nothing_and_are_seen():
    traces = []

    def fit(params, point):
        traces.append(1)
        return {"": params[0] * point["x"] - 1.0}

    system = LeastSquaresSystem({"fit": fit}, jnp.ones(1))
    optimizer, theta = SSBroyden(), system.theta
    state, gradients = optimizer.init(theta), []
    for x, weight in ((1.0, 1.0), (2.0, 1.0), (2.0, 3.0)):
        batch, weights = {"fit": {"x": jnp.full(5, x)}}, {"fit": jnp.asarray(weight)}
        gradients.append(float(system.value_and_gradient(theta + 1, batch, weights)[1][0]))
        theta, state, _ = optimizer.step(system, theta, state, batch, weights)
        assert int(state.mark) == int(system.fingerprint(theta, batch, weights))
        if x == 1.0:
            first = len(traces)
    assert len(traces) == first
    assert len(set(gradients)) == 3


def test_the_gradient_is_taken_anew_where_points_change_and_only_there(systems, steps, monkeypatch):
    system, batch, weights = systems.network()
    taken = []
    whole = type(system).value_and_gradient

    def counted(self, theta, *rest):
        taken.append(np.asarray(theta))
        return whole(self, theta, *rest)

    monkeypatch.setattr(type(system), "value_and_gradient", counted)
    optimizer = SSBroyden(refresh=0)
    theta, state, _ = steps(optimizer, system, batch, weights, 4)
    before = len(taken)
    moved, same, _ = optimizer.step(system, theta, state, batch, weights)
    assert not any(np.array_equal(at, theta) for at in taken[before:])
    other = {"fit": {"x": batch["fit"]["x"] * 0.9}}
    before = len(taken)
    optimizer.step(system, moved, same, other, weights)
    assert np.array_equal(taken[before], moved)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_curvature_makes_the_inverse_the_identity_again(kind):
    optimizer = kind()
    state = optimizer.init(jnp.zeros(3))._replace(inverse=2 * jnp.eye(3), updates=jnp.int32(5))
    s, before = jnp.array([1.0, 0.0, 0.0]), jnp.array([-2.0, 0.0, 0.0])
    after = optimizer._updated(state, s, before, Point(1.0, 0.5, -2.5, jnp.array([-2.5, 0.0, 0.0])))
    np.testing.assert_array_equal(after.inverse, np.eye(3))
    assert int(after.updates) == 0


def test_a_direction_along_which_nothing_is_lower_is_left_for_the_gradient(systems, steps):
    """H is of use no more where points change for good: then the step after is along the gradient."""
    system, batch, weights, _, _ = systems.linear()
    optimizer = SSBFGS(refresh=0)
    gradient = np.asarray(system.value_and_gradient(system.theta, batch, weights)[1])
    indefinite = np.eye(7) - 4 * np.outer(gradient, gradient) / (gradient @ gradient)
    state = optimizer.init(system.theta)._replace(inverse=jnp.asarray(indefinite), updates=jnp.int32(3))
    theta, _, infos = steps(optimizer, system, batch, weights, 1, state=state)
    assert infos[0].accepted
    np.testing.assert_allclose(theta, -infos[0].step_size * gradient, rtol=1e-12)


def test_no_lower_loss_along_the_gradient_either_ends_the_run(systems, steps):
    system, batch, weights, matrix, right = systems.linear()
    _, _, infos = steps(SSBroyden(refresh=0), system, batch, weights, 100)
    lowest = np.linalg.lstsq(matrix, right, rcond=None)[1][0] / 40
    assert infos[-1].stop == f"No step lowers the loss any more, along the gradient either: {lowest:.2e}."
    assert not infos[-1].accepted


@pytest.mark.parametrize(
    ("b", "h", "n", "theta", "tau", "phi"),
    [
        (2, 2 / 3, 2, -1 / 2, 3 / 5, 9 / 5),  # theta = (1 - b) / b
        (1 / 4, 16 / 3, 3, 1, np.sqrt(3) / 2, 0),  # theta = 1 / rho, rho = 1
        (5 / 3, 5 / 3, 2, -3 / 8, 1 / 3, 33 / 8),  # theta = (rho - 1) / a, tau = sigma
    ],
)
def test_tau_and_phi_are_those_worked_out_by_hand(b, h, n, theta, tau, phi):
    assert SSBroyden.scaling(Curvatures(b, h), n) == pytest.approx((tau, phi))
    a = h * b - 1
    assert (1 - theta) / (1 + theta * a) == pytest.approx(phi)
