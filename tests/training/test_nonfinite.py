"""T1, P48: a number that is not finite ends the run, named, with the last finite state kept and saved."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from training_toy import Uniform, differing, toy, unknown

from phijax.balancing import LossBalancer
from phijax.balancing.base import BalancerState
from phijax.optimizers import GaussNewton
from phijax.sampling.points import Points
from phijax.training import CheckpointStore, Trainer


class Grid:
    """Points at 0, 1/4, .. 1; the last becomes NaN from step 5 on."""

    def __init__(self, broken_from=None):
        self.broken_from = broken_from

    def train_batch_source(self, names, key):
        def source(step):
            x = jnp.linspace(0.0, 1.0, 5)
            if self.broken_from is not None:
                x = x.at[4].set(jnp.where(step >= self.broken_from, jnp.nan, 1.0))
            return {name: Points({"x": x, "t": jnp.full(5, 0.5)}) for name in names}

        return source


def logarithm(model, batch):
    x = batch.coordinates["x"]
    return jnp.log(model.c * (0.6 - x)) - x


def line(model, batch):
    return model.c * batch.coordinates["x"] - 2.0


def fit(module, data, steps=20, optimizer=None, balancer=None, **settings):
    trainer = Trainer(steps, progress=False, **settings)
    return trainer.fit(module, datamodule=data, optimizer=optimizer or optax.sgd(1e-2), balancer=balancer, seed=0)


def test_t1_stops_at_step_0_naming_the_term_and_a_point(tmp_path):
    result = fit(toy(line=line, log=logarithm), Grid(), checkpoint=tmp_path / "run")
    assert result.status == "diverged"
    assert result.step == 0
    expected = (
        "loss term 'log' is not finite at step 0: its residual is nan at 2 of 5 points, first at row 3 (t=0.5, x=0.75)"
    )
    assert expected in result.stop_reason
    assert CheckpointStore(tmp_path / "run").steps() == [0]


def curve(model, batch):
    return jax.vmap(model)(batch.coordinates["x"]) - jnp.sin(batch.coordinates["x"])


@pytest.mark.parametrize("optimizer", [optax.sgd(1e-2), GaussNewton(refresh=1)], ids=["sgd", "gauss_newton"])
def test_t1_the_last_finite_state_is_kept_and_saved(tmp_path, optimizer):
    whole = fit(toy(curve=curve), Grid(), 5, optimizer)
    broken = fit(toy(curve=curve), Grid(broken_from=5), 20, optimizer, checkpoint=tmp_path / "run")
    assert (broken.status, broken.step) == ("diverged", 5)
    assert "loss term 'curve' is not finite at step 5" in broken.stop_reason
    assert "row 4 (t=0.5, x=nan)" in broken.stop_reason
    assert differing(broken.state, whole.state) == []
    saved = CheckpointStore(tmp_path / "run").latest()
    assert saved.step == 5
    assert differing(saved.into(whole.state), whole.state) == []


def test_t1_a_gradient_that_is_not_finite_is_named_too():
    def root(model, batch):
        return jnp.sqrt(jnp.abs(batch.coordinates["x"] * model.c))

    result = fit(toy(line=line, root=root), Grid())
    assert (result.status, result.step) == ("diverged", 0)
    assert "the gradient of loss term 'root' is not finite at step 0, though its residual is: first at row 0" in (
        result.stop_reason
    )
    assert np.isfinite(np.asarray(result.model.c))


class Lost(LossBalancer):
    """Weights that are no number from step 6 on."""

    every, refresh = 2, False

    def initialize(self, terms=()):
        return BalancerState({term: jnp.ones(()) for term in terms}, {})

    def diagnostics(self, params, *, losses, residuals):
        return {}

    def update(self, state, losses, diagnostics, *, key, step):
        return state._replace(weights=state.weights | {"curve": jnp.where(step < 6, 1.0, jnp.nan)})


@pytest.mark.parametrize("optimizer", [optax.sgd(1e-2), GaussNewton(refresh=1)], ids=["sgd", "gauss_newton"])
def test_t1_a_balancer_whose_weight_is_no_number_is_named(optimizer):
    result = fit(toy(line=line, curve=curve), Grid(), 20, optimizer, balancer=Lost())
    assert (result.status, result.step) == ("diverged", 6)
    assert "the balancer Lost gives loss term 'curve' the weight nan at step 6; " in result.stop_reason
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(jax.device_get(result.state.model_state)))


def test_t1_losses_that_overflow_end_the_run():
    result = fit(toy(unknown=unknown), Uniform(), 500, optax.sgd(1e4))
    assert result.status == "diverged"
    assert result.step < 500
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(jax.device_get(result.state.model_state)))


def test_t1_the_history_ends_with_the_diverged_event():
    result = fit(toy(line=line), Grid(broken_from=5), log_every=2)
    assert result.history.steps.tolist() == [0, 2, 4]
    assert result.history.events[-1]["event"] == "diverged"
    assert np.isfinite(result.history.total).all()
