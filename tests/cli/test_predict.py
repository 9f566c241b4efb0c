"""Points in a file, values in a file: columns by name, exact digits, messages that name the file."""

import jax
import numpy as np
import optax
import pytest
from sympy import Eq, I, sin

import phijax as phi
from phijax._precision import precision_scope
from phijax.cli import main
from phijax.evaluation import RunDirectory, Solution, html
from phijax.networks import MLP
from phijax.training import CheckpointStore, initialize_train_state

x, t = phi.coordinate("x"), phi.time("t")
u = phi.field("u", x, t)
h = phi.field("h", x, t, complex=True)
k = phi.field("k", x)
ring = phi.Interval(x, 0, 1, periodic=True) * phi.Interval(t, 0, 1)
NETWORK = MLP(width=4, depth=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """(folder of a run as training leaves it, its solution)."""
    problem = phi.Problem(
        ring,
        {
            "flow": {"u": Eq(u.diff(t), k * u.diff(x)), "h": Eq(I * h.diff(t), h.diff(x, 2))},
            "balance": Eq(k.diff(x), sin(u)),
            "start": phi.on(ring.at(t=0), Eq(u, 1), Eq(h, 1)),
        },
        name="waves",
    )
    folder = tmp_path_factory.mktemp("run") / "waves"
    RunDirectory.create(folder, problem, {"seed": 0, "precision": "float64", "network": NETWORK.to_config()})
    compiled = phi.compile(problem, network=NETWORK, precision="float64")
    with precision_scope("float64"):
        model = compiled.module.factory(jax.random.key(1))
        store = CheckpointStore(folder, keep=1)
        state = initialize_train_state(model, optax.sgd(0.1), None, jax.random.key(0))
        store.save(3, state, {"precision": "float64", "seconds": 1.0})
        store.close()
    return folder, Solution(compiled, model, precision="float64")


def read(path):
    names = path.read_text().splitlines()[0].split(",")
    return dict(zip(names, np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2).T, strict=True))


def test_csv_in_and_out(run, tmp_path, capsys):
    folder, solution = run
    (tmp_path / "points.csv").write_text("t,x,remark,extra\n0.25,0.1,a,1\n0.5,0.7,b,2\n")
    assert main(["predict", str(folder), str(tmp_path / "points.csv"), "--residuals"]) == 0
    target = tmp_path / "points-predicted.csv"
    assert capsys.readouterr().out == f"{target}\n"
    found = read(target)
    values = ["k", "u", "h_real", "h_imag"]
    residuals = ["residual_flow/u", "residual_flow/h_real", "residual_flow/h_imag", "residual_balance"]
    assert list(found) == ["x", "t", *values, *residuals]
    points = {"x": np.array([0.1, 0.7]), "t": np.array([0.25, 0.5])}
    np.testing.assert_array_equal(found["u"], solution.u(**points))  # every digit
    np.testing.assert_array_equal(found["h_real"] + 1j * found["h_imag"], solution.h(**points))
    np.testing.assert_array_equal(found["k"], solution.k(x=points["x"]))
    np.testing.assert_array_equal(found["residual_flow/u"], solution.residual("flow", **points)["flow/u"])


def test_npz_in_and_out_keep_shape(run, tmp_path):
    folder, solution = run
    points = {"x": np.linspace(0, 1, 4)[:, None], "t": np.linspace(0, 1, 3)}
    np.savez(tmp_path / "points.npz", **points)
    assert main(["predict", str(folder), str(tmp_path / "points.npz"), "--out", str(tmp_path / "values.npz")]) == 0
    with np.load(tmp_path / "values.npz") as found:
        assert set(found) == {"x", "t", "u", "h", "k"}
        np.testing.assert_array_equal(found["h"], solution.h(**points))
        assert found["k"].shape == (4, 3)
        assert found["h"].dtype == np.complex128


