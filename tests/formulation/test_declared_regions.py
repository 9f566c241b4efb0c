"""Checks of the regions on which equations hold, and of normals there (contract D2)."""

import pytest
import sympy
from declared import Re, bar, faults, heat, interval, poisson, square, start, strip, t, times, u, v, w, x, y
from sympy import Eq

import phijax as phi

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")


REGIONS = {
    "region over a coordinate that the domain lacks": (
        interval,
        {"pde": bar, "start": phi.on(times, Eq(w, 1))},
        "'start': its region [0, 1] in t has the coordinate 't', which the domain lacks; known: x.",
    ),
    "region outside the domain": (
        interval,
        {"pde": bar, "far": phi.on(phi.Point({x: 3}), Eq(w, 1))},
        "'far': its region reaches outside the domain: x runs over [3, 3], and the domain over [0, 1].",
    ),
    "region below the domain": (
        interval,
        {"pde": bar, "far": phi.on(phi.Point({x: -3}), Eq(w, 1))},
        "'far': its region reaches outside the domain: x runs over [-3, -3], and the domain over [0, 1].",
    ),
    "no region": (
        interval,
        {"pde": bar, "wall": phi.on("left", Eq(w, 1))},
        "'wall': 'left' is no region; use one such as domain.boundary or domain.at(t=0).",
    ),
    "time as a side": (
        strip,
        {"pde": heat, "start": phi.on(strip.side("bottom"), Eq(u, 0)), "go": start},
        "'start': side('bottom') of [0, 1] x [0, 1] in (x, t): there is no such side; it has left, right, x-, x+.",
    ),
    "name without a coordinate": (
        strip,
        {"pde": heat, "start": start, "wall": phi.on(strip.at(z=0), Eq(u, 0))},
        "'wall': at(z=0) on [0, 1] x [0, 1] in (x, t): there is no coordinate 'z'; it has x, t.",
    ),
    "normal derivative in the domain": (
        square,
        {"pde": Eq(phi.normal_derivative(v), 0)},
        "'pde': the normal derivative in n_x*v_x + n_y*v_y = 0 has no meaning on [0, 1] x [0, 1] in (x, y), which has no "
        "outward normal; use a boundary, as in phi.on(domain.boundary, ...).",
    ),
    "normal derivative on a slice": (
        square,
        {"pde": poisson, "cut": phi.on(square.at(x=0.5), Eq(phi.normal_derivative(v), 0))},
        "'cut': the normal derivative in n_x*v_x + n_y*v_y = 0 has no meaning on {0.5} x [0, 1] in (x, y), which has no "
        "outward normal; use a boundary, as in phi.on(domain.boundary, ...).",
    ),
    "normal along a coordinate that the region lacks": (
        square,
        {"pde": poisson, "wall": phi.on(square.boundary, Eq(phi.normal(t) * v, 1))},
        "'wall': the normal's component by 't' in n_t*v = 1 does not exist there.",
    ),
    "normal along time": (
        strip,
        {"pde": heat, "start": start, "wall": phi.on(strip.boundary, Eq(phi.normal(t) * u.diff(t), 1))},
        "'wall': the normal's component by 't' in n_t*u_t = 1 does not exist: 't' is of kind time, and walls are crossed in "
        "space alone; write the derivative itself, as in u.diff(t), or a condition on domain.at(t=...).",
    ),
    "normal derivative over space and time": (
        strip,
        {"pde": heat, "start": start, "wall": phi.on(strip.side("left"), Eq(phi.normal_derivative(u, over=(x, t)), 0))},
        "'wall': the normal's component by 't' in n_t*u_t + n_x*u_x = 0 does not exist: 't' is of kind time, and walls are "
        "crossed in space alone; write the derivative itself, as in u.diff(t), or a condition on domain.at(t=...).",
    ),
    "normal along a parameter": (
        interval * phi.Interval(Re, 1, 2),
        {"pde": bar, "wall": phi.on(interval.boundary, Eq(phi.normal(Re) * w, 1))},
        "'wall': the normal's component by 'Re' in n_Re*w = 1 does not exist: 'Re' is of kind parameter, and walls are "
        "crossed in space alone; write the derivative itself, as in u.diff(Re), or a condition on domain.at(Re=...).",
    ),
    "normal along time in an integral": (
        strip,
        {"flux": Eq(phi.integral(phi.normal(t) * u, over=strip.boundary), 1)},
        "'flux': the normal's component by 't' in integral(n_t*u, {0, 1} x [0, 1] in (x, t)) = 1 does not exist: 't' is of "
        "kind time, and walls are crossed in space alone; write the derivative itself, as in u.diff(t), or a condition on "
        "domain.at(t=...).",
    ),
    "field of a part that is none": (
        square,
        {"pde": poisson, "odd": Eq(phi.field("f", x, y, on=square.side("up")), 1)},
        "'odd': the field f(x, y) lives on side('up') of [0, 1] x [0, 1] in (x, y): there is no such side; it has left, "
        "right, bottom, top, x-, x+, y-, y+.",
    ),
    "part of a disk's coordinates": (
        phi.Disk((x, y)),
        {"pde": poisson, "cut": phi.on(interval, Eq(v, 1))},
        "'cut': its region [0, 1] in x fixes a part of {x^2 + y^2 < 1} in (x, y) alone; give 'y' as well.",
    ),
    "integral over a region that is none": (
        square,
        {"mass": Eq(phi.integral(v, over=square.side("up")), 1)},
        "'mass': the integral in integral(v, nothing in (x, y)) = 1 is over side('up') of [0, 1] x [0, 1] in (x, y): there "
        "is no such side; it has left, right, bottom, top, x-, x+, y-, y+.",
    ),
}


