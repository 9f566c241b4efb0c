"""What every optimizer of a sum of squares has in common: it solves, says why it stops, and can be gone on with."""

import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.optimizers import (
    SPRING,
    SSBFGS,
    GaussNewton,
    LeastSquaresSystem,
    LevenbergMarquardt,
    SSBroyden,
    optimizer_from_config,
    optimizer_to_config,
)

ALL = {
    "GaussNewton": GaussNewton(refresh=0),
    "nielsen": LevenbergMarquardt(refresh=0),
    "corrected": LevenbergMarquardt(refresh=0, correction=True),
    "target_ratio": LevenbergMarquardt(refresh=0, rule="target_ratio"),
    "SPRING": SPRING(refresh=0),
    "SSBFGS": SSBFGS(refresh=0),
    "SSBroyden": SSBroyden(refresh=0),
}
NEW = [name for name in ALL if name != "GaussNewton"]

pytestmark = pytest.mark.usefixtures("double")


@pytest.fixture(params=NEW)
def optimizer(request):
    return ALL[request.param]


def test_a_linear_problem_reaches_the_solution_of_lstsq(optimizer, systems, steps):
    system, batch, weights, matrix, right = systems.linear()
    theta, _, _ = steps(optimizer, system, batch, weights, 100)
    np.testing.assert_allclose(theta, np.linalg.lstsq(matrix, right, rcond=None)[0], atol=1e-7)


def test_rosenbrock_to_rounding(optimizer, systems, steps):
    theta, _, infos = steps(optimizer, *systems.rosenbrock(), 60)
    np.testing.assert_allclose(theta, [1.0, 1.0], atol=1e-10)
    assert infos[-1].loss < 1e-20
    assert infos[-1].stop == (
        f"The precision of float64 is reached: a loss of {infos[-1].loss:.2e} is made of rounding errors."
    )


def test_the_loss_of_a_step_is_that_of_the_parameters_it_gives(optimizer, systems, steps):
    system, batch, weights = systems.network()
    theta, state, infos = steps(optimizer, system, batch, weights, 3)
    r = system.residual(theta, batch, weights)
    assert infos[-1].accepted
    assert infos[-1].loss == pytest.approx(float(r @ r), rel=1e-12)
    assert float(state.loss) == infos[-1].loss
    assert np.all(np.diff([info.loss for info in infos]) < 0)


def test_seconds_are_told_by_phase(optimizer, systems, steps):
    info = steps(optimizer, *systems.network(), 1)[2][0]
    first = {"gradient", "line search"} if "SSB" in type(optimizer).__name__ else {"Jacobian", "Gram matrix", "solves"}
    assert first <= set(info.seconds)
    assert all(seconds >= 0 for seconds in info.seconds.values())


