"""A run folder is enough for values, also where a function that a condition used is not there any more."""

import sys

import numpy as np
from sympy import Eq

import phijax as phi
from phijax.evaluation import load_solution

LAW = """
def inflow(t):
    return 7.0 + 0 * t
"""


def test_values_from_the_folder_alone_when_a_users_function_cannot_be_imported(tmp_path, monkeypatch):
    (tmp_path / "vanishing_law.py").write_text(LAW)
    monkeypatch.syspath_prepend(str(tmp_path))
    import vanishing_law

    t = phi.time("t")
    u = phi.field("u", t)
    span = phi.Interval(t, 0, 1)
    problem = phi.Problem(span, {"ode": Eq(u.diff(t), -u), "start": phi.on(span.at(t=0), {u: vanishing_law.inflow})})
    network = phi.MLP(width=4, depth=1)
    solution = phi.solve(
        problem, seed=0, network=network, max_steps=2, points=8, run_dir=tmp_path / "run", progress=False
    )
    expected = solution.u(t=[0.0, 0.5])
    monkeypatch.delitem(sys.modules, "vanishing_law")
    (tmp_path / "vanishing_law.py").unlink()
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != str(tmp_path)])
    np.testing.assert_array_equal(load_solution(tmp_path / "run").u(t=[0.0, 0.5]), expected)
    assert load_solution(tmp_path / "run").compiled.layout.scales == {"u": 7.0}