@pytest.mark.parametrize("name", REGIONS)
def test_fault_of_a_region_names_it_and_says_the_cure(name):
    domain, constraints, message = REGIONS[name]
    assert faults(domain, constraints) == [message]


def test_normals_that_are_given_along_time_are_kept():
    """Those of a front that moves are of space and time, and come with its points."""
    front = phi.PointCloud({x: [0.2, 0.4], t: [0.1, 0.2]}, normals={x: [0.6, 0.8], t: [0.8, 0.6]})
    moving = phi.on(front, Eq(phi.normal(x) * u.diff(x) + phi.normal(t) * u.diff(t), 0))
    assert faults(strip, {"pde": heat, "start": start, "front": moving}) == []


def test_an_empty_selection_is_told_once():
    (found,) = faults(square, {"pde": poisson, "wall": phi.on(square.boundary(where=x > 3), Eq(v, 1))})
    assert found.startswith("'wall': boundary(where=x > 3) of {0, 1} x [0, 1] + [0, 1] x {0, 1} in (x, y): nothing is ")
    (found,) = faults(
        square, {"pde": poisson, "wall": phi.on(square.boundary(where=sympy.sin(x + 2 * y) > 2), Eq(v, 1))}
    )
    assert found.startswith("'wall': ")


def test_a_region_that_could_not_be_resolved_brings_no_other_fault():
    for equation in (Eq(phi.normal_derivative(v), 0), {v: lambda x: x}, {v: [1.0, 2.0]}, Eq(v, x + y)):
        found = faults(square, {"pde": poisson, "wall": phi.on(square.side("lft"), equation)})
        assert len(found) == 1
        assert "side('lft') of [0, 1] x [0, 1] in (x, y): there is no such side; did you mean 'left'?" in found[0]


def test_a_field_of_a_part_is_refused_beyond_its_part():
    part = phi.Interval(x, 0, sympy.Rational(1, 2))
    f = phi.field("f", x, on=part)
    message = (
        "'pde': the field f(x) in f_xx = 0 lives on [0, 1/2] in x, and the equation holds on [0, 1] in x; write "
        "phi.on(...) with a region inside."
    )
    assert faults(interval, {"pde": Eq(f.diff(x, 2), 0)}) == [message]
    inside = {"pde": phi.on(part, Eq(f.diff(x, 2), 0)), "mass": Eq(phi.integral(f, over=part) + f.subs(x, 0.25), 1)}
    assert faults(interval, inside) == []
