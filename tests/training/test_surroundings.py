"""What surrounds a run: signals, progress, prediction, the flags for repeatable kernels."""

import io
import os
import signal
import threading

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from training_toy import Uniform, differing, factory, toy

from phijax.training import Callback, CheckpointStore, Trainer, determinism_report, interrupt, predict
from phijax.training.interrupt import Interrupts
from phijax.training.predict import predict_rows
from phijax.training.progress import Bar, Plain, Silent, make_progress
from phijax.training.schedule import Events


class Signals(Callback):
    """Sends this process a signal after `at` steps."""

    every = 1

    def __init__(self, number, at):
        self.number, self.at = number, at

    def init(self, model):
        return jnp.int32(0)

    def step(self, state, event):
        if event.step == self.at:
            os.kill(os.getpid(), self.number)
        return state, None


def fit(steps, **settings):
    return Trainer(steps, **({"progress": False} | settings)).fit(
        toy(), datamodule=Uniform(), optimizer=optax.adam(1e-2), seed=0
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_in_order_and_saved(tmp_path, number):
    before = signal.getsignal(number)
    result = fit(50, callbacks=(Signals(number, 3),), checkpoint=tmp_path / "run")
    assert (result.status, result.step) == ("interrupted", 3)
    assert result.stop_reason == f"interrupted by {number.name} (step 3)"
    assert CheckpointStore(tmp_path / "run").latest().step == 3
    assert signal.getsignal(number) is before


def test_a_second_signal_does_what_it_did_before(monkeypatch):
    # A shell's background job begins with SIGINT ignored: the handler that is to come back is set here.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupts() as interrupts:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)  # within half a second: `timeout` sends it twice
            assert interrupts.name == "SIGINT"
            monkeypatch.setattr(interrupt, "AGAIN", 0.0)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_handlers_are_left_alone_in_another_thread():
    before, seen = signal.getsignal(signal.SIGINT), []

    def run():
        with Interrupts() as interrupts:
            seen.append((signal.getsignal(signal.SIGINT) is before, interrupts.name))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [(True, None)]


def test_plain_progress_prints_a_line_per_period_and_what_happens():
    stream = io.StringIO()
    fit(3, progress=Plain(stream, period=0.0))
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("phijax: step 1 of 3, total loss ")
    assert lines[-1] == "phijax: finished: all 3 steps done (step 3)"


def test_plain_progress_shows_the_last_loss_of_a_run_shorter_than_its_period():
    stream = io.StringIO()
    fit(3, progress=Plain(stream, period=1e6))
    shown, said = stream.getvalue().splitlines()
    assert shown.startswith("phijax: step 3 of 3, total loss ")
    assert said == "phijax: finished: all 3 steps done (step 3)"


def test_progress_is_a_bar_on_a_terminal_alone(monkeypatch):
    assert isinstance(make_progress(False), Silent)
    assert isinstance(make_progress(None), Plain)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert isinstance(make_progress(None), Bar)


def test_a_bar_shows_the_steps_and_the_loss(capsys):
    bar = Bar()
    bar.begin(0, 10)
    bar.update(4, 0.25)
    bar.say("stage 2 begins at step 4")
    bar.end()
    shown = capsys.readouterr().err
    assert "stage 2 begins at step 4" in shown
    assert "4/10" in shown
    assert "loss 2.5000e-01" in shown


def test_prediction_in_chunks_is_prediction_at_once():
    model = factory(jax.random.key(0))
    x = np.linspace(-1.0, 1.0, 1000)
    whole = predict_rows(model, x)
    assert isinstance(whole, np.ndarray)
    assert whole.shape == (1000,)
    np.testing.assert_allclose(predict_rows(model, x, chunk=77), whole, rtol=1e-6)
    direct = np.asarray(model.outer) @ np.tanh(np.asarray(model.inner)[:, None] * x + np.asarray(model.shift)[:, None])
    np.testing.assert_allclose(whole, direct, rtol=1e-5, atol=1e-6)


def test_prediction_sees_chunks_of_one_size_alone(monkeypatch):
    sizes, rows = [], predict._rows
    monkeypatch.setattr(
        predict, "_rows", lambda on, model, inputs: sizes.append(len(inputs[0])) or rows(on, model, inputs)
    )
    predict_rows(factory(jax.random.key(0)), np.zeros(1000), chunk=77)
    assert sizes == [77] * 13


def test_prediction_keeps_the_precision_of_the_model():
    with jax.enable_x64(True):
        model = factory(jax.random.key(0))
    values = predict_rows(model, np.array([0.1, 0.2]))
    assert values.dtype == np.float64
    exact = np.asarray(model.outer) @ np.tanh(
        np.asarray(model.inner)[:, None] * [0.1, 0.2] + np.asarray(model.shift)[:, None]
    )
    np.testing.assert_allclose(values, exact, rtol=1e-14)


def test_prediction_of_no_rows_has_no_rows():
    assert predict_rows(factory(jax.random.key(0)), np.zeros(0)).shape == (0,)


def test_prediction_of_inputs_that_do_not_match_is_refused():
    with pytest.raises(ValueError, match=r"inputs of shapes \(3,\), \(4,\); all need the same first axis"):
        predict_rows(factory(jax.random.key(0)), np.zeros(3), np.zeros(4))
    with pytest.raises(ValueError, match="predict got no inputs"):
        predict_rows(factory(jax.random.key(0)))


@pytest.mark.parametrize(
    ("flags", "set_both"),
    [
        ("", False),
        ("--xla_gpu_exclude_nondeterministic_ops", False),
        ("--xla_gpu_exclude_nondeterministic_ops --xla_gpu_autotune_level=0", True),
    ],
)
def test_r13_the_flags_for_repeatable_kernels_are_reported_and_not_set(monkeypatch, flags, set_both):
    monkeypatch.setenv("XLA_FLAGS", flags)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    report = determinism_report()
    assert (report.no_nondeterministic_ops and report.no_autotuning) is set_both
    assert ("not set. Start with: XLA_FLAGS=" in report.sentence) is not set_both
    assert os.environ["XLA_FLAGS"] == flags


def test_events_are_at_fixed_steps():
    from phijax.training.callbacks import Callbacks, EarlyStopping

    events = Events(100, 250, Callbacks.of([EarlyStopping(every=30)]))
    steps, at = [], 0
    while at < 260:
        at = events.next_after(at)
        steps.append(at)
    assert steps == [1, 30, 60, 90, 101, 120, 150, 180, 201, 210, 240, 250, 270]


def test_runs_that_need_no_seed_agree_with_predictions_of_their_model():
    result = fit(3)
    x = np.linspace(-1.0, 1.0, 5)
    assert Trainer(1).predict(result, x).tolist() == Trainer(1).predict(result.model, x).tolist()
    assert differing(result.state.model_state, result.model) == []
