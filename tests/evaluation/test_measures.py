"""What early stopping may watch that training has not seen: the error against the reference, and the loss on fresh points."""

import jax
import numpy as np
import optax
import pytest
from sympy import Eq, exp

import phijax as phi

t = phi.time("t")
y, z, span = phi.field("y", t), phi.field("z", t), phi.Interval(t, 0, 1)
EQUATIONS = {"ode": Eq(y.diff(t), -y), "start": phi.on(span.at(t=0), Eq(y, 1))}


def compiled(**given):
    return phi.compile(phi.Problem(span, EQUATIONS, **given), network=phi.MLP(width=2, depth=1), points=4)


@pytest.fixture(scope="module")
def decay():
    return compiled(reference={y: exp(-t)})


@pytest.fixture(scope="module")
def model(decay):
    return decay.module.factory(jax.random.key(3))


def test_the_error_is_that_of_the_solution(decay, model):
    solution = phi.Solution(decay, model, precision="float32")
    measure = phi.reference_error(decay)
    assert measure(model) == solution.errors()["y"]["relative_l2"]
    assert measure(decay.module.factory(jax.random.key(4))) != measure(model)
    assert phi.reference_error(decay, "y")(model) == measure(model)


def test_the_loss_is_the_sum_of_the_mean_squares_on_points_that_stay(decay, model):
    measure = phi.fresh_loss(decay, points=4096)
    solution = phi.Solution(decay, model, precision="float32")
    assert measure(model) == measure(model)
    expected = sum(rms**2 for rms in solution.residuals(4096, seed=1).values())
    np.testing.assert_allclose(measure(model), expected, rtol=1e-2)  # two sets of 4096 points
    assert phi.fresh_loss(decay, points=5, seed=1)(model) != phi.fresh_loss(decay, points=5)(model)


def test_what_cannot_be_measured_is_refused(decay):
    with pytest.raises(ValueError, match=r"has no reference; give one by Problem\(\.\.\., reference=\), or watch"):
        phi.reference_error(compiled())
    with pytest.raises(ValueError, match="no field is named 'z'"):
        phi.reference_error(decay, "z")
    with pytest.raises(ValueError, match="points=0 must be a whole number"):
        phi.fresh_loss(decay, points=0)


def test_early_stopping_watches_the_reference_and_the_best_model_is_kept(decay):
    watch = phi.reference_error(decay)
    callbacks = [phi.KeepBest(every=5, metric=watch), phi.EarlyStopping(every=5, patience=2, metric=watch)]
    trainer = phi.Trainer(400, callbacks=callbacks, progress=False)
    rising = optax.sgd(-1e-3)  # uphill
    result = trainer.fit(decay.module, datamodule=decay.datamodule, optimizer=rising, seed=0)
    assert (result.status, result.step) == ("stopped", 10)
    assert "error_against_reference has not fallen below" in result.stop_reason
    assert watch(result.best_model) < watch(result.model)
