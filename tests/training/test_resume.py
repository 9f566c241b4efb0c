"""R9, R10, R11, P56, P57, P59: what a checkpoint carries, and that a resumed run is the uninterrupted one."""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import optax
import pytest
from resume_cases import CASES, HALF, WHOLE, next_batches, run
from training_toy import Uniform, bits, curves, differing, toy

import phijax
from phijax.training import CheckpointError, Trainer, initialize_train_state

ADAM = optax.adam(1e-2)


@pytest.fixture(scope="module")
def resumed(tmp_path_factory):
    """What another process reached from the checkpoints of half runs, by case."""
    folder = tmp_path_factory.mktemp("runs")
    for case in CASES:
        run(case, HALF, seed=3, checkpoint=folder / case)
    script = Path(__file__).with_name("resume_cases.py")
    environment = os.environ | {"PYTHONPATH": str(Path(phijax.__file__).parents[1])}
    subprocess.run([sys.executable, script, folder, *CASES], check=True, timeout=900, env=environment)
    return {case: pickle.loads((folder / f"{case}.pickle").read_bytes()) for case in CASES}


@pytest.mark.parametrize("case", CASES)
def test_r10_resuming_in_a_new_process_is_bit_equal(resumed, case):
    whole = run(case, WHOLE, seed=3)
    state, batches, history, status = resumed[case]
    records = zip(history, curves(whole.history), strict=True)
    assert next(((a, b) for a, b in records if a != b), None) is None
    unequal = [a[0] for a, b in zip(state, bits(whole.state), strict=True) if a != b]
    assert unequal == []
    assert batches == next_batches(case, whole.state)
    assert status == whole.status
    assert np.isfinite(whole.history.total).all()


def test_r10_the_cases_cover_what_ships():
    import phijax.balancing as balancing
    import phijax.optimizers as optimizers
    import phijax.sampling as sampling
    import phijax.training as training

    text = Path(__file__).with_name("resume_cases.py").read_text()
    shipped = [name for name in dir(balancing) if isinstance(getattr(balancing, name), type)]
    shipped = [name for name in shipped if issubclass(getattr(balancing, name), balancing.LossBalancer)]
    shipped += [
        name
        for name, kind in vars(optimizers).items()
        if isinstance(kind, type) and issubclass(kind, optimizers.LeastSquaresOptimizer)
    ]
    shipped += [
        name for name, kind in vars(training).items() if isinstance(kind, type) and issubclass(kind, training.Callback)
    ]
    shipped += [name for name, kind in vars(sampling).items() if hasattr(kind, "init") and hasattr(kind, "sample")]
    abstract = {"LossBalancer", "LeastSquaresOptimizer", "Callback", "Static"}
    # Two steps on a linear model: tests/choice; a state that is the clock's, and one that is in files: test_timer.py and
    # test_tensorboard.py.
    elsewhere = {"LinearLeastSquares", "Timer", "TensorBoard"}
    assert [name for name in shipped if name not in abstract | elsewhere and name not in text] == []


def fit(steps, datamodule=None, module=None, optimizer=ADAM, seed=0, ckpt_path=None, weights_only=False, **settings):
    return Trainer(steps, progress=False, **settings).fit(
        module or toy(),
        datamodule=datamodule or Uniform(),
        optimizer=optimizer,
        seed=seed,
        ckpt_path=ckpt_path,
        weights_only=weights_only,
    )


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """A run of 4 steps of Adam and its folder."""
    folder = tmp_path_factory.mktemp("half") / "run"
    return fit(4, checkpoint=folder), folder


def test_r9_the_source_is_asked_for_with_the_restored_key(half):
    result, folder = half
    data = Uniform()
    fit(5, data, seed=77, ckpt_path=folder)
    assert differing(data.keys, [result.state.sampling_key]) == []


def test_r9_every_part_of_the_state_is_restored(half):
    result, folder = half
    again = fit(4, seed=77, ckpt_path=folder / "checkpoints")
    assert differing(again.state, result.state) == []
    assert (again.status, again.step) == ("finished", 4)


def test_r10_fit_state_resumes_likewise(half):
    _, folder = half
    module = toy()
    other = initialize_train_state(module.factory(jax.random.key(5)), ADAM, None, jax.random.key(6))
    resumed = Trainer(6, progress=False).fit_state(
        module, other, datamodule=Uniform(), optimizer=ADAM, ckpt_path=folder
    )
    assert differing(resumed.state, fit(6).state) == []


