"""Rows whose gradient is taken together: given, by rule, or measured once and recorded."""

import re
import tomllib

import numpy as np
import optax
import pytest
import sympy

import phijax as phi
from phijax.training import tuning

x = phi.coordinate("x")
u = phi.field("u", x)
LINE = phi.Interval(x, 0, 1)
PROBLEM = phi.Problem(
    LINE, {"law": sympy.Eq(u.diff(x, 2), -u), "ends": phi.on(LINE.boundary, {u: sympy.cos(x)})}, name="line"
)
SMALL = phi.MLP(width=6, depth=1)


def test_rows_are_given_for_all_or_by_constraint():
    assert phi.compile(PROBLEM, network=SMALL, rows=32).rows == {"law": 32, "ends": 32}
    by_name = phi.compile(PROBLEM, network=SMALL, rows={"law": 16}).rows
    assert by_name["law"] == 16
    assert by_name["ends"] == phi.compile(PROBLEM, network=SMALL).rows["ends"]
    with pytest.raises(ValueError, match="rows names 'lwa', which is no constraint"):
        phi.compile(PROBLEM, network=SMALL, rows={"lwa": 16})
    with pytest.raises(ValueError, match=re.escape("rows='fast' must be a whole number of points")):
        phi.compile(PROBLEM, network=SMALL, rows="fast")
    with pytest.raises(ValueError, match=re.escape("rows='tune' must be a whole number of points")):
        phi.compile(PROBLEM, network=SMALL, rows={"law": "tune"})


def test_the_fastest_rows_are_taken_where_there_are_points_enough(monkeypatch):
    asked = []

    def seconds(model, name, block, batch, size):
        asked.append((name, size))
        return abs(size - 130.0)

    monkeypatch.setattr(tuning, "_seconds", seconds)
    compiled = phi.compile(PROBLEM, network=SMALL, points={"law": 300, "ends": 40}, rows="tune")
    assert compiled.rows["law"] == 128
    assert [size for name, size in asked if name == "law"] == [32, 64, 128]
    assert "ends" not in {name for name, _ in asked}


def test_measured_rows_are_recorded_and_a_resumed_run_takes_them(tmp_path):
    settings = {"network": SMALL, "points": 70, "optimizer": {"kind": "Adam"}, "max_steps": 4, "progress": False}
    solution = phi.solve(PROBLEM, seed=0, rows="tune", run_dir=tmp_path / "run", **settings)
    config = tomllib.loads((tmp_path / "run" / "config.toml").read_text())
    assert config["rows"] == solution.compiled.rows
    assert config["rows"]["law"] == 32  # of 70 points no other size makes two pieces
    assert phi.resume(tmp_path / "run", progress=False).compiled.rows == config["rows"]


def test_the_size_of_pieces_changes_the_solution_by_rounding_alone():
    def fitted(rows):
        compiled = phi.compile(PROBLEM, network=SMALL, points=128, precision="float64", rows=rows)
        trainer = phi.Trainer(20, progress=False)
        result = trainer.fit(compiled.module, datamodule=compiled.datamodule, optimizer=optax.adam(1e-2), seed=0)
        return phi.Solution.from_result(compiled, result).u(x=np.linspace(0, 1, 9))

    np.testing.assert_allclose(fitted(16), fitted(64), rtol=1e-10)
