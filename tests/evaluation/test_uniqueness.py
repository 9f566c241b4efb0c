"""Linear problems with many solutions are told from those with one, whatever was trained."""

import numpy as np
import pytest
from sympy import Eq, I, conjugate, cos, im, pi, re, sin

import phijax as phi
from phijax.evaluation.uniqueness import least_change, open_fields
from phijax.formulation import is_linear

x, t = phi.coordinate("x"), phi.time("t")
u, v = phi.field("u", x), phi.field("v", x)
line = phi.Interval(x, 0, 1)
ENDS = {"ends": phi.on(line.boundary, Eq(u, 0))}
FLAT = {"ends": phi.on(line.boundary, Eq(phi.normal_derivative(u), 0))}


def law(equation, **conditions):
    return phi.Problem(line, {"law": equation} | conditions)


def test_least_change_is_the_generalized_singular_value():
    random = np.random.default_rng(0)
    equations, values = random.normal(size=(40, 6)), random.normal(size=(2, 15, 6))
    flat = values.reshape(-1, 6)
    squared = np.linalg.eigvals(np.linalg.solve(flat.T @ flat, equations.T @ equations)).real
    change, sizes = least_change(equations, values)
    assert change * np.linalg.norm(sizes) == pytest.approx(np.linalg.norm(sizes) * np.sqrt(squared.min()), rel=1e-10)
    combination = random.normal(size=6)
    assert change < np.linalg.norm(equations @ combination) / np.linalg.norm(flat @ combination)


@pytest.mark.parametrize(
    "problem",
    [
        law(Eq(u.diff(x, 2), pi**2 * cos(pi * x)), **FLAT),
        law(Eq(u.diff(x, 2), 1), **FLAT),  # has no solution either
        law(Eq(u.diff(x, 2) + pi**2 * u, sin(2 * pi * x)), **ENDS),
        law(
            Eq(u.diff(x, 2), 0),
            mean=phi.on(line.side("left"), Eq(phi.integral(u, (x, 0, 1)), 5)),
            free=phi.free(line.boundary),
        ),
    ],
    ids=["slopes alone", "slopes that clash", "resonance", "a mean alone"],
)
@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_a_field_with_many_solutions_is_told(problem):
    found = open_fields(problem)
    assert list(found) == ["u"]
    assert found["u"] < 1e-7


@pytest.mark.parametrize(
    "problem",
    [
        law(
            Eq(u.diff(x, 2), pi**2 * cos(pi * x)),
            mean=phi.on(line.side("left"), Eq(phi.integral(u, (x, 0, 1)), 0)),
            **FLAT,
        ),
        law(Eq(u.diff(x, 2), pi**2 * cos(pi * x)), gauge=phi.on(phi.Point({x: 0}), Eq(u, 1)), **FLAT),
        law(Eq(u.diff(x, 2) + 0.99 * pi**2 * u, sin(2 * pi * x)), **ENDS),
        law(Eq(u.diff(x, 2), 0), ends=phi.on(line.boundary, Eq(u, 1e6), exact=True)),
        law(Eq(u, sin(x))),
        law(Eq(u.diff(x, 2), u**2), **FLAT),  # not linear: nothing is said
    ],
    ids=["mean", "gauge", "near resonance", "exact", "algebraic", "not linear"],
)
@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_a_field_with_one_solution_is_not_told(problem):
    assert open_fields(problem) == {}


def test_of_two_fields_only_the_open_one_is_told():
    problem = law(Eq(u.diff(x, 2), 0), other=Eq(v.diff(x, 2), 1), **ENDS, flat=phi.on(line.boundary, Eq(v.diff(x), 0)))
    assert list(open_fields(problem)) == ["v"]


def test_fields_on_parts_are_open_only_where_they_are_declared():
    left, right = phi.Interval(x, 0, 1), phi.Interval(x, 1, 2)

    def layers(a, b):
        return phi.Problem(
            phi.Interval(x, 0, 2),
            {
                "a": phi.on(left, Eq(a.diff(x, 2), 0)),
                "b": phi.on(right, Eq(3 * b.diff(x, 2), 0)),
                "ends": phi.on(left.side("left"), Eq(a, 0)),
                "far": phi.on(right.side("right"), Eq(b, 1)),
                "meeting": phi.on(phi.interface(left, right), Eq(a, b), Eq(a.diff(x), 3 * b.diff(x))),
            },
        )

    assert open_fields(layers(phi.field("a", x, on=left), phi.field("b", x, on=right))) == {}


def test_the_smallest_of_many_solutions_is_not_passed_off_as_the_only_one():
    problem = law(Eq(u.diff(x, 2), pi**2 * cos(pi * x)), **FLAT)
    settings = {"method": "random_features", "network": phi.RandomFeatures(100, scale=2.0)}
    with pytest.warns(phi.DeclarationWarning, match="u: the equations and conditions leave it open, or all but open"):
        solution = phi.solve(problem, seed=0, progress=False, **settings)
    report = solution.make_report()
    assert any("one of many solutions: a change of u by its own size" in caution for caution in report.cautions)


def test_parts_of_a_complex_field_are_linear_over_the_reals():
    w = phi.field("w", x, complex=True)
    start = {"start": phi.on(line.side("left"), Eq(re(w), 1), Eq(im(w), 0))}
    assert is_linear(law(Eq(w.diff(x), I * conjugate(w)), **start))
    assert not is_linear(law(Eq(w.diff(x), I * w * conjugate(w)), **start))
    assert not is_linear(law(Eq(w.diff(x), re(w) * im(w)), **start))


def test_a_delay_that_the_state_decides_is_not_linear():
    start = {"start": phi.on(line.side("left"), Eq(u, 1))}
    assert is_linear(law(Eq(u.diff(x), -u.subs(x, x / 2)), **start))
    assert not is_linear(law(Eq(u.diff(x), -u.subs(x, u / 2)), **start))
    assert not is_linear(law(Eq(u.diff(x), -u.diff(x).subs(x, u / 2)), **start))
