"""Following a run: a line a record as it comes, its end, interruption, and what is no run."""

import io
import json
import os
import threading
import time

import pytest
from rich.console import Console
from sympy import Eq

import phijax as phi
from phijax.cli import main, watching
from phijax.evaluation import RunDirectory

t = phi.time("t")
y, span = phi.field("y", t), phi.Interval(t, 0, 1)
SUMMARY = {"status": "finished", "stop_reason": "all 30 steps done", "steps": 30}


def record(step):
    losses, weights = {"ode": 0.5 / (step + 1), "start": 0.25}, {"ode": 1.0, "start": 10.0}
    weighted = {name: loss * weights[name] for name, loss in losses.items()}
    one = {"step": step, "total": sum(weighted.values()), "losses": losses, "weights": weights, "weighted": weighted}
    return one | {"parameters": {"k": 1.5}, "seconds": 0.1 * step}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(watching.watch_verb, "__defaults__", (0.01,))
    problem = phi.Problem(span, {"ode": Eq(y.diff(t), -y), "start": phi.on(span.at(t=0), Eq(y, 1))}, name="decay")
    return RunDirectory.create(tmp_path / "run", problem, {"seed": 4, "problem": "decay", "max_steps": 40}).path


def append(folder, *lines):
    with (folder / "metrics.jsonl").open("a") as file:
        for line in lines:
            file.write(line if isinstance(line, str) else json.dumps(line) + "\n")


def finish(folder):
    (folder / "summary.json").write_text(json.dumps(SUMMARY))


def test_each_record_is_a_line_and_the_summary_ends_it(folder, capsys):
    def run_elsewhere():
        for step in (0, 10):
            append(folder, record(step))
            time.sleep(0.05)
        append(folder, {"event": "stage", "step": 15, "reason": "15 steps done"})
        whole = json.dumps(record(20)) + "\n"
        append(folder, whole[:40])  # a line is told when it is whole
        time.sleep(0.05)
        append(folder, whole[40:], record(30))
        finish(folder)

    other = threading.Thread(target=run_elsewhere)
    other.start()
    assert main(["watch", str(folder)]) == 0
    other.join()
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["step", "total", "ode", "start", "k", "seconds"]
    assert [line.split()[0] for line in lines] == ["0", "10", "stage", "20", "30", "finished"]
    assert lines[0].split() == ["0", "3.000e+00", "5.000e-01", "2.500e-01", "1.500e+00", "0.0"]
    assert lines[2] == "stage at step 15: 15 steps done"
    assert lines[-1] == "finished at step 30: all 30 steps done"


def test_a_run_that_is_over_is_told_at_once(folder, capsys):
    append(folder, record(0), record(30))
    finish(folder)
    assert main(["watch", str(folder)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_an_end_that_the_records_tell_is_told_once(folder, capsys):
    append(folder, record(0), {"event": "finished", "step": 30, "reason": "all 30 steps done"})
    finish(folder)
    assert main(["watch", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == ["finished at step 30: all 30 steps done"]


def test_the_summary_of_before_a_resume_ends_nothing(folder):
    append(folder, *map(record, (0, 10, 20)))
    finish(folder)
    following = watching.follow(folder, pause=0)
    assert [next(following)["step"] for _ in range(3)] == [0, 10, 20]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record(step)) + "\n" for step in (0, 10)))  # cut back
    later = time.time_ns() + 10**9
    os.utime(folder / "metrics.jsonl", ns=(later, later))
    following = watching.follow(folder, pause=0)
    assert [next(following)["step"] for _ in range(2)] == [0, 10]
    assert next(following) is None  # the summary is older: the run goes on
    append(folder, record(20))
    os.utime(folder / "metrics.jsonl", ns=(later, later))
    assert next(following)["step"] == 20
    os.utime(folder / "summary.json", ns=(later + 1, later + 1))
    assert list(following) in ([], [None])


def test_a_file_that_is_cut_back_is_read_anew_and_told_once(folder):
    append(folder, *map(record, (0, 10, 20)))
    following = watching.follow(folder, pause=0)
    assert [next(following)["step"] for _ in range(3)] == [0, 10, 20]
    (folder / "metrics.jsonl").write_text(json.dumps(record(0)) + "\n")
    assert next(following) is None
    append(folder, record(10), record(20), record(30))
    assert next(following)["step"] == 30


def test_ctrl_c_is_130(folder, capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    append(folder, record(0))
    monkeypatch.setattr(watching.time, "sleep", interrupted)
    assert main(["watch", str(folder)]) == 130
    assert "phijax: interrupted." in capsys.readouterr().err


def test_what_is_no_run_is_told(tmp_path, capsys):
    assert main(["watch", str(tmp_path / "none")]) == 2
    assert f"there is no folder {tmp_path / 'none'}." in capsys.readouterr().err
    assert main(["watch", str(tmp_path)]) == 2
    assert "is no run directory: it has no config.toml" in capsys.readouterr().err


def test_a_terminal_has_a_panel(folder):
    screen = Console(file=io.StringIO(), width=100)
    events = [{"event": "stage", "step": 5}]
    screen.print(watching.panel(folder, {"problem": "decay", "seed": 4, "max_steps": 40}, record(20), events))
    shown = screen.file.getvalue()
    for words in (
        "decay, seed 4",
        "step 20 of 40, stage 2, 2 s, 10.0 steps a second, 2 s to its last step",
        "k = 1.500e+00",
    ):
        assert words in shown
    (row,) = [line for line in shown.splitlines() if "start" in line]
    assert row.strip("│ ").split() == ["start", "2.500e-01", "1.000e+01", "2.500e+00"]
    screen.print(watching.panel(folder, {}, None, []))
    assert "no record yet" in screen.file.getvalue()
