"""Residuals of every constraint on points that training has not seen, against ones that are known."""

import jax
import numpy as np
import pytest
from sympy import Eq, I, Rational, exp, pi, sin

import phijax as phi
from phijax._precision import precision_scope
from phijax.evaluation import chunks, residuals
from phijax.evaluation.residuals import by_constraint, fresh_residuals
from phijax.training.keys import split_root

x, y, t = phi.coordinate("x"), phi.coordinate("y"), phi.time("t")
square = phi.Rectangle((x, 0, 1), (y, 0, 1))
u, v = phi.fields("u v", x, y)


def problem(**more):
    return phi.Problem(
        square,
        {
            "flow": {"first": Eq(phi.laplacian(u), 4), "second": Eq(v.diff(x), 0)},
            "walls": phi.on(square.boundary, Eq(u, x**2 + y**2)),
            "outflow": phi.on(square.boundary, Eq(phi.normal_derivative(v), 0)),
            "gauge": phi.on(square.at(x=0, y=0), Eq(v, 0)),
            "top": phi.on(square.side("top"), Eq(v, 1), exact=True),
        }
        | more,
    )


def test_the_solution_leaves_none_of_any_constraint(exact_solution):
    line = phi.Interval(x, 0, 1)
    w = phi.field("w", x)
    declared = phi.Problem(
        line,
        {
            "pde": Eq(w.diff(x, 2), 2),
            "left": phi.on(line.side("left"), Eq(w, 0), exact=True),
            "right": phi.on(line.side("right"), Eq(phi.normal_derivative(w), 2)),
            "seen": phi.data({"x": [0.5], "w": [0.25]}),
        },
    )
    residuals = exact_solution(declared, {w: x**2}).residuals()
    assert list(residuals) == ["pde", "left", "right", "seen"]
    assert max(residuals.values()) < 1e-14


def test_known_residuals_by_term(exact_solution):
    residuals = exact_solution(problem(), {u: x**2, v: 3 * x}).residuals(n=4096)
    assert residuals["flow/first"] == pytest.approx(2.0)  # 2 - 4
    assert residuals["flow/second"] == pytest.approx(3.0)
    assert residuals["walls"] == pytest.approx(
        np.sqrt((0.5 + 0.5 + 0 + 1) / 4 * 0 + (1 / 5 + 1 / 5 + 1 + 0) / 4), rel=1e-3
    )
    assert residuals["outflow"] == pytest.approx(3 / np.sqrt(2), rel=1e-2)  # +-3 on two sides of four
    assert residuals["gauge"] == 0.0
    assert residuals["top"] == pytest.approx(1.0, rel=1e-2)  # the mean of (3 x - 1)^2 is 1


def test_a_constraint_is_the_root_mean_square_of_its_terms(exact_solution):
    solution = exact_solution(problem(), {u: x**2, v: 3 * x})
    found = by_constraint(fresh_residuals(solution._evaluator, 64))
    assert list(found) == ["flow", "walls", "outflow", "gauge", "top"]
    assert found["flow"] == pytest.approx(np.sqrt((4 + 9) / 2))


def test_relative_is_against_the_addends_of_the_equation(exact_solution):
    (first, second, *_) = fresh_residuals(exact_solution(problem(), {u: x**2, v: 3 * x})._evaluator, 64)
    assert first.relative == pytest.approx(2 / (2 + 0 + 4))
    assert second.relative is None  # one addend has nothing to be small against


def test_the_worst_point_is_told(exact_solution):
    found = fresh_residuals(exact_solution(problem(), {u: x**2 + y**2 + x**3, v: y})._evaluator, 2048)
    assert found[0].max == pytest.approx(6 * found[0].where["x"])
    assert found[0].where["x"] > 0.999
    assert list(found[0].where) == ["x", "y"]


def test_points_differ_by_seed_and_are_the_same_for_one(exact_solution):
    solution = exact_solution(problem(), {u: x**2 + y**4, v: y})
    assert solution.residuals(n=100) == solution.residuals(n=100)
    assert solution.residuals(n=100)["walls"] != solution.residuals(n=100, seed=1)["walls"]


def test_points_are_of_no_batch_and_of_each_constraint_its_own(untrained_solution, monkeypatch):
    drawn, fresh = {}, residuals.fresh_points
    monkeypatch.setattr(residuals, "fresh_points", lambda c, *rest: drawn.setdefault(c.name, fresh(c, *rest)))
    w, names = phi.field("w", x), ("one", "two")
    solution = untrained_solution(phi.Problem(phi.Interval(x, 0, 1), {"one": Eq(w, 1), "two": Eq(w, x)}))
    solution.residuals(n=solution.compiled.points["one"])
    one, two = (drawn[name].coordinates["x"] for name in names)
    assert (one.dtype, two.dtype) == (np.float64, np.float64)
    assert not np.intersect1d(one, two).size
    with precision_scope("float64"):
        batch = solution.compiled.datamodule.train_batch_source(names, split_root(jax.random.key(0)).sampling)(0)
    assert not np.intersect1d(np.stack([one, two]), np.stack([batch[name].coordinates["x"] for name in names])).size


