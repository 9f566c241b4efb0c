"""Manufactured solutions: every equation of the new problem holds for the chosen solution."""

import numpy as np
import pytest
import sympy
from sympy import Eq, exp, pi, sin

import phijax as phi
from phijax.formulation.manufactured import substitute

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
x, t = phi.coordinate("x"), phi.time("t")
u = phi.field("u", x, t)
k = phi.parameter("k", 1.0)
domain = phi.Interval(x, 0, 1) * phi.Interval(t, 0, 1)
problem = phi.Problem(
    domain,
    {
        "pde": Eq(u.diff(t), k * u.diff(x, 2)),
        "start": phi.on(domain.at(t=0), Eq(u, 0)),
        "ends": phi.on(domain.boundary, {u: 0}),
        "delay": u.diff(x).subs(x, 1) + u.subs(t, t / 2),
        "seen": phi.data({"x": [0.5], "t": [0.5], "u": [0.25]}),
        "open": phi.free(domain.at(t=1)),
    },
)
SOLUTION = {u: exp(-t) * sin(pi * x) + x, k: 3}


def test_every_equation_holds_for_the_solution():
    made = phi.manufactured(problem, SOLUTION)
    assert list(made.constraints) == list(problem.constraints)
    for name in ("pde", "start", "ends", "delay"):
        (term,) = made.constraints[name].terms
        assert sympy.simplify(substitute(term.residual, SOLUTION)) == 0
        assert term.residual.has(u.func)
    assert made.constraints["seen"].columns["u"].values.tolist() == [0.25]


def test_a_field_that_is_made_again_is_the_same_field():
    again = {phi.field("u", x, t): SOLUTION[u], phi.parameter("k", 1.0): 3}
    assert phi.manufactured(problem, again) == phi.manufactured(problem, SOLUTION)


def test_the_solution_is_the_reference():
    made = phi.manufactured(problem, SOLUTION)
    found = made.reference({"u": (x, t)}, {"x": np.array([0.5]), "t": np.array([0.0])})
    assert found["u"] == pytest.approx([1.5])
    assert made.reference.parameter("k") == 3.0


@pytest.mark.parametrize(
    ("solution", "message"),
    [
        ({u: x}, "the exact solution gives no value for 'k'"),
        ({k: 1}, "the exact solution gives no value for 'u'"),
        (
            {u: x, k: 1, phi.field("uu", x, t): x},
            "the exact solution names 'uu', which the problem has not; did you mean 'u'",
        ),
        ({u: x, k: 1, "w": x}, "the exact solution names 'w', which the problem has not"),
    ],
)
def test_a_solution_must_name_every_unknown_and_no_other(solution, message):
    with pytest.raises(phi.DeclarationError, match=message):
        phi.manufactured(problem, solution)


def test_a_solution_in_words_is_refused():
    with pytest.raises(TypeError, match=r"'sin\(x\)' \(str\) is no number and no sympy expression"):
        phi.manufactured(problem, {u: "sin(x)", k: 1})
