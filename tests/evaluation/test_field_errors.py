"""Errors against a known solution, of fields with a known error."""

import numpy as np
import pytest
from sympy import Eq, I, exp, log, pi, sin

import phijax as phi
from phijax.evaluation.grids import comparison_points

x, y, t = phi.coordinate("x"), phi.coordinate("y"), phi.time("t")
u = phi.field("u", x, y)
square = phi.Rectangle((x, 0, 1), (y, 0, 1))
WAVES = sin(pi * x) * sin(pi * y)


def poisson(reference, **more):
    equations = {"pde": Eq(phi.laplacian(u), -2 * pi**2 * WAVES), "walls": phi.on(square.boundary, Eq(u, 0))}
    return phi.Problem(square, equations | more, reference=reference)


def test_relative_and_largest_error(exact_solution):
    errors = exact_solution(poisson({u: WAVES}), {u: WAVES * 1.001}).errors()
    assert errors["u"]["relative_l2"] == pytest.approx(1e-3)
    assert errors["u"]["max"] == pytest.approx(1e-3)


def test_no_reference_gives_no_error(exact_solution):
    assert exact_solution(poisson(None), {u: WAVES}).errors() == {}


def test_a_known_parameter_alone_gives_no_field_error(exact_solution):
    k = phi.parameter("k")
    problem = poisson({k: 2.0}, more=Eq(u.diff(x), k * u))
    solution = exact_solution(problem, {u: WAVES, k: 1.5})
    assert solution.errors() == {}
    found = solution.summary()["parameters"]["k"]
    assert (found["value"], found["reference"]) == (1.5, 2.0)


def test_a_complex_field_has_one_complex_error(exact_solution):
    h = phi.field("h", x, t, complex=True)
    ring = phi.Interval(x, 0, 1, periodic=True) * phi.Interval(t, 0, 1)
    wave = exp(2 * pi * I * x)
    problem = phi.Problem(
        ring, {"pde": Eq(h.diff(t), 0), "start": phi.on(ring.at(t=0), Eq(h, wave))}, reference={h: wave}
    )
    errors = exact_solution(problem, {h: wave * (1 + 0.003 + 0.004 * I)}).errors()
    assert errors["h"]["relative_l2"] == pytest.approx(5e-3)
    assert errors["h"]["max"] == pytest.approx(5e-3)


def test_a_numeric_reference_sees_columns_by_name(exact_solution):
    def solver(x, y):
        assert x.shape == y.shape
        return {"u": np.sin(np.pi * x) * np.sin(np.pi * y)}

    problem = poisson(phi.Reference(solver=solver, error=1e-4, source="a finer grid"))
    solution = exact_solution(problem, {u: WAVES * (1 + 2e-4)})
    assert solution.errors()["u"]["relative_l2"] == pytest.approx(2e-4)
    assert solution._measured.errors["u"].at_limit  # below three times the reference's own
    assert not exact_solution(problem, {u: WAVES * (1 + 4e-4)})._measured.errors["u"].at_limit


def test_a_field_of_fewer_coordinates_is_compared_over_its_own(exact_solution):
    k = phi.field("k", x)
    problem = poisson({u: WAVES, k: 1 + x}, balance=Eq(k.diff(x), 1))
    solution = exact_solution(problem, {u: WAVES, k: 1.5 + x})
    exact = 1 + np.linspace(0, 1, 4001)
    assert solution.errors()["k"]["relative_l2"] == pytest.approx(0.5 * np.sqrt(4001) / np.linalg.norm(exact))
    assert solution.errors()["k"]["max"] == pytest.approx(0.5)
    assert solution._measured.errors["k"].points == 4001


def test_what_lies_outside_a_round_region_is_left_out(exact_solution):
    disk = phi.Disk((x, y), center=(0, 0), radius=1)
    problem = phi.Problem(
        disk,
        {"pde": Eq(phi.laplacian(u), 4), "rim": phi.on(disk.boundary, Eq(u, 1))},
        reference={u: log(2.0001 - x**2 - y**2)},  # not a number in the corners of the square
    )
    solution = exact_solution(problem, {u: log(2.0001 - x**2 - y**2) + 0.5})
    error = solution._measured.errors["u"]
    assert error.max == pytest.approx(0.5)
    assert error.points == pytest.approx(361**2 * np.pi / 4, rel=0.01)


def test_a_reference_without_a_number_at_a_corner_is_compared_elsewhere(exact_solution):
    problem = poisson({u: WAVES / (x * y)})
    solution = exact_solution(problem, {u: (1 + 1e-3) * WAVES / (x * y)})
    error = solution._measured.errors["u"]
    assert error.points == 360**2
    assert error.relative_l2 == pytest.approx(1e-3, rel=1e-6)


def test_a_reference_that_is_zero_has_no_relative_error(exact_solution):
    solution = exact_solution(poisson({u: 0}), {u: WAVES})
    assert np.isnan(solution.errors()["u"]["relative_l2"])
    assert solution.errors()["u"]["max"] == pytest.approx(1.0)
    assert solution.summary()["errors"]["u"]["relative_l2"] is None  # JSON has no nan


def test_many_coordinates_are_compared_on_scattered_points(exact_solution):
    axes = phi.coordinates("a b c d")
    box = phi.Box(*((axis, 0, 1) for axis in axes))
    w = phi.field("w", *axes)
    total = sum(axes)
    problem = phi.Problem(
        box, {"pde": Eq(phi.laplacian(w), 0), "faces": phi.on(box.boundary, Eq(w, total))}, reference={w: total}
    )
    error = exact_solution(problem, {w: total + 0.1})._measured.errors["w"]
    assert error.points == 2**16
    assert error.relative_l2 == pytest.approx(0.1 / np.sqrt(4 / 12 + 4), rel=1e-3)


def test_a_side_that_a_difference_cuts_away_is_not_compared_on():
    x, y = phi.coordinates("x y")
    square = phi.Rectangle((x, -1, 1), (y, -1, 1))
    columns = comparison_points(square - phi.Rectangle((x, 0, 1), (y, -1, 0)), (x, y))
    assert len(columns["x"]) == 361**2 - 180**2  # the reentrant edges are of the L
    assert not np.any((columns["x"] > 1e-9) & (columns["y"] < -1e-9))
    assert {(1.0, 0.0), (0.0, -1.0), (0.0, 0.0)} <= set(zip(columns["x"].tolist(), columns["y"].tolist(), strict=True))
    disk = comparison_points(phi.Disk((x, y), (0, 0), 1), (x, y))
    assert len(disk["x"]) == sum(i * i + j * j <= 180**2 for i in range(-180, 181) for j in range(-180, 181))
