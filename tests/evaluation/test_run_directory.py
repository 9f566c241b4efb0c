"""The folder of a run: whole from the start, never another run's, read without executing anything."""

import json
import math
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from sympy import Eq

import phijax as phi
from phijax.evaluation import Dated, RunDirectory, RunDirectoryError, run_directory
from phijax.lowering import LoweringError

t = phi.time("t")
y = phi.field("y", t)
span = phi.Interval(t, 0, 1)
CONFIG = {"seed": 3, "precision": "float64", "max_seconds": None, "network": {"kind": "MLP", "width": [4, 4]}}


def decay(name="decay"):
    equations = {"ode": Eq(y.diff(t), -y), "start": phi.on(span.at(t=0), Eq(y, 1))}
    return phi.Problem(span, equations, name=name, reference={y: 1 / (1 + t)})


def test_a_new_folder_holds_the_declaration_and_the_settings(tmp_path):
    run = RunDirectory.create(tmp_path / "run", decay(), CONFIG)
    assert {path.name for path in run.path.iterdir()} == {
        "config.toml",
        "environment.json",
        "problem.txt",
        "problem.json",
    }
    settings = {"seed": 3, "precision": "float64", "network": {"kind": "MLP", "width": [4, 4]}}
    assert run.config == {**settings, "fingerprint": decay().fingerprint}
    assert run.problem.fingerprint == decay().fingerprint
    assert run.problem.name == "decay"
    assert decay().fingerprint in (run.path / "problem.txt").read_text()
    assert run.summary is None
    found = json.loads((run.path / "environment.json").read_text())
    assert {"python", "phijax", "jax", "jaxlib", "equinox", "optax", "sympy", "numpy"} <= set(found["versions"])
    assert found["precision"] == "float64"
    assert found["devices"]
    assert "determinism" in found


def test_warnings_of_the_declaration_are_not_told_again(tmp_path):
    x = phi.coordinate("x")
    v = phi.field("v", x)
    with pytest.warns(phi.DeclarationWarning):
        problem = phi.Problem(phi.Interval(x, 0, 1), {"ode": Eq(v.diff(x, 2), v)})
    assert RunDirectory.create(tmp_path / "run", problem, CONFIG).problem.warnings == problem.warnings


def test_it_is_found_again(tmp_path):
    made = RunDirectory.create(tmp_path / "run", decay(), CONFIG)
    assert RunDirectory.open(made.path).config == made.config


def test_two_runs_of_one_second_have_folders_of_their_own(tmp_path, monkeypatch):
    class Stopped(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2026, 11, 29, 10, 15)

    monkeypatch.setattr(run_directory, "datetime", Stopped)
    folders = [RunDirectory.create(Dated(tmp_path), decay("a b/c"), CONFIG).path.name for _ in range(3)]
    assert folders == ["a-b-c-20261129-101500", "a-b-c-20261129-101500-2", "a-b-c-20261129-101500-3"]


