"""P46, P59: optimizers that follow one another, and L-BFGS on held points."""

import io

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from resume_cases import adaptive, points_toy
from training_toy import Uniform, differing, toy

from phijax.balancing import GradNorm
from phijax.optimizers import GaussNewton
from phijax.training import Module, Objective, Stage, Trainer
from phijax.training.feed import Feed, FunctionSource
from phijax.training.progress import Plain
from phijax.training.stages import Plan

ADAM = optax.adam(1e-2)


def fit(steps, optimizer, module=None, datamodule=None, balancer=None, **settings):
    settings = {"progress": False, "log_every": 1} | settings
    return Trainer(steps, **settings).fit(
        module or toy(), datamodule=datamodule or Uniform(), optimizer=optimizer, balancer=balancer, seed=0
    )


def test_stages_follow_one_another_at_their_steps():
    result = fit(30, [(ADAM, 4), (optax.sgd(1e-2), 3), Stage(optax.adam(1e-3))])
    assert result.history.steps.tolist() == list(range(30))
    assert [(event["event"], event["step"]) for event in result.history.events] == [
        ("stage", 4), ("stage", 7), ("finished", 30),
    ]  # fmt: skip
    assert result.history.learning_rate.tolist() == [1e-2] * 7 + [1e-3] * 23
    assert (int(result.state.opt_state.index), int(result.state.opt_state.start)) == (2, 7)


def test_a_first_stage_is_the_run_without_stages():
    staged = fit(5, [(ADAM, 5), (optax.sgd(1e-2), 5)])
    assert staged.status == "finished"
    assert differing(staged.model, fit(5, ADAM).model) == []


def test_p59_balancer_weights_are_carried_to_the_next_stage():
    result = fit(10, [(ADAM, 7), (optax.lbfgs(), 3)], balancer=GradNorm(every=5))
    weights = result.history.weights["fit"]
    assert weights[0] != weights[5]
    assert weights[7:].tolist() == [weights[6]] * 3


def test_held_points_are_those_of_the_first_step_of_the_hold():
    def hold(step):
        return Feed(4).draw(FunctionSource(lambda s: s), {}, jnp.int32(step), jnp.int32(6), None)[1]

    assert [int(hold(step)) for step in range(6, 14)] == [6, 6, 8, 8, 8, 8, 12, 12]
    whole = Feed(0).draw(FunctionSource(lambda s: s), {}, jnp.int32(50), jnp.int32(6), None)[1]
    assert int(whole) == 6


def test_lbfgs_holds_its_points_and_says_so():
    result = fit(6, [(ADAM, 2), (optax.lbfgs(), 4)], datamodule=adaptive(2), module=points_toy())
    assert any(event["event"] == "hold" and "held for the whole of this stage" in event["reason"]
               for event in result.history.events)  # fmt: skip
    assert np.all(np.diff(result.history.total[2:]) < 0)  # on points of its own each step the loss would jump


def test_a_hold_can_be_chosen():
    params = {"w": jnp.ones(2)}
    assert [Stage(optimizer).holds(params) for optimizer in (ADAM, optax.lbfgs(), GaussNewton(refresh=7))] == [1, 0, 7]
    assert Stage(optax.lbfgs(), hold=5).holds(params) == 5


@pytest.mark.parametrize(
    ("optimizer", "error", "message"),
    [
        ([], ValueError, "has no stage"),
        ([(ADAM, None), (ADAM, 5)], ValueError, "stage 1 of 2 has no steps, so no later stage would begin"),
        ([(ADAM, 0)], ValueError, "a stage of steps=0: give at least 1"),
        ("adam", TypeError, "'a' is no optimizer|no optimizer: give an optax transformation"),
        (
            {"kind": "Adam"},
            TypeError,
            "is a table, which phi.solve and the command line read; give the optimizer itself",
        ),
        (3, TypeError, "3 is no optimizer: give an optax transformation such as optax.adam"),
    ],
)
def test_what_is_no_plan_is_refused(optimizer, error, message):
    with pytest.raises(error, match=message):
        Plan.of(optimizer)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_gradients_summed_over_steps_of_the_same_points_take_the_steps_of_one(precision):
    plain = fit(3, Stage(optax.sgd(0.1), hold=0), precision=precision)
    sums = optax.MultiSteps(optax.sgd(0.1), 2, accumulator_dtype=None)
    summed = fit(6, Stage(sums, hold=0), precision=precision)
    assert differing(plain.model, summed.model) == []


def test_sums_in_another_precision_than_the_runs_are_refused_with_the_cure():
    sums = optax.chain(optax.clip(1.0), optax.MultiSteps(ADAM, 2).gradient_transformation())
    with pytest.raises(
        ValueError, match=r"MultiSteps sums gradients in float32, .* accumulator_dtype=None, which sums"
    ):
        fit(2, sums, precision="float64")


def test_a_state_of_a_single_optimizer_is_refused_for_stages():
    result = fit(2, ADAM)
    with pytest.raises(ValueError, match="made for a single optimizer, but stages were given"):
        Trainer(4).fit_state(toy(), result.state, datamodule=Uniform(), optimizer=[(ADAM, 5)])


def test_least_squares_takes_over_from_adam_and_solves():
    result = fit(60, [(ADAM, 3), (GaussNewton(), 57)], precision="float64")
    assert result.history.total[-1] < 1e-6 * result.history.total[0]
    assert {"loss", "accepted", "damping", "step_size"} <= set(result.history.records[-1]["optimizer"])
    assert float(np.asarray(result.model.c)) == pytest.approx(2.0, abs=1e-4)


class Ansatz(eqx.Module):
    """(1 - x^2) times a network: zero at both ends."""

    net: eqx.nn.MLP

    def __call__(self, x):
        return (1.0 - x**2) * self.net(x[None])


def poisson():
    """-u'' = pi^2 sin(pi x) on (-1, 1), u = sin(pi x)."""

    def equation(model, batch):
        return jax.vmap(jax.grad(jax.grad(model)))(batch["x"]) + jnp.pi**2 * jnp.sin(jnp.pi * batch["x"])

    factory = lambda key: Ansatz(eqx.nn.MLP(1, "scalar", 8, 2, jnp.tanh, key=key))
    return Module(factory, Objective.from_functions({"equation": equation}))


class Even:
    def train_batch_source(self, names, key):
        return lambda step: {"equation": {"x": jnp.linspace(-1.0, 1.0, 32)}}


@pytest.mark.parametrize(("precision", "most"), [("float64", 500), ("float32", 4000)])
def test_p46_lbfgs_after_adam_goes_on_until_it_says_why_not(precision, most):
    stream = io.StringIO()
    stages = [(optax.adam(1e-3), 1000), (optax.lbfgs(), most)]
    progress = Plain(stream, period=0.0)
    result = fit(1000 + most, stages, poisson(), Even(), precision=precision, log_every=100, progress=progress)
    assert result.step >= 1010
    assert f"phijax: {result.status}: {result.stop_reason}" in stream.getvalue()
    assert stream.getvalue().count("total loss") >= 10
    x = np.linspace(-1.0, 1.0, 201)
    exact = np.sin(np.pi * x)
    error = np.linalg.norm(Trainer(1).predict(result, x) - exact) / np.linalg.norm(exact)
    if precision == "float64":
        assert error < 1e-4
        assert "all 500 steps done" in result.stop_reason
    else:
        assert error < 1e-3
        assert result.status == "stopped"
        assert "float32 precision reached: the line search lowers the loss by no more than" in result.stop_reason