def test_points_are_taken_in_chunks_whatever_their_number(exact_solution, monkeypatch):
    solution = exact_solution(problem(), {u: x**2 + y**4, v: y})
    whole, sizes, padded = solution.residuals(n=1000), set(), chunks._padded
    monkeypatch.setattr(chunks, "CHUNK", 64)
    monkeypatch.setattr(chunks, "SMALL_CHUNK", 32)
    monkeypatch.setattr(chunks, "_padded", lambda rows, size: sizes.add(size) or padded(rows, size))
    assert solution.residuals(n=1000) == pytest.approx(whole, rel=1e-13)
    assert sizes == {32, 64}  # the gauge is a single point


def test_a_complex_residual_counts_by_its_modulus(exact_solution):
    h = phi.field("h", x, t, complex=True)
    spacetime = phi.Interval(x, 0, 1, periodic=True) * phi.Interval(t, 0, 1)
    declared = phi.Problem(
        spacetime,
        {
            "pde": Eq(I * h.diff(t) + h.diff(x, 2) / 2, 0),
            "start": phi.on(spacetime.at(t=0), Eq(h, exp(2 * pi * I * x))),
        },
    )
    residuals = exact_solution(declared, {h: exp(2 * pi * I * x) * (1 + 3 * t + 4 * I * t) ** 0}).residuals(n=64)
    assert residuals["pde"] == pytest.approx(2 * np.pi**2)
    assert residuals["start"] < 1e-14


def test_residual_at_given_points(exact_solution):
    solution = exact_solution(problem(), {u: x**2 + y, v: 3 * x})
    flow = solution.residual("flow", x=[0.1, 0.2], y=0.5)
    assert flow["flow/first"].tolist() == pytest.approx([-2, -2])
    assert flow["flow/second"].tolist() == pytest.approx([3, 3])
    assert solution.residual("top", x=Rational(1, 2).p / 2) == pytest.approx(0.5)  # y is fixed there
    assert solution.residual("gauge") == pytest.approx(0.0)


def test_a_normal_that_changes_must_be_given(exact_solution):
    solution = exact_solution(problem(), {u: x**2, v: 3 * x})
    with pytest.raises(ValueError, match=r"normal's component by 'x' is needed and not given; pass normals"):
        solution.residual("outflow", x=1, y=0.5)
    assert solution.residual("outflow", x=1, y=[0.5, 0.6], normals={"x": 1.0, "y": 0.0}).tolist() == [3, 3]


def test_a_side_knows_its_own_normal(exact_solution):
    line = phi.Interval(x, 0, 1)
    w = phi.field("w", x)
    declared = phi.Problem(
        line,
        {
            "pde": Eq(w.diff(x, 2), 0),
            "left": phi.on(line.side("left"), Eq(phi.normal_derivative(w), -2)),
            "right": phi.on(line.side("right"), Eq(w, 2)),
        },
    )
    assert exact_solution(declared, {w: 3 * x}).residual("left") == pytest.approx(-1.0)


def test_unknown_constraints_and_measured_ones_are_refused_by_name(exact_solution):
    solution = exact_solution(problem(seen=phi.data({"x": [0.5], "y": [0.5], "u": [1.0]})), {u: x**2, v: 3 * x})
    with pytest.raises(ValueError, match="no constraint is named 'wall'; did you mean 'walls'"):
        solution.residual("wall", x=0, y=0)
    with pytest.raises(ValueError, match="'seen' compares with measured values"):
        solution.residual("seen", x=0.5, y=0.5)


def test_measured_rows_are_all_used(exact_solution):
    xs = np.linspace(0, 1, 7)
    line = phi.Interval(x, 0, 1)
    w = phi.field("w", x)
    declared = phi.Problem(
        line, {"pde": Eq(w.diff(x), 1), "seen": phi.data({"x": xs, "w": xs + np.array([1, 0, 0, 0, 0, 0, 1])})}
    )
    *_, seen = fresh_residuals(exact_solution(declared, {w: x})._evaluator, 100)
    assert seen.points == 7
    assert seen.rms == pytest.approx(np.sqrt(2 / 7))


def test_float32_residuals_are_float32(untrained_solution):
    line = phi.Interval(x, 0, 1)
    w = phi.field("w", x)
    declared = phi.Problem(line, {"pde": Eq(w.diff(x), sin(x)), "left": phi.on(line.side("left"), Eq(w, 0))})
    solution = untrained_solution(declared, precision="float32")
    assert solution.residual("pde", x=0.5).dtype == np.float32
    assert solution.residuals()["pde"] > 0


def test_a_slope_across_the_sides_of_a_rectangle_has_nothing_to_be_small_against(exact_solution):
    a, b = phi.coordinates("a b")
    q = phi.field("q", a, b)
    square, disk = phi.Rectangle((a, 0, 1), (b, 0, 1)), phi.Disk((a, b), (0, 0), 1)
    for region, relative in ((square, None), (disk, pytest.approx(1 / np.sqrt(1 + 2 / np.pi), rel=0.02))):
        flat = phi.on(region.boundary, Eq(phi.normal_derivative(q), 0))
        problem = phi.Problem(region, {"law": Eq(phi.laplacian(q), 0), "flat": flat})
        solution = exact_solution(problem, {q: a + b})
        (found,) = [r for r in solution.make_report().residuals if r.term == "flat"]
        assert found.relative == relative
        assert found.rms == pytest.approx(1.0, rel=0.05)
