"""R9-R11, T2: the fault table of run folders on the command line: exit code, one sentence, and its cure."""

import contextlib
import importlib
import io
import json
import os
import shutil

import numpy as np
import pytest
from sympy import Eq, exp

import phijax as phi
from phijax.cli import main
from phijax.cli.errors import Terminated
from phijax.training.lock import held

solving = importlib.import_module("phijax.solve")  # phijax.solve is its function
t = phi.time("t")
y, span = phi.field("y", t), phi.Interval(t, 0, 1)
STEPS = 30


def problem():
    equations = {"ode": Eq(y.diff(t), -y), "start": phi.on(span.at(t=0), Eq(y, 1))}
    return phi.Problem(span, equations, name="decay", reference={y: exp(-t)})


def solved(folder, **settings):
    network = phi.MLP(width=2, depth=1)
    given = {"points": 4, "optimizer": {"kind": "Adam"}, "method": "network", "max_steps": STEPS}
    return phi.solve(problem(), seed=0, network=network, run_dir=folder, progress=False, **{**given, **settings})


def phijax(*arguments):
    """(exit code, standard output, standard error) of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    assert "Traceback" not in err.getvalue()
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module", autouse=True)
def quiet():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PHIJAX_NO_CACHE", "1")
        patch.setattr(phi.RunDirectory, "write_plots", lambda run, solution: [])  # drawn elsewhere
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """(folder of a finished run, its values)."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    solution = solved(folder)
    return folder, solution.y(t=np.linspace(0, 1, 7))


@pytest.fixture
def copy(run, tmp_path):
    """A copy of the run that has yet to write its summary."""
    folder = shutil.copytree(run[0], tmp_path / "run")
    (folder / "summary.json").unlink()
    return folder


def removed(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("name", ["config.toml", "problem.json"])
def test_a_folder_without_its_declaration_is_no_run_directory(copy, name):
    removed(copy / name)
    code, _, err = phijax("resume", copy)
    assert (code, err) == (2, f"phijax: {copy} is no run directory: it has no {name}.\n")


DESCRIBING = ("environment.json", "problem.txt", "metrics.jsonl", "report.txt", ".lock")


@pytest.mark.parametrize("names", [DESCRIBING, ("checkpoints",)])
def test_other_files_may_be_missing_and_without_checkpoints_a_run_starts_from_its_settings(run, copy, names):
    for name in names:
        removed(copy / name)
    code, _, err = phijax("resume", copy)
    assert code == 0, err
    summary = json.loads((copy / "summary.json").read_text())
    assert (summary["status"], summary["steps"]) == ("finished", STEPS)
    np.testing.assert_array_equal(phi.load_solution(copy).y(t=np.linspace(0, 1, 7)), run[1])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "config.toml",
            b"seed = ",
            "config.toml is damaged (Invalid value (at end of document)); put it back as it was",
        ),
        ("config.toml", b"\xff", "config.toml is damaged ('utf-8' codec can't decode"),
        ("config.toml", b'optimizer = "x"\nbalancer = 3\n', "config.toml is damaged ('precision'); put it back"),
        ("problem.json", b"", "problem.json is damaged (Expecting value"),
        ("problem.json", b"\xff", "problem.json is damaged ('utf-8' codec can't decode"),
        ("problem.json", b"[" * 100_000, "problem.json is damaged ("),
        ("problem.json", b"{}", "problem.json is damaged (it holds no problem: KeyError 'domain')"),
    ],
)
def test_a_damaged_file_is_named_with_its_cure(copy, name, content, message):
    (copy / name).write_bytes(content)
    code, _, err = phijax("resume", copy)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_a_checkpoint_that_is_damaged_and_has_none_before_it_is_told_with_the_cure(copy):
    for file in (copy / "checkpoints").rglob("*"):
        if file.is_file():
            file.write_bytes(b"")
    code, _, err = phijax("resume", copy)
    assert code == 2
    assert err.strip().endswith("Remove that folder, and phijax resume starts the run anew from its settings.")


def test_a_changed_problem_is_refused(copy):
    tree = json.loads((copy / "problem.json").read_text())
    tree["constraints"][0]["name"] = "other"
    (copy / "problem.json").write_text(json.dumps(tree))
    code, _, err = phijax("resume", copy)
    assert code == 2
    assert "problem.json is not the problem that this run was begun with" in err
    assert err.strip().endswith("Put the file back as it was, or run the problem in a new folder.")


