"""Exact conditions with a kink are told, with the place and the size; smooth ones are not."""

import warnings

import numpy as np
import pytest
from sympy import (
    Abs,
    Eq,
    Heaviside,
    Max,
    Min,
    Piecewise,
    Rational,
    atan2,
    cos,
    exp,
    floor,
    pi,
    sin,
    sqrt,
    tanh,
)

import phijax as phi

x, y = phi.coordinates("x y")
t = phi.time("t")
u, v, q = phi.field("u", x, t), phi.field("v", x, y), phi.field("q", x, y, t)
times = phi.Interval(t, 0, 1)
ring, strip = phi.Interval(x, -1, 1, periodic=True) * times, phi.Interval(x, -1, 1) * times
disk = phi.Disk((x, y))
tube = disk * times
CURE = "no network takes it out again; leave out exact=True: a soft condition goes below the error that it leaves."


def warned(domain, constraints):
    """Texts of the warnings of a declaration."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        phi.Problem(domain, constraints)
    assert all(warning.category is phi.DeclarationWarning for warning in caught)
    return [str(warning.message) for warning in caught]


def started(value, domain=strip, exact=True):
    heat = Eq(u.diff(t), u.diff(x, 2))
    rest = {"rest": phi.free(domain.boundary)} if domain is strip else {}
    return warned(domain, {"pde": heat, "start": phi.on(domain.at(t=0), Eq(u, value), exact=exact), **rest})


def rimmed(value):
    return warned(disk, {"pde": Eq(phi.laplacian(v), 1), "rim": phi.on(disk.boundary, Eq(v, value), exact=True)})


def test_the_start_of_allen_cahn_has_a_slope_that_jumps_across_the_seam():
    (text,) = started(x**2 * cos(pi * x), ring)
    assert text == ("'start', exact, puts a kink into 'u': its slope by x jumps by 4 from x = 1 on to x = -1; " + CURE)
    assert started(x**2 * cos(pi * x), ring, exact=False) == []


SEAMS = {
    "second derivative": (x * (1 - x**2), "its second derivative by x jumps by 12 from x = 1 on to x = -1"),
    "bell cut off": (exp(-10 * x**2), "its slope by x jumps by 0.00182 from x = 1 on to x = -1"),
}


@pytest.mark.parametrize("name", SEAMS)
def test_what_jumps_across_a_seam(name):
    value, message = SEAMS[name]
    (text,) = started(value, ring)
    assert text == f"'start', exact, puts a kink into 'u': {message}; {CURE}"


@pytest.mark.parametrize("value", [sin(pi * x), cos(3 * pi * x) ** 2, exp(sin(pi * x)), exp(-60 * x**2), 2])
def test_what_is_periodic_has_no_seam(value):
    assert started(value, ring) == []


def test_values_that_are_not_periodic_are_refused_where_exact_and_told_where_soft():
    with pytest.raises(phi.DeclarationError) as caught:
        started(x, ring)
    assert str(caught.value.faults[0]) == (
        "'start': as an exact condition on 'u' it has values that differ by 2 between x = -1 and x = 1, and x is "
        "periodic; prescribe what is periodic too."
    )
    assert started(x, ring, exact=False) == [
        "'u' differs by 2 on 'start' between x = -1 and x = 1, and x is periodic; the solution cannot be smooth there."
    ]


BROKEN = {
    "absolute value": (Abs(x - Rational(1, 3)), "its slope by x jumps by 2 at x = 0.333"),
    "its own multiple": (x * Abs(x), "its second derivative by x jumps by 4 at x = 0"),
    "largest": (Max(sin(9 * x), 0), "its slope by x jumps by 9 at x = -0.698"),
    "smallest": (Min(x, x**2), "its slope by x jumps by 1 at x = 0"),
    "piecewise": (Piecewise((x**2, x < 0), (x**4, True)), "its second derivative by x jumps by 2 at x = 0"),
    "step": (Heaviside(x - Rational(1, 4)), "its value jumps by 1 at x = 0.25"),
    "stairs": (floor(3 * x), "its value jumps by 1 at x = -0.667"),
    "root at both ends": (sqrt(1 - x**2), "its slope by x grows without bound at x = -1"),
    "root inside": (sqrt(Abs(x)), "its slope by x grows without bound at x = 0"),
    "power at an end": ((x + 1) ** Rational(3, 2), "its second derivative by x grows without bound at x = -1"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_kink_inside_is_told_with_its_place_and_size(name):
    value, message = BROKEN[name]
    assert started(value) == [f"'start', exact, puts a kink into 'u': {message}; {CURE}"]


SMOOTH = {
    "absolute value, switching outside": Abs(x + 2),
    "cube of it": Abs(x) ** 3,
    "piecewise that fits": Piecewise((x**4, x < 0), (x**5, True)),
    "pieces outside": Piecewise((0, x < -3), (x, True)),
    "root of what is positive": sqrt(x**2 + 1),
    "high power at an end": (x + 1) ** Rational(7, 2),
    "largest that never switches": Max(x, 4),
    "steep front": tanh(100 * x),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_what_is_smooth_up_to_the_order_of_the_equations_is_no_alarm(name):
    assert started(SMOOTH[name]) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (atan2(y, x), "its value jumps by 4.71 at x = 0, y = 0"),
        ((x**2 - y**2) / (x**2 + y**2), "its value jumps by 2 at x = 0, y = 0"),
        (sqrt(x**2 + y**2), "its slope by x jumps by 2 at x = 0, y = 0"),
    ],
)
def test_values_on_a_circle_that_have_no_smooth_extension_to_its_center(value, message):
    assert rimmed(value) == [f"'rim', exact, puts a kink into 'v': {message}; {CURE}"]


@pytest.mark.parametrize("value", [x**2 - y**2, exp(x) * sin(y), Abs(x - 3), 1])
def test_values_on_a_circle_with_a_smooth_extension(value):
    assert rimmed(value) == []


def test_switches_beyond_a_circle_are_no_kinks_inside():
    def start(value):
        constraints = {"pde": Eq(q.diff(t), phi.laplacian(q)), "rest": phi.free(tube.boundary)}
        return warned(tube, {**constraints, "start": phi.on(tube.at(t=0), Eq(q, value), exact=True)})

    assert start(Abs(x + y - Rational(3, 2))) == []
    (text,) = start(Abs(x + y - 1))
    assert "its slope by x jumps by 2 at " in text


def test_a_slope_with_a_kink_and_a_table():
    ends = phi.on(strip.boundary, Eq(phi.normal_derivative(u), Abs(t - Rational(1, 2))), exact=True)
    heat, start = Eq(u.diff(t), u.diff(x, 2)), phi.on(strip.at(t=0), Eq(u, x**2 / 4))
    (text,) = warned(strip, {"pde": heat, "ends": ends, "start": start})
    assert text == f"'ends', exact, puts a kink into 'u': its slope by t jumps by 2 at t = 0.5; {CURE}"
    table = phi.function("k", {"x": np.linspace(-1, 1, 5), "k": np.linspace(-1, 1, 5) ** 2})
    assert started(table(x)) == [
        f"'start', exact, puts a kink into 'u': the second derivative of the table 'k' jumps at its rows; {CURE}"
    ]
    left = {"left": phi.on(strip.side("left"), Eq(u, table(t)), exact=True), "right": phi.free(strip.side("right"))}
    assert warned(strip, {"pde": heat, "start": phi.free(strip.at(t=0)), **left}) == []
