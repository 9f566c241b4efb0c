"""Callbacks: when they fire, what they see, and what they keep."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from training_toy import Uniform, differing, toy

from phijax.training import Average, Callback, EarlyStopping, Event, KeepBest, Trainer
from phijax.training.callbacks import Callbacks


class Watcher(Callback):
    """Notes what it sees; its state counts the calls."""

    def __init__(self, every, seen):
        self.every, self.seen = every, seen

    def init(self, model):
        return jnp.int32(0)

    def step(self, state, event):
        self.seen.append((event.step, float(event.model.c), event.total, event.parameters))
        return state + 1, None


def fit(steps, *callbacks, **settings):
    trainer = Trainer(steps, callbacks=callbacks, progress=False, **settings)
    return trainer.fit(toy(), datamodule=Uniform(), optimizer=optax.adam(1e-2), seed=0)


def test_they_fire_at_step_0_and_at_multiples_of_every():
    often, seldom = [], []
    result = fit(7, Watcher(2, often), Watcher(3, seldom))
    assert [step for step, *_ in often] == [0, 2, 4, 6]
    assert [step for step, *_ in seldom] == [0, 3, 6]
    assert {name: int(count) for name, count in result.state.callback_state.items()} == {"Watcher": 4, "Watcher_2": 3}


def test_p45_an_unknown_read_in_a_callback_is_the_live_value():
    seen = []
    result = fit(200, Watcher(100, seen), log_every=100)
    live = {step: c for step, c, *_ in seen}
    assert live[0] == 1.0
    assert live[200] == float(result.model.c)
    assert live[100] != live[0]
    logged = dict(zip(result.history.steps.tolist(), result.history.parameters["c"].tolist(), strict=True))
    assert logged[0] == live[0]
    assert logged[100] == live[100]


def test_they_see_the_losses_of_the_step_just_completed():
    seen = []
    result = fit(4, Watcher(2, seen), log_every=1)
    assert np.isnan(seen[0][2])
    assert [total for _, _, total, _ in seen[1:]] == result.history.total[[1, 3]].tolist()


def event(step, total=1.0, model=None):
    return Event(step, {"w": jnp.full(2, float(step))} if model is None else model, {"a": total}, {}, total, {})


def test_early_stopping_waits_for_its_patience():
    stopping = EarlyStopping(every=10, patience=2, min_delta=0.1)
    state, reasons = stopping.init(None), []
    for step, total in enumerate([1.0, 0.95, 0.5, 0.45, 0.41]):
        state, reason = stopping.step(state, event(step, total))
        reasons.append(reason)
    assert reasons[:4] == [None] * 4
    assert reasons[4] == "early stopping: total has not fallen below 0.5 for 20 steps"


def test_early_stopping_ends_a_fit_with_its_sentence():
    result = fit(50, EarlyStopping(every=5, patience=2, metric=lambda model: 1.0))
    assert (result.status, result.step) == ("stopped", 10)
    assert result.stop_reason == "early stopping: <lambda> has not fallen below 1 for 10 steps (step 10)"


def test_a_metric_that_is_no_loss_term_is_refused():
    with pytest.raises(ValueError, match="metric 'fitt' is no loss term; choose 'total' or one of fit, unknown"):
        fit(4, EarlyStopping(every=2, metric="fitt"))


def test_keep_best_gives_the_model_of_the_lowest_metric():
    seen = []
    result = fit(12, Watcher(1, seen), KeepBest(every=1, metric=lambda model: abs(model.c - 1.05)))
    nearest = min(seen, key=lambda entry: abs(entry[1] - 1.05))
    assert float(result.best_model.c) == nearest[1]
    assert int(result.state.callback_state["KeepBest"].step) == nearest[0]


def test_a_best_model_without_the_callback_says_what_to_add():
    with pytest.raises(ValueError, match=r"no KeepBest callback; add phijax's KeepBest\(\.\.\.\)"):
        fit(1).best_model  # noqa: B018


def test_average_is_the_arithmetic_mean_at_first_and_forgets_later():
    average = Average(every=1, decay=0.75)
    state = average.init({"w": jnp.zeros(2)})
    means = []
    for step in range(1, 7):
        state, _ = average.step(state, event(step))
        means.append(float(state.model_state["w"][0]))
    assert means[:4] == pytest.approx([1.0, 1.5, 2.0, 2.5])
    assert means[4:] == pytest.approx([2.5 + 0.25 * 2.5, 3.125 + 0.25 * (6 - 3.125)])


def test_a_state_of_another_structure_is_refused_by_name():
    class Growing(Watcher):
        def step(self, state, event):
            return (state, state), None

    with pytest.raises(ValueError, match="callback Growing gave a state of another structure"):
        fit(2, Growing(1, []))


def test_what_is_no_callback_is_refused():
    with pytest.raises(TypeError, match="is no callback: it needs `every`"):
        Callbacks.of([print])


def test_callbacks_change_no_number_of_the_run():
    plain, watched = fit(6), fit(6, KeepBest(every=1), Average(every=2))
    assert differing(plain.state._replace(callback_state={}), watched.state._replace(callback_state={})) == []
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(watched.state.callback_state))


@pytest.mark.parametrize("every", [0, -2, 1.5, None, True])
def test_a_callback_that_is_due_at_no_step_is_refused(every):
    """A negative one kept the run looking for the next event for ever."""
    with pytest.raises(ValueError, match=f"callback Watcher has every={every!r}: a callback is called every 1 step"):
        fit(2, Watcher(every, []))


def test_the_class_of_a_callback_is_refused():
    with pytest.raises(TypeError, match=r"KeepBest is the class of a callback; write KeepBest\(\)"):
        fit(2, KeepBest)


@pytest.mark.parametrize("answer", [None, 1.0, (1.0, True), (1.0, None, None)])
def test_an_answer_that_is_no_state_and_reason_is_refused(answer):
    class Short(Watcher):
        def step(self, state, event):
            return answer

    with pytest.raises(TypeError, match=r"callback Short: step\(state, event\) gave .*; it must give \(state, None\)"):
        fit(2, Short(1, []))


def test_a_state_that_no_checkpoint_can_keep_is_refused_at_the_start():
    class Worded(Watcher):
        def init(self, model):
            return {"note": "begun"}

    with pytest.raises(TypeError, match=r"callback Worded: its state \['note'\] holds 'begun'"):
        fit(2, Worded(1, []))


def test_a_state_of_another_shape_is_refused_by_name():
    class Wider(Watcher):
        def step(self, state, event):
            return jnp.zeros(3, jnp.int32), None

    with pytest.raises(ValueError, match="callback Wider gave a state of another structure or shape"):
        fit(2, Wider(1, []))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EarlyStopping(patience=0), "patience=0: give a whole number of calls"),
        (lambda: EarlyStopping(min_delta=float("nan")), "min_delta=nan: give a finite number"),
        (lambda: EarlyStopping(metric=None), "metric=None: give 'total', the name of a loss term"),
        (lambda: KeepBest(metric=3), "metric=3: give 'total'"),
        (lambda: Average(decay="a"), "decay='a': give a number from 0 to below 1"),
    ],
)
def test_options_that_mean_nothing_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_metric_of_several_numbers_is_refused():
    def wide(model):
        return np.zeros(2)

    with pytest.raises(ValueError, match=r"metric wide gave an array of shape \(2,\); it must give one number"):
        fit(2, EarlyStopping(every=1, metric=wide))


def test_what_a_callback_raises_costs_no_step(tmp_path):
    class Broken(Watcher):
        def step(self, state, event):
            if event.step == 8:
                raise RuntimeError("the plotter is gone")
            return super().step(state, event)

    with pytest.raises(RuntimeError, match="the plotter is gone"):
        fit(20, Broken(4, []), checkpoint=tmp_path / "run")
    trainer = Trainer(20, checkpoint=tmp_path / "run", callbacks=[Watcher(4, [])], progress=False)
    assert trainer._saved(tmp_path / "run").step == 8


def test_unknowns_at_step_0_are_the_initial_ones():
    seen = []
    fit(2, Watcher(1, seen))
    assert seen[0][3] == {"c": 1.0}