def test_another_runs_folder_is_refused(tmp_path):
    RunDirectory.create(tmp_path / "run", decay(), CONFIG)
    with pytest.raises(RunDirectoryError, match="already holds a run; go on with a run by `phijax resume`"):
        RunDirectory.create(tmp_path / "run", decay(), CONFIG)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(RunDirectoryError, match="already holds something"):
        RunDirectory.create(tmp_path / "other", decay(), CONFIG)
    assert (tmp_path / "other" / "thesis.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "run"]  # and nothing half-made is left


def test_an_empty_folder_is_taken(tmp_path):
    (tmp_path / "run").mkdir()
    assert RunDirectory.create(tmp_path / "run", decay(), CONFIG).config["seed"] == 3


def test_a_fault_while_it_is_made_leaves_nothing(tmp_path, monkeypatch):
    def broken(problem):
        raise OSError("disk full")

    monkeypatch.setattr(run_directory, "to_json", broken)
    with pytest.raises(OSError, match="disk full"):
        RunDirectory.create(tmp_path / "run", decay(), CONFIG)
    assert list(tmp_path.iterdir()) == []


def test_other_folders_are_named(tmp_path):
    with pytest.raises(RunDirectoryError, match="there is no folder"):
        RunDirectory.open(tmp_path / "absent")
    with pytest.raises(RunDirectoryError, match=r"is no run directory: it has no config\.toml"):
        RunDirectory.open(tmp_path)


def test_damaged_files_are_named(tmp_path):
    run = RunDirectory.create(tmp_path / "run", decay(), CONFIG)
    (run.path / "problem.json").write_text("{")
    with pytest.raises(RunDirectoryError, match=r"problem\.json is damaged"):
        run.problem  # noqa: B018
    for content in (b"seed = ", b"seed = 3\xff"):
        (run.path / "config.toml").write_bytes(content)
        with pytest.raises(RunDirectoryError, match=r"config\.toml is damaged"):
            run.config  # noqa: B018


def test_another_problem_than_the_run_was_begun_with_is_refused(tmp_path):
    run = RunDirectory.create(tmp_path / "run", decay(), CONFIG)
    text = (run.path / "problem.json").read_text()
    changed = json.loads(text)
    changed["constraints"][0]["name"] = "other"
    (run.path / "problem.json").write_text(json.dumps(changed))
    begun = decay().fingerprint[:12]
    with pytest.raises(RunDirectoryError, match=rf"is not the problem that this run was begun with: .* says {begun}"):
        run.problem  # noqa: B018


def test_versions_that_have_changed_are_found(tmp_path):
    run = RunDirectory.create(tmp_path / "run", decay(), CONFIG)
    assert run.changed_versions() == {}
    found = json.loads((run.path / "environment.json").read_text())
    now = found["versions"]["jax"]
    found["versions"]["jax"] = "0.0.1"
    (run.path / "environment.json").write_text(json.dumps(found))
    assert run.changed_versions() == {"jax": ("0.0.1", now)}
    for content in (b"\xff", b"[]", b'{"versions": 3}'):
        (run.path / "environment.json").write_bytes(content)
        assert run.changed_versions() == {}


def test_a_process_of_the_same_number_that_was_killed_is_in_nobodys_way(tmp_path):
    (tmp_path / f".run.{os.getpid()}.part").mkdir()
    assert RunDirectory.create(tmp_path / "run", decay(), CONFIG).problem.name == "decay"


@pytest.mark.parametrize("text", ['{"status": "finis', "", "[]", "{}"])
def test_a_damaged_summary_is_as_good_as_none(tmp_path, text):
    run = RunDirectory.create(tmp_path / "run", decay(), CONFIG)
    (run.path / "summary.json").write_text(text)
    with pytest.warns(UserWarning, match=r"summary\.json is damaged and left out; `phijax resume` writes it anew"):
        assert run.summary is None


HOLD = """import fcntl, os, sys, time
file = open(sys.argv[1], "a+")
fcntl.flock(file, fcntl.LOCK_EX)
print(os.getpid(), file=file, end="", flush=True)
print("held", flush=True)
time.sleep(60)
"""


def test_a_folder_is_held_by_one_process_until_it_ends_however_it_does(tmp_path):
    run = RunDirectory.create(tmp_path / "run", decay(), CONFIG)
    with subprocess.Popen([sys.executable, "-c", HOLD, run.path / ".lock"], stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        before = {path.name: path.read_bytes() for path in run.path.iterdir()}
        with pytest.raises(RunDirectoryError, match=rf"is in use by process {other.pid}; wait until it ends\.$"):
            phi.resume(run.path)
        assert {path.name: path.read_bytes() for path in run.path.iterdir()} == before
        other.kill()
        other.wait()
    with run.in_use():
        assert (run.path / ".lock").read_text() == str(os.getpid())
        with pytest.raises(RunDirectoryError, match=f"in use by process {os.getpid()}"), run.in_use():
            pass


def test_summary_report_and_pictures_are_written(tmp_path, exact_solution):
    run = RunDirectory.create(tmp_path / "run", decay(), CONFIG)
    solution = exact_solution(decay(), {y: 1 / (1 + t)}, status="finished", steps=9)
    summary = run.write_summary(solution)
    assert run.summary == summary
    assert summary["steps"] == 9
    assert summary["errors"]["y"]["max"] < 1e-14
    assert "fresh points" in (run.path / "report.txt").read_text()
    pictures = [run.path / "plots" / f"{name}.png" for name in ("solution", "residuals", "points")]
    assert run.write_plots(solution) == [*pictures, run.path / "report.html"]
    assert not list(Path(run.path).rglob("*.part*"))


def test_the_folder_is_whole_before_anything_is_compiled(tmp_path):
    """What cannot be compiled leaves its declaration and settings behind."""
    law = Eq(y.diff(t), phi.function("law", math.sin)(y))
    problem = phi.Problem(span, {"ode": law, "start": phi.on(span.at(t=0), Eq(y, 1))})
    with pytest.raises(LoweringError, match="constraint 'ode': the function 'law' fails on an array"):
        phi.solve(problem, seed=5, run_dir=tmp_path / "run", network=phi.MLP(width=4, depth=1), progress=False)
    run = RunDirectory.open(tmp_path / "run")
    assert (run.config["seed"], run.config["network"]["width"]) == (5, 4)
    assert "y_t = law(y)" in (run.path / "problem.txt").read_text()
