"""One run in several processes on the loopback address: its numbers, its folder, and what the death of one leaves."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib

import pytest

from phijax.cli import main
from phijax.cli.relay import Relay, told
from phijax.evaluation import load_solution
from phijax.training import CheckpointStore

FILE = """import phijax as phi
from sympy import Eq, exp
t = phi.time("t")
y = phi.field("y", t)
span = phi.Interval(t, 0, 1)
decay = phi.Problem(span, {"ode": Eq(y.diff(t), -y), "start": phi.on(span.at(t=0), Eq(y, 1))}, reference={y: exp(-t)})
"""
SETTINGS = ["decay.py", "network.width=4", "network.depth=1", "points.ode=13"]
LONG = ["optimizer.kind=Adam", "run.max_steps=1000000"]
# A report of JAX's own, from a run of which process 1 was killed.
REPORT = """phijax: run folder /runs/decay
E1201 13:49:20.112200   28485 coordination_service.cc:1549] Use error polling to propagate the following error to all tasks
F1201 13:49:20.112925   28496 client.h:80] Terminating process because the JAX distributed service detected fatal errors.
UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):
1
The tasks have crashed. Check the task logs for an earlier error.
    @     0x7fd03dc40634  absl::lts_20260107::log_internal::LogMessage::SendToLog()
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a user's file, and what the commands in it see."""
    folder = tmp_path_factory.mktemp("launched")
    (folder / "decay.py").write_text(FILE)
    environment = os.environ | {"PHIJAX_NO_CACHE": "1", "OMP_NUM_THREADS": "1"}

    def started(*arguments):
        command = [sys.executable, "-m", "phijax", *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(command, cwd=folder, env=environment, **pipes)

    return folder, started


def records(folder):
    lines = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    return {line["step"]: line["total"] for line in lines if "total" in line}


def reached(folder, step, process, seconds=240):
    """Waits until the run in `folder` has recorded a step."""
    for _ in range(10 * seconds):
        if (folder / "metrics.jsonl").exists() and max(records(folder), default=0) >= step:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError(f"step {step} was not reached in {seconds} s")


@pytest.mark.parametrize(("optimizer", "steps", "least"), [("Adam", 101, 1e-6), ("GaussNewton", 12, 1e-12)])
def test_two_processes_of_two_devices_train_as_one_device_does(place, optimizer, steps, least):
    folder, started = place
    run = ["run", *SETTINGS, f"optimizer.kind={optimizer}", f"run.max_steps={steps}"]
    two, one = folder / f"two-{optimizer}", folder / f"one-{optimizer}"
    launched = started("launch", "-n", "2", "--", *run, "--devices", "4", "--run-dir", str(two), "--json")
    alone = started(*run, "--run-dir", str(one))
    out, err = launched.communicate()
    alone.communicate()
    assert (launched.returncode, alone.returncode) == (0, 0), err
    found, true = records(two), records(one)
    assert list(found) == list(true)
    # Adam in float32, relative; Gauss-Newton in float64, whose small damping makes more of the rounding of a sum.
    scale = true if optimizer == "Adam" else dict.fromkeys(true, 1.0)
    assert max(abs(found[step] - true[step]) / scale[step] for step in true) < least
    assert held_points(two) == held_points(one)
    assert "Gloo" not in out + err
    assert out.count("status ") == 1  # one of them prints
    assert json.loads(out.splitlines()[-1])["steps"] == json.loads((one / "summary.json").read_text())["steps"]
    assert tomllib.loads((two / "config.toml").read_text())["devices"] == 4


def held_points(run):
    """The bytes of what adaptive samplers hold in the last checkpoint."""
    saved = CheckpointStore(run).latest()
    pairs = zip(saved.leaves, saved.arrays, strict=True)
    return [array.tobytes() for leaf, array in pairs if leaf["path"].startswith(".sampler_state")]


@pytest.fixture(scope="module")
def interrupted(place):
    """A run of two processes that SIGTERM ended: its folder, exit code and message."""
    folder, started = place
    launched = started("launch", "-n", "2", "--", "run", *SETTINGS, *LONG, "--run-dir", "run")
    reached(folder / "run", 50, launched)
    launched.send_signal(signal.SIGTERM)
    _, err = launched.communicate()
    return folder / "run", launched.returncode, err


def test_a_signal_to_the_launcher_saves_and_ends_all(interrupted):
    run, code, err = interrupted
    assert code == 143, err
    assert json.loads((run / "summary.json").read_text())["status"] == "interrupted"
    assert load_solution(run).steps >= 50


def test_a_process_that_dies_ends_the_others_with_a_message_and_nothing_saved_is_lost(place, interrupted):
    folder, started = place
    run = folder / "killed"
    shutil.copytree(interrupted[0], run)
    saved = load_solution(run).steps
    launched = started("launch", "-n", "2", "--", "resume", str(run))
    reached(run, saved + 20, launched)
    found = subprocess.run(["pgrep", "-P", str(launched.pid)], capture_output=True, text=True, check=True)
    members = sorted(map(int, found.stdout.split()))
    os.kill(members[1], signal.SIGKILL)
    begun = time.monotonic()
    _, err = launched.communicate()
    assert launched.returncode == 1
    assert time.monotonic() - begun < 60
    assert err.splitlines()[-1] == (
        f"phijax: process 1 of 2 was killed by SIGKILL; the others were ended. Go on with: phijax resume {run}"
    )
    for member in members:
        with pytest.raises(ProcessLookupError):
            os.kill(member, 0)
    assert load_solution(run).steps >= saved


@pytest.mark.slow
def test_of_processes_started_by_hand_the_others_end_within_a_minute_and_name_who_died(place):
    folder, started = place
    port = 40_000 + os.getpid() % 20_000
    meeting = ["--coordinator", f"127.0.0.1:{port}", "--num-processes", "2", "--process-id"]
    first, second = (started("run", *SETTINGS, *LONG, "--run-dir", "hand", *meeting, str(i)) for i in range(2))
    reached(folder / "hand", 50, first)
    second.kill()
    second.communicate()
    begun = time.monotonic()
    _, err = first.communicate()
    assert first.returncode != 0
    assert time.monotonic() - begun < 60
    assert err.splitlines()[-1] == (
        f"phijax: process 1 of 2 died; the others were ended. Go on with: phijax resume {folder / 'hand'}"
    )


@pytest.mark.slow
def test_a_run_of_two_processes_goes_on_with_one_two_and_four_devices_to_the_same_losses(place, interrupted):
    folder, started = place
    losses = []
    for devices in ("1", "2", "4"):
        run = folder / f"on-{devices}"
        shutil.copytree(interrupted[0], run)
        saved = load_solution(run).steps
        resumed = started("resume", str(run), "--devices", devices)
        reached(run, saved + 100, resumed)
        resumed.terminate()
        resumed.communicate()
        losses.append({step: total for step, total in records(run).items() if saved <= step < saved + 100})
    assert len(losses[0]) == 10
    for other in losses[1:]:
        assert max(abs(other[step] / total - 1) for step, total in losses[0].items()) < 1e-5


def test_the_report_of_jax_is_told_in_a_sentence(capsys):
    relay = Relay(sys.stderr)
    for line in REPORT.splitlines(keepends=True):
        relay.pass_on(line)
    assert capsys.readouterr().err == "phijax: run folder /runs/decay\n"
    assert relay.dead() == [1]
    assert told([1], 2, relay.folder).endswith("died; the others were ended. Go on with: phijax resume /runs/decay")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["launch", "-n", "0", "--", "run", "burgers"], "-n 0: give a whole number of processes, at least 1."),
        (["launch", "-n", "2", "--", "plot", "x"], "the verb one of run, resume, doctor."),
        (
            ["run", "burgers", "--process-id", "0"],
            "--coordinator is missing: --coordinator, --num-processes, --process-id are",
        ),
        (["run", "burgers", "--devices", "0"], "--devices 0: give a whole number of at least 1."),
        (
            ["run", "burgers", "--coordinator", "a:1", "--num-processes", "2", "--process-id", "2"],
            "--process-id 2: 2 processes are numbered from 0 to 1.",
        ),
        (
            ["run", "burgers", "--coordinator", "here", "--num-processes", "2", "--process-id", "0"],
            "--coordinator here: give HOST:PORT of the first process.",
        ),
        (
            ["run", "burgers", "--devices", "3", "--coordinator", "a:1", "--num-processes", "2", "--process-id", "0"],
            "--devices 3 do not divide among 2 processes; give a multiple.",
        ),
    ],
)
def test_what_cannot_be_shared_is_answered_before_anything_starts(capsys, arguments, message):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_processes_of_the_operating_system_are_told_by_their_launcher(monkeypatch):
    from phijax.cli.placing import Place

    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")
    assert Place().processes == 3