def test_a_table_without_rows_gives_one_without_rows(run, tmp_path):
    (tmp_path / "points.csv").write_text("x,t\n")
    assert main(["predict", str(run[0]), str(tmp_path / "points.csv")]) == 0
    assert (tmp_path / "points-predicted.csv").read_text() == "x,t,k,u,h_real,h_imag\n"


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("x\n0.1\n", "points.csv", "t missing: the value depends on x, t; coordinates given: x."),
        ("0.1,0.2\n0.3,0.4\n", "points.csv", "no column is one of the coordinates x, t; its first line must name"),
        ("x,t\n0.1,a\n", "points.csv", "column 't' holds 'a', which is no number in line 2"),
        ("x,t\n0.1\n", "points.csv", "line 2 has 1 cells, and the first line names 2"),
        ("x,t\n0,1,0,5\n", "points.csv", "line 2 has 4 cells, and the first line names 2; separate columns by commas"),
        ("x,t,x\n0,1,2\n", "points.csv", "its first line names the column 'x' twice"),
        ("x,t\n", "points.txt", "points are read from .csv, with a line of names, or from .npz"),
        (None, "absent.csv", "there is no file"),
    ],
)
def test_what_is_wrong_with_the_points_is_named(run, tmp_path, capsys, text, name, message):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    assert main(["predict", str(run[0]), str(path)]) == 2
    assert message in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ([name] if text is not None else [])


@pytest.mark.parametrize(
    ("out", "message"), [("points.csv", "is the file of points itself"), ("v.txt", "write to .csv")]
)
def test_other_targets_are_refused(run, tmp_path, capsys, out, message):
    (tmp_path / "points.csv").write_text("x,t\n0,0\n")
    assert main(["predict", str(run[0]), str(tmp_path / "points.csv"), "--out", str(tmp_path / out)]) == 2
    assert message in capsys.readouterr().err


def test_plot_of_a_run_lies_in_its_folder(run, capsys):
    assert main(["plot", str(run[0])]) == 0
    pictures = [f"plots/{name}.png" for name in ("solution", "residuals", "points")]
    assert capsys.readouterr().out.split() == [str(run[0] / name) for name in (*pictures, "report.html")]
    assert (run[0] / "plots" / "solution.png").read_bytes()[:4] == b"\x89PNG"
    source = (run[0] / "report.html").read_text(encoding="utf-8")
    assert source.count('src="data:image/png;base64,') == len(pictures)


@pytest.mark.parametrize("content", [b"junk", b"", b"PK\x03\x04 cut short"])
def test_a_file_that_is_no_npz_is_refused_by_name(run, tmp_path, capsys, content):
    (tmp_path / "points.npz").write_bytes(content)
    assert main(["predict", str(run[0]), str(tmp_path / "points.npz")]) == 2
    assert "points.npz is no npz file of plain arrays: " in capsys.readouterr().err


def test_exports_lie_in_the_runs_folder(run, tmp_path, capsys):
    folder, solution = run
    assert main(["export", str(folder), "--points", "5"]) == 0
    assert capsys.readouterr().out == f"{folder / 'exports' / 'solution.npz'}\n"
    with np.load(folder / "exports" / "solution.npz") as stored:
        np.testing.assert_array_equal(stored["u"], solution.u(x=stored["x"], t=stored["t"]))
        assert stored["h"].dtype == np.complex128
    assert main(["export", str(folder), "--format", "vtk", "--times", "2", "--points", "5"]) == 0
    assert capsys.readouterr().out == f"{folder / 'exports' / 'solution.pvd'}\n"
    assert sorted(path.name for path in (folder / "exports" / "solution").iterdir()) == [
        "solution_0000.vti",
        "solution_0001.vti",
    ]
    assert main(["export", str(folder), "--format", "weights", "-o", str(tmp_path / "w")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'w.npz'}\n"
    assert main(["export", str(folder), "--format", "vkt"]) == 2
    assert "--format vkt: no format is called so; did you mean 'vtk'" in capsys.readouterr().err


def test_the_report_of_a_run_goes_where_it_is_asked(run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(html, "figures", lambda solution: {})
    assert main(["report", str(run[0]), "-o", str(tmp_path / "mine.html")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'mine.html'}\n"
    assert "<h1>waves</h1>" in (tmp_path / "mine.html").read_text(encoding="utf-8")