def test_r11_weights_only_restores_weights_alone(half):
    result, folder = half
    frozen = optax.sgd(0.0)
    loaded = fit(1, optimizer=frozen, seed=77, ckpt_path=folder, weights_only=True)
    fresh = fit(1, optimizer=frozen, seed=77)
    assert differing(loaded.model, result.model) == []
    assert loaded.step == 1
    assert len(loaded.history) == 1
    for part in ("opt_state", "balancer_state", "rng_key", "sampling_key", "balancer_key"):
        assert differing(getattr(loaded.state, part), getattr(fresh.state, part)) == []


def test_p57_predictions_of_a_restored_model_are_bit_equal(half):
    result, folder = half
    again = fit(4, seed=None, ckpt_path=folder)
    x = np.linspace(-1.0, 1.0, 50)
    trainer = Trainer(1)
    assert trainer.predict(again, x).tobytes() == trainer.predict(result, x).tobytes()


def test_p57_another_architecture_is_refused_naming_the_leaf(half):
    def wider(key):
        net = toy().factory(key)
        return type(net)(*(jax.numpy.concatenate([leaf, leaf]) for leaf in (net.inner, net.shift, net.outer)), net.c)

    with pytest.raises(CheckpointError, match=r"has \.model_state\.inner of float32 of shape \(3,\).*shape \(6,\)"):
        fit(5, module=toy(factory=wider), ckpt_path=half[1])
    with pytest.raises(CheckpointError, match=r"\.model_state\.inner"):
        fit(5, module=toy(factory=wider), ckpt_path=half[1], weights_only=True)


def test_another_optimizer_or_precision_is_refused_naming_the_leaf(half):
    with pytest.raises(CheckpointError, match=r"has \.opt_state\[0\]\.count.*which this run has not"):
        fit(5, optimizer=optax.sgd(1e-2), ckpt_path=half[1])
    with pytest.raises(CheckpointError, match=r"\.inner of float32 of shape \(3,\); this run has float64"):
        fit(5, precision="float64", ckpt_path=half[1])


def test_a_folder_that_holds_a_run_is_not_overwritten(half):
    with pytest.raises(CheckpointError, match="already holds a run, saved at step 4: go on with it by ckpt_path="):
        fit(5, checkpoint=half[1])


def test_a_folder_without_checkpoints_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="neither a run folder nor a checkpoint folder"):
        fit(5, ckpt_path=tmp_path)


def test_r14_a_resumed_run_spends_what_is_left(half):
    result, folder = half
    again = fit(50, ckpt_path=folder, max_seconds=result.seconds * 0.5)
    assert again.status == "stopped"
    assert again.step == 5
    assert "max_seconds" in again.stop_reason
    assert again.seconds > result.seconds


KILLED = """
import sys; sys.path.insert(0, sys.argv[1])
import optax
from training_toy import Uniform, toy
from phijax.training import Trainer
trainer = Trainer(10**9, checkpoint=sys.argv[2], checkpoint_every=5, log_every=5, progress=False)
trainer.fit(toy(), datamodule=Uniform(), optimizer=optax.adam(1e-2), seed=0)
"""


def test_t2_a_run_killed_at_any_moment_goes_on_from_what_is_on_disk(tmp_path):
    folder = tmp_path / "run"
    environment = os.environ | {"PYTHONPATH": str(Path(phijax.__file__).parents[1])}
    command = [sys.executable, "-c", KILLED, str(Path(__file__).parent), str(folder)]
    process = subprocess.Popen(command, env=environment)
    deadline = time.monotonic() + 300
    while not (folder / "checkpoints" / "20").exists() and not (folder / "checkpoints" / "25").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.wait()
    resumed = fit(200, ckpt_path=folder, checkpoint=folder, log_every=5)
    assert resumed.status == "finished"
    whole = fit(200, log_every=5)
    assert differing(resumed.state, whole.state) == []
    assert curves(resumed.history) == curves(whole.history)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"datamodule": object()}, "has no method train_batch_source"),
        ({"balancer": "gradnorm"}, "balancer='gradnorm' is no LossBalancer"),
        (
            {"datamodule": type("Data", (), {"train_batch_source": lambda *_: 3})()},
            "gave int, which is no batch source",
        ),
    ],
)
def test_parts_of_another_kind_are_refused(parts, message):
    with pytest.raises(TypeError, match=message):
        Trainer(1).fit(toy(), **({"datamodule": Uniform(), "optimizer": ADAM, "seed": 0} | parts))
