"""`phijax run --seeds`: a folder of several seeds, and every verb that reads it."""

import contextlib
import io
import json

import numpy as np
import pytest

import phijax as phi
from phijax.cli import main
from phijax.evaluation import RunDirectoryError

FILE = """import phijax as phi
from sympy import Eq, exp
t = phi.time("t")
y = phi.field("y", t)
span = phi.Interval(t, 0, 1)
problem = phi.Problem(span, {"ode": Eq(y.diff(t), -y), "start": phi.on(span.at(t=0), Eq(y, 1))}, reference={y: exp(-t)})
"""
SETTINGS = ["network.width=4", "network.depth=1", "optimizer.kind=Adam", "points.ode=16"]


def phijax(*arguments):
    """(exit code, standard output, standard error) of a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ensembles")
    (folder / "decay.py").write_text(FILE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PHIJAX_NO_CACHE", "1")
        yield folder


@pytest.fixture(scope="module")
def run(place):
    code, out, err = phijax(
        "run", "decay.py", *SETTINGS, "run.max_steps=200", "--seed", "3", "--seeds", "3", "--run-dir", "run", "--json"
    )
    assert code == 0, err
    return place / "run", json.loads(out.splitlines()[-1]), out


def test_the_folder_is_told_of_and_holds_all(run):
    folder, summary, out = run
    assert summary["seeds"] == [3, 4, 5]
    assert summary["steps"] == 600
    assert summary == json.loads((folder / "summary.json").read_text())
    assert "spread over the seeds" in out
    assert "spread over the seeds" in (folder / "report.html").read_text()
    ensemble = phi.load_ensemble(folder)
    times = np.linspace(0, 1, 7)
    each = np.array([phi.load_solution(folder, seed=seed).y(t=times) for seed in (3, 4, 5)])
    np.testing.assert_allclose(ensemble.y(t=times), each.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(ensemble.spread.y(t=times), each.std(axis=0, ddof=1), rtol=1e-4)
    assert ensemble.status == "finished"
    assert [m.steps for m in ensemble.members] == [200] * 3
    worst = summary["errors"]["y"]["relative_l2"]["worst"]
    assert worst == pytest.approx(max(m.errors()["y"]["relative_l2"] for m in ensemble.members), rel=1e-6)


def test_a_member_is_the_run_of_its_seed(run, place):
    code, _, err = phijax("run", "decay.py", *SETTINGS, "run.max_steps=200", "--seed", "4", "--run-dir", "single")
    assert code == 0, err
    times = np.linspace(0, 1, 50)
    single, member = phi.load_solution(place / "single"), phi.load_solution(run[0], seed=4)
    np.testing.assert_array_equal(single.y(t=times), member.y(t=times))


def test_predictions_and_exports_have_the_spread(run, place):
    (place / "points.csv").write_text("t\n0.0\n1.0\n")
    assert phijax("predict", "run", "points.csv", "--residuals", "--out", "values.csv")[0] == 0
    head, *rows = (place / "values.csv").read_text().splitlines()
    assert head == "t,y,residual_ode,y_spread,residual_ode_spread"
    ensemble = phi.load_ensemble(place / "run")
    last = [float(entry) for entry in rows[-1].split(",")]
    assert last[1] == pytest.approx(float(ensemble.y(t=1.0)), rel=1e-6)
    assert last[3] == pytest.approx(float(ensemble.spread.y(t=1.0)), rel=1e-4)
    assert phijax("export", "run", "--format", "weights", "--out", "weights.npz")[0] == 0
    with np.load(place / "weights.npz") as stored:
        assert {name.split("/")[0] for name in stored} == {"3", "4", "5"}


def test_resume_watch_plot_and_report_read_it(run):
    folder, _, _ = run
    code, out, _ = phijax("resume", "run")
    assert code == 0
    assert "seeds        3, 4, 5" in out
    code, out, _ = phijax("watch", "run")
    assert code == 0
    steps = [line.split()[:2] for line in out.splitlines() if line.split()[0] in {"3", "4", "5"}]
    assert {seed for seed, _ in steps} == {"3", "4", "5"}
    assert ["4", "190"] in steps
    assert phijax("plot", "run")[0] == 0
    assert (folder / "plots" / "solution.png").stat().st_size > 0


def test_what_does_not_fit_is_answered(run, place):
    code, _, err = phijax("run", "decay.py", "--seeds", "1")
    assert code == 2
    assert "--seeds 1: give at least 2" in err
    with pytest.raises(RunDirectoryError, match=r"give seed= one of 3, 4, 5, or take all by load_ensemble"):
        phi.load_solution(run[0])
    with pytest.raises(RunDirectoryError, match=r"has no seed 9"):
        phi.load_solution(run[0], seed=9)