@pytest.mark.parametrize("verb", ["resume", "predict"])
@pytest.mark.parametrize(
    ("then", "now", "changed"),
    [
        ("width = 2", "width = 3", "network.width was 2 and is 3"),
        ('activation = "tanh"', 'activation = "sin"', "network.activation was 'tanh' and is 'sin'"),
        ("y = 1.0", "y = 3.0", "scales.y was 1.0 and is 3.0"),
    ],
)
def test_a_changed_network_is_refused_also_where_its_weights_fit(copy, tmp_path, then, now, changed, verb):
    text = (copy / "config.toml").read_text()
    assert then in text
    (copy / "config.toml").write_text(text.replace(then, now))
    (tmp_path / "points.csv").write_text("t\n0.5\n")
    code, _, err = phijax(verb, copy, *([tmp_path / "points.csv"] if verb == "predict" else []))
    assert code == 2
    assert f"is of another network: {changed}. Put it back as it was; " in err


def test_a_changed_optimizer_is_refused_by_the_arrays_that_it_lacks(copy):
    text = (copy / "config.toml").read_text()
    assert 'kind = "Adam"' in text
    (copy / "config.toml").write_text(text.replace('kind = "Adam"', 'kind = "SSBroyden"'))
    code, _, err = phijax("resume", copy)
    assert code == 2
    assert "does not fit this run: it " in err
    assert "Use the model, optimizer, balancer, samplers, callbacks and precision that it was saved with" in err


def test_a_changed_version_and_damaged_records_are_told_and_the_run_goes_on(copy):
    (copy / "metrics.jsonl").write_bytes(b"\xff\n\n")
    found = json.loads((copy / "environment.json").read_text())
    found["versions"]["jax"] = "0.0.1"
    (copy / "environment.json").write_text(json.dumps(found))
    code, _, err = phijax("resume", copy)
    assert code == 0
    assert "phijax: warning: this run was begun with jax 0.0.1 and goes on with" in err
    assert f"phijax: warning: {copy}/metrics.jsonl: line 1 is damaged and left out." in err


def test_a_folder_in_use_is_refused_by_the_number_of_the_process(run, copy):
    with held(copy):
        code, _, err = phijax("resume", copy)
    assert (code, err) == (2, f"phijax: {copy} is in use by process {os.getpid()}; wait until it ends.\n")
    with pytest.raises(
        phi.evaluation.RunDirectoryError, match="already holds a run; go on with a run by `phijax resume`"
    ):
        solved(run[0])


@pytest.mark.parametrize(("signal", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_a_signal_outside_of_the_steps_says_how_to_go_on(copy, monkeypatch, signal, code):
    def stopped(*_):
        raise signal

    monkeypatch.setattr(solving, "compile_choice", stopped)
    found, _, err = phijax("resume", copy)
    assert found == code
    assert err.strip().endswith(f"Go on with: phijax resume {copy}")


def test_a_disk_that_is_full_at_the_summary_leaves_a_run_that_goes_on(run, copy, monkeypatch):
    from phijax.evaluation import files

    def full(source, target):
        if target.name == "summary.json":
            raise OSError(28, os.strerror(28), str(target))
        return os.rename(source, target)

    monkeypatch.setattr(files.os, "replace", full)
    code, _, err = phijax("resume", copy)
    assert (code, err.splitlines()[-1]) == (
        2,
        f"phijax: {copy}/summary.json: the disk is full; make room, and go on with a run by `phijax resume`.",
    )
    assert not (copy / "summary.json").exists()
    monkeypatch.undo()
    assert phijax("resume", copy)[0] == 0
    np.testing.assert_array_equal(phi.load_solution(copy).y(t=np.linspace(0, 1, 7)), run[1])


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_compiled(tmp_path, monkeypatch):
    from pathlib import Path

    def read_only(path, *_, **__):
        raise OSError(30, os.strerror(30), str(path))

    (tmp_path / "decay.py").write_text(
        "import phijax as phi\nfrom sympy import Eq\nt = phi.time('t')\ny = phi.field('y', t)\n"
        "span = phi.Interval(t, 0, 1)\n"
        "p = phi.Problem(span, {'ode': Eq(y.diff(t), -y), 'start': phi.on(span.at(t=0), Eq(y, 1))})\n"
    )
    monkeypatch.setattr(solving, "compile_choice", lambda *_: pytest.fail("compiled"))
    monkeypatch.setattr(Path, "mkdir", read_only)
    code, _, err = phijax("run", tmp_path / "decay.py", "--run-dir", tmp_path / "run")
    assert code == 2
    assert err.strip().endswith("nothing can be written there; choose another folder.")
    assert [path.name for path in tmp_path.iterdir()] == ["decay.py"]


def test_a_run_without_its_checkpoints_cannot_be_evaluated_and_says_why(copy, tmp_path):
    removed(copy / "checkpoints")
    (tmp_path / "points.csv").write_text("t\n0.5\n")
    code, _, err = phijax("predict", copy, tmp_path / "points.csv")
    assert code == 2
    assert err.strip().endswith("has no checkpoints yet; `phijax resume` goes on with it.")