def test_a_run_cut_anywhere_and_gone_on_with_has_the_same_bits(optimizer, systems, steps):
    system, _, weights = systems.network()
    points = np.random.default_rng(0).uniform(-1, 1, (4, 40))
    batches = lambda step: {"fit": {"x": jnp.asarray(points[step // 4])}}
    whole, whole_state, _ = steps(optimizer, system, batches, weights, 10)
    theta, state, _ = steps(optimizer, system, batches, weights, 6)
    theta, state = jnp.asarray(np.asarray(theta)), type(state)(*(jnp.asarray(np.asarray(leaf)) for leaf in state))
    fresh, _, _ = systems.network()
    again, again_state, _ = steps(optimizer, fresh, batches, weights, 10, theta=theta, state=state, start=6)
    assert np.asarray(whole).tobytes() == np.asarray(again).tobytes()
    for one, other in zip(whole_state, again_state, strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def test_state_follows_the_precision_of_the_parameters(optimizer):
    floating = lambda state: {str(leaf.dtype) for leaf in state if jnp.issubdtype(leaf.dtype, jnp.floating)}
    assert floating(optimizer.init(jnp.zeros(3))) == {"float64"}
    with precision_scope("float32"):
        assert floating(optimizer.init(jnp.zeros(3))) == {"float32"}


def test_single_precision_says_that_it_is_used_up(optimizer, systems, steps):
    with precision_scope("float32"):
        system, batch, weights, _, _ = systems.linear(consistent=True)
        theta, state, infos = steps(optimizer, system, batch, weights, 200)
        assert {str(leaf.dtype) for leaf in state if jnp.issubdtype(leaf.dtype, jnp.floating)} == {"float32"}
    assert infos[-1].stop.startswith("The precision of float32 is reached: a loss of ")
    np.testing.assert_allclose(np.asarray(theta), np.arange(1.0, 8.0), rtol=1e-5)


def test_new_points_on_which_the_loss_no_longer_falls_end_the_run(optimizer, systems, steps):
    patient = type(optimizer)(**{**vars(optimizer), "refresh": 2, "patience": 6})
    _, state, infos = steps(patient, *systems.noisy(), 200)
    assert infos[-1].stop == (
        f"The loss on new points no longer falls: {float(state.best):.2e}, 6 changes of points ago."
    )
    assert len(infos) < 60


def test_a_loss_on_new_points_within_the_tolerance_ends_the_run(optimizer, systems, steps):
    system, _, weights = systems.network()
    points = np.random.default_rng(0).uniform(-1, 1, (100, 40))
    tolerant = type(optimizer)(**{**vars(optimizer), "refresh": 5, "tolerance": 1e-3})
    batches = lambda step: {"fit": {"x": jnp.asarray(points[step // 5])}}
    _, _, infos = steps(tolerant, system, batches, weights, 300)
    assert infos[-1].stop.startswith("The loss on new points is ")
    assert infos[-1].stop.endswith("within the tolerance of 1.0e-03.")
    assert len(infos) % 5 == 1  # told at the first step on new points alone


def test_an_unknown_of_the_equation_is_found_beside_the_field(optimizer, steps):
    """u' = -k u from values of u: k is one of the parameters, like any other."""

    def equation(params, point):
        u = lambda t: params["a"] * jnp.exp(params["b"] * t)
        t = point["t"]
        slope = params["a"] * params["b"] * jnp.exp(params["b"] * t)
        return {"ode": slope + params["k"] * u(t), "data": u(t) - 2 * jnp.exp(-0.5 * t)}

    params = {"a": jnp.asarray(1.0), "b": jnp.asarray(-1.0), "k": jnp.asarray(1.0)}
    system = LeastSquaresSystem({"fit": equation}, params)
    batch, weights = {"fit": {"t": jnp.linspace(0.0, 2.0, 20)}}, {"fit/ode": 1.0, "fit/data": 1.0}
    theta, _, _ = steps(optimizer, system, batch, weights, 100)
    found = system.unravel(theta)
    assert float(found["k"]) == pytest.approx(0.5, abs=1e-7)
    assert float(found["a"]) == pytest.approx(2.0, abs=1e-7)


@pytest.mark.parametrize("name", ALL)
def test_a_table_comes_back_as_the_optimizer_that_wrote_it(name):
    table = optimizer_to_config(ALL[name])
    assert table["kind"] == type(ALL[name]).__name__
    assert optimizer_from_config(table) == ALL[name]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LevenbergMarquardt(rule="nielson"), "rule='nielson' is not known. Did you mean 'nielsen'?"),
        (
            lambda: LevenbergMarquardt(ratio=1.5),
            "LevenbergMarquardt: ratio=1.5 must be a finite number between 0 and 1.",
        ),
        (lambda: LevenbergMarquardt(factor=1.0), "LevenbergMarquardt: factor=1.0 must be a finite number above 1."),
        (lambda: LevenbergMarquardt(damping=0.0), "damping=0.0 must be a finite number from 1e-15 to 1e+06."),
        (lambda: LevenbergMarquardt(correction=1), "LevenbergMarquardt: correction=1 must be True or False."),
        (lambda: SPRING(momentum=1.0), "SPRING: momentum=1.0 must be a finite number of at least 0 and below 1."),
        (lambda: SPRING(damping=0.0), "SPRING: damping=0.0 must be a finite number above 0."),
        (lambda: SPRING(idle=0), "SPRING: idle=0 must be a whole number of at least 1."),
        (lambda: SSBroyden(refresh=-1), "SSBroyden: refresh=-1 must be a whole number of at least 0."),
        (lambda: SSBFGS(patience=2.5), "SSBFGS: patience=2.5 must be a whole number of at least 1."),
        (lambda: SSBFGS(tolerance=-1.0), "SSBFGS: tolerance=-1.0 must be a finite number of at least 0."),
    ],
)
def test_settings_out_of_range_are_named(make, message):
    with pytest.raises(ValueError) as caught:
        make()
    assert message in str(caught.value)
