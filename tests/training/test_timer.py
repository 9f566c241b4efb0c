"""The timer: seconds of a step without compiling, a limit, and nothing else that changes."""

import math

import jax.numpy as jnp
import optax
import pytest
from training_toy import Uniform, differing, toy

from phijax.training import Event, Timer, Trainer

ADAM = optax.adam(1e-2)


def event(step, seconds):
    return Event(step, None, {}, {}, 0.0, {}, None, seconds)


def test_the_fastest_stretch_is_kept_and_the_first_left_out():
    timer = Timer(every=10)
    state = timer.init(None)
    for step, seconds, fastest in (
        (0, 0.5, math.inf),
        (10, 9.0, math.inf),
        (20, 11.0, 0.2),
        (30, 12.0, 0.1),
        (40, 20.0, 0.1),
    ):
        state, reason = timer.step(state, event(step, seconds))
        assert reason is None
        assert float(state.fastest) == float(jnp.asarray(fastest))


def test_a_limit_ends_the_run_with_its_sentence():
    timer = Timer(every=10, limit=11)
    state = timer.init(None)
    assert timer.step(state, event(10, 10.9))[1] is None
    assert timer.step(state, event(20, 11.25))[1] == "timer: 11.2 s spent, of 11"


@pytest.mark.parametrize("options", [{"every": 0}, {"limit": 0}, {"limit": "x"}])
def test_options_that_mean_nothing_are_refused(options):
    with pytest.raises(ValueError, match=rf"{next(iter(options))}="):
        Timer(**options)


class Seen:
    every, name = 5, "seen"

    def __init__(self):
        self.events = []

    def init(self, model):
        return 0

    def step(self, state, event):
        self.events.append((event.step, event.learning_rate, event.seconds))
        return state, None


def test_it_changes_no_number_and_callbacks_know_rate_and_seconds():
    seen = Seen()
    rate = optax.exponential_decay(1e-3, 10, 0.9)
    optimizer = optax.inject_hyperparams(optax.sgd)(learning_rate=rate)
    runs = []
    for callbacks in ([], [Timer(every=5), seen]):
        trainer = Trainer(20, callbacks=callbacks, log_every=1, progress=False)
        runs.append(trainer.fit(toy(), datamodule=Uniform(), optimizer=optimizer, seed=0))
    states = [run.state._replace(callback_state={}) for run in runs]
    assert differing(*states) == []
    assert 0 < runs[1].seconds_a_step < runs[1].seconds
    steps, rates, seconds = zip(*seen.events, strict=True)
    assert steps == (0, 5, 10, 15, 20)
    logged = runs[1].history.learning_rate
    assert rates == (None, *(logged[step - 1] for step in steps[1:]))
    assert list(seconds) == sorted(seconds)
