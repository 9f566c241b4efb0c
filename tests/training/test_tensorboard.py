"""TensorBoard: what its event files hold is what the run's record holds, each step once, also after a resume."""

import struct
import sys

import numpy as np
import optax
import pytest
from tensorboardX.proto.event_pb2 import Event, SessionLog
from training_toy import Uniform, toy

from phijax.balancing import Static
from phijax.training import TensorBoard, Trainer, callbacks


def fit(steps, *given, **settings):
    again = {"ckpt_path": settings["checkpoint"]} if settings.pop("again", False) else {}
    trainer = Trainer(steps, callbacks=given, log_every=1, progress=False, **settings)
    parts = {"datamodule": Uniform(), "balancer": Static({"fit": 3.0}), "seed": 0}
    return trainer.fit(toy(), optimizer=optax.adam(1e-2), **parts, **again)


def events(folder):
    """All events of a folder, oldest file first: each record is its length, a checksum, the event, and a checksum."""
    for file in sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime_ns):
        content = file.read_bytes()
        while content:
            (length,) = struct.unpack("<Q", content[:8])
            yield Event.FromString(content[12 : 12 + length])
            content = content[16 + length :]


def curves(folder):
    """{tag: {step: value}} as TensorBoard shows them: a start of a session drops what stood at its step and later."""
    shown = {}
    for event in events(folder):
        if event.HasField("session_log") and event.session_log.status == SessionLog.START:
            shown = {tag: {s: v for s, v in curve.items() if s < event.step} for tag, curve in shown.items()}
        for value in event.summary.value:
            curve = shown.setdefault(value.tag, {})
            assert event.step not in curve
            curve[event.step] = value.simple_value
    return shown


def test_the_curves_are_those_of_the_record(tmp_path):
    history = fit(10, TensorBoard(tmp_path / "board", every=2)).history
    shown = curves(tmp_path / "board")
    expected = {"total": history.total, "learning_rate": history.learning_rate}
    for group in ("losses", "weights", "weighted"):
        expected |= {f"{group}/{term}": column for term, column in getattr(history, group).items()}
    for tag, column in expected.items():
        assert shown.pop(tag) == {step: np.float32(column[step - 1]) for step in (2, 4, 6, 8, 10)}
    assert list(shown) == ["parameters/c"]
    steps, values = zip(*sorted(shown["parameters/c"].items()), strict=True)
    assert steps == (0, 2, 4, 6, 8, 10)
    np.testing.assert_array_equal(values[:-1], history.parameters["c"][::2].astype(np.float32))


def test_a_resumed_run_takes_the_place_of_what_was_past_its_checkpoint(tmp_path):
    board = TensorBoard(tmp_path / "board", every=2)
    fit(4, board, checkpoint=tmp_path / "run")
    fit(9, board)  # what a run that was killed has written past the checkpoint of step 4
    fit(4, board, checkpoint=tmp_path / "run", again=True)  # nothing is left to do, and nothing is written
    whole = fit(12, board, checkpoint=tmp_path / "run", again=True).history
    totals = curves(tmp_path / "board")["total"]
    assert totals == {step: np.float32(whole.total[step - 1]) for step in range(2, 13, 2)}


def test_numbers_of_arrays_and_of_complex_parameters_have_tags_of_their_own(tmp_path):
    board = TensorBoard(tmp_path / "board")
    parameters = {"a": [[1.0, 2.0]], "b": 3 - 4j}
    board.step((), callbacks.Event(0, None, {}, {}, float("nan"), parameters))
    board.close()
    found = {tag: curve[0] for tag, curve in curves(tmp_path / "board").items()}
    expected = {"a/0/0": 1.0, "a/0/1": 2.0, "b/real": 3.0, "b/imaginary": -4.0}
    assert found == {f"parameters/{name}": value for name, value in expected.items()}


def test_without_tensorboardx_it_names_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ImportError, match=r"tensorboardX is not installed; pip install 'phijax\[tensorboard\]'\."):
        TensorBoard(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"folder": None}, r"folder=None\): give the path"), ({"folder": "x", "every": 0}, "every=0")],
)
def test_what_means_nothing_is_refused(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        TensorBoard(**options)
