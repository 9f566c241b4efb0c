"""P45, P50, P65: what is recorded, in memory and on disk."""

import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from training_toy import Net, Uniform, curves, toy

from phijax.balancing import Static
from phijax.training import History, Trainer, read_metrics
from phijax.training.learning_rate import learning_rate
from phijax.training.metrics import MetricsWriter


def fit(steps, module=None, optimizer=None, balancer=None, **settings):
    return Trainer(steps, progress=False, **settings).fit(
        module or toy(), datamodule=Uniform(), optimizer=optimizer or optax.adam(1e-2), balancer=balancer, seed=0
    )


def constant(value):
    return lambda model, batch: 0.0 * model.c + math.sqrt(value) + 0.0 * batch["x"]


def test_p65_the_total_is_the_weighted_sum_and_every_term_has_its_curve():
    module = toy(second=constant(2.0), first=constant(1.0), third=constant(3.0))
    history = fit(3, module, log_every=1).history
    assert history.total == pytest.approx([6.0] * 3)
    assert list(history.losses) == ["second", "first", "third"]
    assert {name: curve.tolist() for name, curve in history.losses.items()} == {
        name: pytest.approx([value] * 3) for name, value in {"second": 2.0, "first": 1.0, "third": 3.0}.items()
    }
    weighted = fit(1, module, balancer=Static({"first": 0.5})).history
    assert weighted.total == pytest.approx([5.5])
    assert weighted.weighted["first"] == pytest.approx([0.5])
    assert weighted.weights["first"] == pytest.approx([0.5])


EXPONENTIAL = optax.exponential_decay(1e-3, 100, 0.9)


@pytest.mark.parametrize(
    "optimizer", [optax.sgd(EXPONENTIAL), optax.inject_hyperparams(optax.sgd)(EXPONENTIAL)], ids=["plain", "injected"]
)
def test_p50_a_schedule_is_applied_in_the_log_and_in_the_update(optimizer):
    # The residual sqrt(1 + c) has squared mean 1 + c, whose gradient in c is 1.
    module = toy(
        factory=lambda key: Net(jnp.zeros(3), jnp.zeros(3), jnp.zeros(3), jnp.asarray(10.0)),
        line=lambda model, batch: jnp.sqrt(1.0 + model.c) + 0.0 * batch["x"],
    )
    short = fit(1000, module, optimizer, log_every=1000, precision="float64")
    long = fit(1001, module, optimizer, log_every=1000, precision="float64")
    assert float(np.asarray(short.model.c) - np.asarray(long.model.c)) == pytest.approx(1e-3 * 0.9**10, rel=1e-5)
    assert long.history.steps.tolist() == [0, 1000]
    assert long.history.learning_rate == pytest.approx([1e-3, 3.4868e-4], rel=1e-4)


@pytest.mark.parametrize(
    ("optimizer", "rate"),
    [
        (optax.adam(2e-3), 2e-3),
        (optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-3)), 3e-3),
        (optax.chain(optax.scale_by_adam(), optax.scale_by_learning_rate(4e-3)), 4e-3),
        (optax.multi_transform({"a": optax.sgd(1.0), "b": optax.sgd(2.0)}, {"x": "a", "y": "b"}), None),
    ],
)
def test_the_learning_rate_is_found_where_there_is_one(optimizer, rate):
    params = {"x": jnp.ones(2), "y": jnp.ones(2)}
    _, state = optimizer.update(params, optimizer.init(params), params)
    assert learning_rate(optimizer, state) == rate


def test_p45_the_file_holds_the_same_records_with_all_digits(tmp_path):
    result = fit(5, precision="float64", log_every=2, checkpoint=tmp_path / "run")
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [line for line in lines if "event" not in line] == result.history.records
    assert lines[-1] == {"event": "finished", "step": 5, "reason": "all 5 steps done (step 5)"}
    assert lines[1]["parameters"]["c"] == result.history.parameters["c"][1]
    assert len(repr(lines[1]["parameters"]["c"])) >= 14
    assert set(lines[0]) == {
        "step", "total", "losses", "weights", "weighted", "parameters", "learning_rate", "seconds",
    }  # fmt: skip


def test_a_resumed_run_goes_on_in_the_same_file(tmp_path):
    folder = tmp_path / "run"
    trainer = {"log_every": 1, "checkpoint": folder, "progress": False}
    module, adam = toy(), optax.adam(1e-2)
    Trainer(3, **trainer).fit(module, datamodule=Uniform(), optimizer=adam, seed=0)
    with (folder / "metrics.jsonl").open("a") as file:  # what a killed run leaves: later steps, and half a line
        file.write('{"step": 3, "total": 9.0}\n{"step": 4, "tot')
    resumed = Trainer(6, **trainer).fit(module, datamodule=Uniform(), optimizer=adam, ckpt_path=folder)
    whole = fit(6, module, adam, log_every=1)
    assert curves(resumed.history) == curves(whole.history)
    assert curves(read_metrics(folder / "metrics.jsonl")) == curves(whole.history)


def test_numbers_that_json_lacks_are_null(tmp_path):
    writer = MetricsWriter(tmp_path / "metrics.jsonl", History())
    writer.write({"step": 0, "total": math.inf, "losses": {"a": math.nan}, "list": [1.0, math.nan]})
    assert json.loads((tmp_path / "metrics.jsonl").read_text()) == {
        "step": 0, "total": None, "losses": {"a": None}, "list": [1.0, None],
    }  # fmt: skip
    assert math.isnan(read_metrics(tmp_path / "metrics.jsonl").losses["a"][0])


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(fit(2, log_every=1).history) == 2
    assert list(tmp_path.iterdir()) == []


def test_the_last_step_is_always_recorded():
    result = fit(5, log_every=3)
    assert result.history.steps.tolist() == [0, 3, 4]
    assert result.metrics["step"] == 4
    assert jax.tree.leaves(result.metrics["losses"])


def test_least_squares_steps_tell_which_part_of_their_time_each_phase_took():
    from phijax.optimizers import GaussNewton

    shares = fit(6, optimizer=GaussNewton()).history.events[-1]["shares"]
    assert set(shares) == {
        "Jacobian",
        "Gram matrix",
        "solves",
        "geodesic correction",
        "trial losses",
        "sampling and the rest",
    }
    assert sum(shares.values()) == pytest.approx(1.0, abs=5e-3)
    assert min(shares.values()) > 0
    assert "shares" not in fit(3).history.events[-1]
