"""`phijax run` from a user's file: its folder, its end, and resuming to the bits of a run that was left alone."""

import contextlib
import io
import json
import shutil
import signal
import subprocess
import sys
import time
import tomllib

import numpy as np
import pytest

from phijax.cli import main
from phijax.evaluation import load_solution
from phijax.training.interrupt import AGAIN

FILE = """import phijax as phi
from sympy import Eq, exp
t = phi.time("t")
y = phi.field("y", t)
span = phi.Interval(t, 0, 1)
def decay(rate=2.0):
    equations = {"ode": Eq(y.diff(t), -rate * y), "start": phi.on(span.at(t=0), Eq(y, 1))}
    return phi.Problem(span, equations, reference={y: exp(-rate * t)})
"""
SETTINGS = ["network.width=4", "network.depth=1", "optimizer.kind=Adam", "points.ode=16", "rate=1.5"]
STEPS = "run.max_steps=2000"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a user's file, as the working directory of every command; nothing is cached outside it."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "decay.py").write_text(FILE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PHIJAX_NO_CACHE", "1")
        yield folder


def phijax(*arguments):
    """(exit code, standard output, standard error) of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def whole(place):
    """A run that was left alone."""
    code, out, err = phijax("run", "decay.py", *SETTINGS, STEPS, "--run-dir", "whole", "--json")
    assert code == 0, err
    return place / "whole", out


def values(folder):
    return load_solution(folder).y(t=np.linspace(0, 1, 50))


def test_a_run_fills_its_folder_and_ends_with_its_summary(whole):
    folder, out = whole
    summary = json.loads(out.splitlines()[-1])
    assert summary == json.loads((folder / "summary.json").read_text())
    assert (summary["problem"], summary["status"], summary["steps"]) == ("decay", "finished", 2000)
    assert summary["errors"]["y"]["relative_l2"] < 0.5
    assert summary["residuals"].keys() == {"ode", "start"}
    assert "error against closed form" in out
    names = (
        ".lock checkpoints config.toml environment.json metrics.jsonl plots problem.json problem.txt report.html report.txt "
        "summary.json"
    )
    assert sorted(path.name for path in folder.iterdir()) == names.split()
    pictures = ["history.png", "points.png", "residuals.png", "solution.png"]
    assert sorted(path.name for path in (folder / "plots").iterdir()) == pictures


def test_nothing_is_written_outside_the_runs_folder(whole, place):
    assert {"decay.py", "whole"} <= {path.name for path in place.iterdir()} <= {"decay.py", "whole", "stopped"}


def test_the_user_settings_are_in_the_folder(whole):
    config = tomllib.loads((whole[0] / "config.toml").read_text())
    assert config["network"]["width"] == 4
    assert config["optimizer"] == {"kind": "Adam"}
    assert config["points"]["ode"] == 16
    assert (config["seed"], config["max_steps"]) == (0, 2000)
    assert "y_t = -1.5*y" in (whole[0] / "problem.txt").read_text()


def test_resume_of_a_finished_run_prints_its_summary_again(whole):
    folder, out = whole
    before = (folder / "metrics.jsonl").read_bytes()
    code, again, _ = phijax("resume", "whole", "--json")
    assert code == 0
    assert again.splitlines()[-1] == out.splitlines()[-1]
    assert (folder / "metrics.jsonl").read_bytes() == before


def stopped_by(number, folder, steps, times=1):
    """(exit code, output, errors) of a process that gets a signal once it has begun to train, and again where it shall."""
    command = [sys.executable, "-m", "phijax", "run", "decay.py", *SETTINGS, steps, "--run-dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    metrics = folder / "metrics.jsonl"
    while process.poll() is None and not (metrics.exists() and metrics.stat().st_size):
        time.sleep(0.02)
    for _ in range(times):
        process.send_signal(number)
        time.sleep(AGAIN + 0.1 if times > 1 else 0)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def test_an_interrupted_run_goes_on_to_the_same_bits(whole, place):
    folder = place / "stopped" / "interrupted"
    code, out, err = stopped_by(signal.SIGINT, folder, STEPS)
    assert code == 130, err
    assert f"go on with: phijax resume {folder}" in out
    stopped = json.loads((folder / "summary.json").read_text())
    assert stopped["status"] == "interrupted"
    assert 0 < stopped["steps"] < 2000
    assert phijax("resume", str(folder))[0] == 0
    np.testing.assert_array_equal(values(folder), values(whole[0]))
    with (folder / "metrics.jsonl").open() as mine, (whole[0] / "metrics.jsonl").open() as other:
        ours, theirs = ([json.loads(line)["total"] for line in file if '"total"' in line] for file in (mine, other))
    assert ours == theirs


def test_a_terminated_run_is_saved(place):
    folder = place / "stopped" / "terminated"
    code, _, err = stopped_by(signal.SIGTERM, folder, "run.max_steps=100000000")
    assert code == 143, err
    assert load_solution(folder).steps == json.loads((folder / "summary.json").read_text())["steps"] > 0


def test_a_second_signal_ends_at_once_and_the_run_goes_on_to_the_same_bits(whole, place):
    folder = place / "stopped" / "twice"
    code, _, err = stopped_by(signal.SIGTERM, folder, STEPS, times=2)
    assert code == 143, err
    assert "Traceback" not in err
    assert phijax("resume", str(folder))[0] == 0
    np.testing.assert_array_equal(values(folder), values(whole[0]))


def test_a_run_that_was_killed_before_its_first_checkpoint_starts_from_its_settings(whole, place):
    folder = place / "stopped" / "killed"
    folder.mkdir(parents=True)
    for name in ("config.toml", "environment.json", "problem.txt", "problem.json"):
        shutil.copy(whole[0] / name, folder)
    code, _, err = phijax("resume", str(folder))
    assert code == 0, err
    np.testing.assert_array_equal(values(folder), values(whole[0]))


def test_more_time_goes_on_with_a_run_that_the_clock_ended(whole, place):
    folder = place / "stopped" / "timed"
    shutil.copytree(whole[0], folder)
    summary = json.loads((folder / "summary.json").read_text())
    summary |= {
        "status": "stopped",
        "stop_reason": "max_seconds reached, after 1.02 s of training (step 2000)",
        "steps": 1999,
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    code, out, _ = phijax("resume", str(folder), "--json")
    assert code == 0
    assert json.loads(out.splitlines()[-1])["steps"] == 1999  # nothing to do without more time
    code, out, _ = phijax("resume", str(folder), "--max-seconds", "60", "--json")
    assert code == 0
    assert json.loads(out.splitlines()[-1])["steps"] == 2000


def test_divergence_is_three_and_names_the_term(place):
    (place / "stopped").mkdir(exist_ok=True)
    (place / "stopped" / "grow.py").write_text(FILE.replace("-rate * y)", "phi.function('f', lambda y: y / 0)(y))"))
    settings = [*SETTINGS, "run.max_steps=3", "--run-dir", "stopped/grow"]
    code, out, err = phijax("run", "stopped/grow.py", *settings)
    assert code == 3, err
    assert "status       diverged: " in out
    assert "ode" in out.splitlines()[2]
