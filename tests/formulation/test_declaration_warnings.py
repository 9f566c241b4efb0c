"""What is legal and often not meant is said once, with names and the place (contract D2)."""

import re
import warnings

import pytest
import sympy
from sympy import Eq, pi, sin

import phijax as phi

x, y = phi.coordinates("x y")
t = phi.time("t")
u, v, other = phi.field("u", x, t), phi.field("v", x, y), phi.field("q", x, y)
strip, square = phi.Interval(x, 0, 1) * phi.Interval(t, 0, 1), phi.Rectangle((x, 0, 1), (y, 0, 1))
heat, poisson = Eq(u.diff(t), u.diff(x, 2)), Eq(phi.laplacian(v), 1)
start = phi.on(strip.at(t=0), Eq(u, sin(pi * x)))


def warned(domain, constraints):
    """Texts of the warnings of a declaration."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem = phi.Problem(domain, constraints)
    assert all(warning.category is phi.DeclarationWarning for warning in caught)
    assert [str(warning.message) for warning in caught] == list(problem.warnings)
    return list(problem.warnings)


def test_sides_without_a_condition_are_named():
    assert warned(square, {"pde": poisson, "bottom": phi.on(square.side("bottom"), Eq(v, 0))}) == [
        "'v' has no condition on 'x-', 'x+', 'y+'; add one, or say that none is meant by phi.free(domain.side('x-'))."
    ]


def test_a_rim_without_a_condition_is_named():
    disk = phi.Disk((x, y))
    (text,) = warned(disk, {"pde": poisson})
    assert text.startswith("'v' has no condition on ")


@pytest.mark.parametrize(
    "rest",
    [
        {"rest": phi.free(square.boundary)},
        {"rest": phi.on(square.boundary, Eq(v, 0))},
        {"rest": phi.on(square.boundary, Eq(phi.normal_derivative(v), 0))},
        {"rest": phi.on(square.boundary, Eq(v, 0), exact=True)},
        {"rest": phi.data({"x": [0.5], "y": [0.5], "v": [1.0]})},
        {"x": phi.periodic(v, x), "y": phi.periodic(v, y)},
        {"x": Eq(v.subs(x, 0), v.subs(x, 1)), "y": phi.on(square.boundary(y), Eq(v, 0))},
        {
            "x": Eq(v.diff(x).subs(x, 0) + v.subs(x, 1), 0),
            "y": phi.free(square.boundary(y)),
            "z": Eq(v.diff(x).subs(x, 1), 0),
        },
    ],
    ids=["free", "value", "slope", "exact", "data", "periodic", "nonlocal", "nonlocal slope"],
)
def test_a_boundary_with_something_on_every_side_warns_of_nothing(rest):
    assert warned(square, {"pde": poisson, **rest}) == []


@pytest.mark.parametrize(
    "rest",
    [phi.on(square.boundary, Eq(other, 0)), phi.data({x: [0.5], y: [0.5], other: [1.0]})],
    ids=["condition", "data"],
)
def test_what_is_said_of_another_field_is_no_condition(rest):
    (text,) = warned(square, {"pde": poisson, "other": Eq(other, x), "rest": rest})
    assert text.startswith("'v' has no condition on 'x-', 'x+', 'y-', 'y+'")


def test_an_equation_of_first_order_across_a_side_needs_no_condition_there():
    transport = Eq(u.diff(t) + u.diff(x), 0)
    assert warned(strip, {"pde": transport, "start": start}) == []


def test_periodic_interval_has_no_sides():
    ring = phi.Interval(x, 0, 2, periodic=True) * phi.Interval(t, 0, 1)
    assert warned(ring, {"pde": heat, "start": phi.on(ring.at(t=0), Eq(u, sin(pi * x)))}) == []


def test_a_lid_and_walls_of_different_values_are_said_to_meet():
    lid = phi.on(square.side("top"), Eq(v, 1))
    rest = phi.on(square.boundary(where=y < 1), Eq(v, 0))
    (text,) = warned(square, {"pde": poisson, "lid": lid, "walls": rest})
    assert text.startswith("'v' is 1 on 'lid' and 0 on 'walls' where they meet, as at x = ")
    assert text.endswith("; the solution cannot be smooth there.")
    assert "y = 1" in text


def test_a_start_that_disagrees_with_a_wall_is_said_with_both_values():
    wall = phi.on(strip.boundary, Eq(u, sympy.Rational(1, 2)))
    (text,) = warned(strip, {"pde": heat, "start": start, "wall": wall})
    assert re.match(r"'u' is (0|1\.22e-16) on 'start' and 0\.5 on 'wall' where they meet, as at x = [01], t = 0", text)


def test_conditions_that_agree_where_they_meet_warn_of_nothing():
    assert warned(strip, {"pde": heat, "start": start, "wall": phi.on(strip.boundary, Eq(u, 0))}) == []


def test_conditions_on_different_fields_are_not_compared():
    walls = {"one": phi.on(square.boundary, Eq(v, 0)), "two": phi.on(square.boundary, Eq(other, 1))}
    assert warned(square, {"pde": poisson, "other": Eq(other, x), **walls}) == []


def test_conditions_that_meet_nowhere_are_not_compared():
    ends = {"left": phi.on(strip.side("left"), Eq(u, t)), "right": phi.on(strip.side("right"), Eq(u, 3 * t))}
    assert warned(strip, {"pde": heat, "start": phi.on(strip.at(t=0), Eq(u, 0)), **ends}) == []
