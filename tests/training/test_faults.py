"""R9, R10, T2: faults that a run meets, at the Trainer: what is lost, what is told, and that it goes on to the same bits."""

import errno
import os
import resource
import shutil
import threading
from pathlib import Path

import optax
import pytest
from training_toy import Uniform, bits, curves, differing, toy

from phijax.training import CheckpointError, CheckpointStore, Stage, Trainer, read_metrics
from phijax.training.lock import FolderInUse, held

ADAM = optax.adam(1e-2)


def fit(steps, folder=None, optimizer=ADAM, **settings):
    again = {"ckpt_path": folder} if folder is not None and (Path(folder) / "checkpoints").is_dir() else {}
    trainer = Trainer(steps, checkpoint=folder, progress=False, **{"log_every": 1, **settings})
    return trainer.fit(toy(), datamodule=Uniform(), optimizer=optimizer, seed=0, **again)


@pytest.fixture(scope="module")
def whole():
    return fit(12)


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """A run folder with checkpoints of steps 4 and 8."""
    folder = tmp_path_factory.mktemp("runs") / "half"
    fit(8, folder, checkpoint_every=4)
    return folder


def emptied(file):
    file.write_bytes(b"")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of orbax's, where a read fails
@pytest.mark.filterwarnings("ignore:checkpoint .* is damaged and refused:RuntimeWarning")
@pytest.mark.parametrize("damage", [Path.unlink, emptied])
def test_t2_a_checkpoint_that_lacks_a_file_is_whole_or_refused_and_never_another(half, tmp_path, damage):
    latest, before = (bits(CheckpointStore(half).read(step).arrays) for step in (8, 4))
    files = [file for file in sorted((half / "checkpoints" / "8").rglob("*")) if file.is_file()]
    assert len(files) > 5
    refused = 0
    for number, file in enumerate(files):
        copy = shutil.copytree(half, tmp_path / str(number))
        damage(copy / file.relative_to(half))
        saved = CheckpointStore(copy).latest()
        assert bits(saved.arrays) == {8: latest, 4: before}[saved.step]
        refused += saved.step == 4
    assert refused


def test_t2_the_steps_of_a_refused_checkpoint_are_taken_again(half, whole, tmp_path):
    folder = shutil.copytree(half, tmp_path / "run")
    for file in (folder / "checkpoints" / "8").rglob("*"):
        if file.is_file():
            emptied(file)
    with pytest.warns(RuntimeWarning, match="8 is damaged and refused .*; the one before it is tried"):
        resumed = fit(12, folder)
    assert differing(resumed.state, whole.state) == []
    assert curves(read_metrics(folder / "metrics.jsonl")) == curves(whole.history)


def test_t2_with_none_whole_the_message_names_the_cure(half, tmp_path):
    folder = shutil.copytree(half, tmp_path / "run")
    for file in (folder / "checkpoints").rglob("*"):
        if file.is_file():
            emptied(file)
    cure = r"Remove that folder, and phijax resume starts the run anew from its settings\.$"
    with pytest.warns(RuntimeWarning, match="damaged"), pytest.raises(CheckpointError, match=cure):
        fit(12, folder)


@pytest.mark.parametrize("write", range(1, 12, 5))
def test_a_disk_that_is_full_at_a_record_costs_no_step_that_was_saved(whole, tmp_path, monkeypatch, write):
    folder, count, opened = tmp_path / "run", 0, Path.open

    def full(path, mode="r", *rest, **named):
        nonlocal count
        count += path.name == "metrics.jsonl" and mode == "a"
        if path.name == "metrics.jsonl" and mode == "a" and count >= write:
            with opened(path, "a") as file:
                file.write('{"step": 9')  # what there was room for
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return opened(path, mode, *rest, **named)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match="No space left on device"):
        fit(12, folder)
    monkeypatch.undo()
    assert CheckpointStore(folder).steps()[0] == write  # the step whose record failed is taken, and saved
    resumed = fit(12, folder)
    assert differing(resumed.state, whole.state) == []


def test_a_checkpoint_for_which_there_is_no_room_is_told_and_the_one_before_it_kept(whole, tmp_path):
    folder, settings = tmp_path / "run", {"log_every": 100}
    fit(4, folder, **settings)
    before, (soft, hard) = bits(CheckpointStore(folder).latest().arrays), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, hard))  # enough for the records
    try:
        with pytest.raises(Exception, match="File too large"):
            fit(8, folder, **settings)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert CheckpointStore(folder).latest().step == 4
    assert bits(CheckpointStore(folder).latest().arrays) == before
    assert differing(fit(12, folder, **settings).state, whole.state) == []


def test_two_runs_in_one_folder_are_refused_by_the_number_of_the_first(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    found = []

    def other():
        try:
            fit(2, folder)
        except FolderInUse as error:
            found.append(str(error))

    with held(folder):
        second = threading.Thread(target=other)
        second.start()
        second.join()
        assert fit(2, folder).status == "finished"  # the thread that holds it may
    assert found == [f"{folder} is in use by process {os.getpid()}; wait until it ends."]
    assert fit(3, folder).step == 3


def test_stages_and_held_points_are_told_once_however_often_the_run_is_resumed(tmp_path):
    stages = [(ADAM, 3), Stage(ADAM, 4, hold=0), (ADAM, 3)]
    whole = fit(10, optimizer=stages)
    folder = tmp_path / "run"
    for steps in (3, 5, 7, 10):
        resumed = fit(steps, folder, optimizer=stages)
    told = [(event["event"], event["step"]) for event in read_metrics(folder / "metrics.jsonl").events]
    assert [one for one in told if one[0] != "finished"] == [("stage", 3), ("hold", 3), ("stage", 7)]
    assert [(e["event"], e["step"]) for e in whole.history.events][:-1] == [("stage", 3), ("hold", 3), ("stage", 7)]
    assert differing(resumed.state, whole.state) == []


@pytest.mark.parametrize("line", [b"\xff\xfe", b"[]", b"{}", b'{"step": 1}', b'{"step": 1, "total": "x"}', b"[" * 5000])
def test_a_damaged_record_is_left_out_and_named(half, tmp_path, line):
    texts = (half / "metrics.jsonl").read_bytes().splitlines()
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b"\n".join([*texts[:2], line, *texts[3:], b'{"step": 8, "tot']))
    with pytest.warns(RuntimeWarning, match=r"metrics\.jsonl: line 3 is damaged and left out\."):
        history = read_metrics(path)
    assert list(history.steps) == [0, 1, 3, 4, 5, 6, 7]


def test_another_problem_is_not_gone_on_with(tmp_path):
    from sympy import Eq

    import phijax as phi

    t = phi.time("t")
    y, span = phi.field("y", t), phi.Interval(t, 0, 1)
    start = phi.on(span.at(t=0), Eq(y, 1))
    results = []
    for rate in (1, 2):
        problem = phi.Problem(span, {"ode": Eq(y.diff(t), -rate * y), "start": start})
        compiled = phi.compile(problem, network=phi.MLP(width=2, depth=1), points=4)
        results.append(compiled)
    trainer = Trainer(1, checkpoint=tmp_path / "run", progress=False)
    trainer.fit(results[0].module, datamodule=results[0].datamodule, optimizer=ADAM, seed=0)
    other = {"datamodule": results[1].datamodule, "optimizer": ADAM, "ckpt_path": tmp_path / "run"}
    with pytest.raises(CheckpointError, match=r"is of another problem .* or give weights_only=True"):
        Trainer(2, progress=False).fit(results[1].module, **other)
    assert Trainer(2, progress=False).fit(results[1].module, **other, weights_only=True, seed=0).step == 2
