"""Fields at other points, derivatives of expressions, and derivatives that sympy leaves unfinished."""

import numpy as np
import pytest
import sympy
from injection import exact_value, value

import phijax as phi

x, y, s = phi.coordinates("x y s")
t = phi.time("t")
u, v = phi.field("u", x, y), phi.field("v", x, y)
w = phi.field("w", x)
U = x**2 * y + sympy.sin(x * y**2)
AT = {"x": 1.3, "y": 0.2}


ELSEWHERE = {
    "u(-1, y)": lambda f: f.subs(x, -1),
    "u(y, y)": lambda f: f.subs(x, y),
    "u_x(y, y)": lambda f: f.diff(x).subs(x, y),
    "u_x(x, x)": lambda f: f.diff(x).subs(y, x),
    "u_x(x, x) by x": lambda f: f.diff(x).subs(y, x).diff(x),
    "u_x(2x, y) by x": lambda f: f.diff(x).subs(x, 2 * x).diff(x),
    "u(-x, y) by x twice": lambda f: f.subs(x, -x).diff(x, 2),
    "u(xy, y) by both": lambda f: f.subs(x, x * y).diff(x, y),
    "u(u, y) by both": lambda f: f.subs(x, f).diff(x, y),
    "u_x(u_y, y) by x": lambda f: f.diff(x).subs(x, f.diff(y)).diff(x),
    "u_xy(1, y) by y twice": lambda f: f.diff(x, y).subs(x, 1).diff(y, 2),
    "product of shifted": lambda f: f.subs(y, y - sympy.Rational(1, 3)).diff(y) * f.subs(y, y - 0.25),
    "u_xx at x + y": lambda f: f.diff(x, 2).subs(x, x + y),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_field_at_other_arguments(name):
    expected = float(ELSEWHERE[name](U).subs({x: sympy.Float(1.3, 30), y: sympy.Float(0.2, 30)}).evalf(30))
    assert value(ELSEWHERE[name](u), {u: U}, **AT) == pytest.approx(expected, rel=1e-13)


def test_exchanged_arguments_are_put_in_at_once():
    swapped = sympy.Subs(u * u.diff(x), (x, y), (y, x))
    expected = (U * U.diff(x)).subs({x: 0.2, y: 1.3})
    assert value(swapped, {u: U}, **AT) == pytest.approx(float(expected), rel=1e-14)
    alone = sympy.Subs(u.diff(x), (x, y), (y, x))
    assert value(alone, {u: U}, **AT) == pytest.approx(float(U.diff(x).subs({x: 0.2, y: 1.3})), rel=1e-14)
    both = sympy.Subs(u * u.diff(x), (x, y), (x + y, x + y))
    assert value(both, {u: U}, **AT) == pytest.approx(float((U * U.diff(x)).subs({x: 1.5, y: 1.5})), rel=1e-14)


def test_delay_in_time():
    n = phi.field("n", t)
    assert value(n.subs(t, t - 2).diff(t), {n: t**3}, t=5.0) == 27.0
    assert value(n.diff(t).subs(t, t - n), {n: t**2}, t=3.0) == 2 * (3 - 9)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ((w**2 + x * w).diff(x, 2), 42.0),
        (sympy.Derivative(w**2 + x * w, (x, 2)), 42.0),
        (sympy.Derivative(sympy.Derivative(w**2, x) + (x * w).diff(x), x), 42.0),
        ((w * w.diff(x)).diff(x), 15.0),
        (w.diff(x).diff(x).diff(x), 6.0),
    ],
    ids=str,
)
def test_derivatives_of_expressions_of_a_cubic(expression, expected):
    assert value(expression, {w: x**3}, x=1.0) == expected


def test_derivatives_of_one_field_in_several_directions():
    q = phi.field("q", x, s, t)
    exact = sympy.sin(x) * sympy.cos(2 * s) * t
    at = {"x": 0.4, "s": 0.7, "t": 1.5}
    here = exact_value(exact, {}, **at)
    assert value(q.diff(x, 2, s, 2), {q: exact}, **at) == pytest.approx(4 * here, rel=1e-14)
    assert value(q.diff(x, 4), {q: exact}, **at) == pytest.approx(here, rel=1e-14)
    assert value(q.diff(t), {q: exact}, **at) == pytest.approx(here / 1.5, rel=1e-14)


@pytest.mark.parametrize("order", range(1, 7))
def test_orders_one_to_six_of_a_sine_are_exact_to_rounding(order):
    points = np.linspace(-3, 3, 25)
    expected = np.sin(points + order * np.pi / 2)
    assert value(w.diff(x, order), {w: sympy.sin(x)}, x=points) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_divergence_of_a_flux_with_a_coefficient():
    k = phi.field("k", x)
    flux = phi.div(k * phi.grad(u))
    assert value(flux, {u: x**2, k: 1 + x}, x=0.7, y=3.0) == pytest.approx(4 * 0.7 + 2, rel=1e-15)


def test_floor_and_its_relatives_have_no_slope_but_their_linear_part():
    assert value(sympy.floor(u).diff(x), {u: 3 * x}, **AT) == 0.0
    assert value(sympy.ceiling(u).diff(x), {u: 3 * x}, **AT) == 0.0
    assert value(sympy.Mod(u, 1).diff(x), {u: 3 * x}, **AT) == 3.0
    assert value(sympy.frac(u).diff(x), {u: 3 * x}, **AT) == 3.0


def test_derivatives_of_real_fields_are_known_to_be_real():
    """Where sympy takes u_x for complex, |u_x|' would be 0 / 0 wherever u_x = 0."""
    assert value(sympy.Abs(w.diff(x)).diff(x), {w: x**2}, x=0.0) == 0.0
    assert value(sympy.Abs(w.diff(x)).diff(x), {w: x**2}, x=-0.5) == -2.0
    assert value((sympy.Abs(w.diff(x)) * w.diff(x)).diff(x), {w: x**2}, x=-0.5) == 4.0
    assert value(sympy.re(w.diff(x)) + sympy.im(w.diff(x)), {w: x**2}, x=2.0) == 4.0


def test_derivative_by_a_field_as_in_a_variational_derivative():
    energy = w.diff(x) ** 2 / 2 + sympy.cos(w)
    equation = energy.diff(w) - energy.diff(w.diff(x)).diff(x)
    assert value(equation, {w: x**2}, x=0.3) == pytest.approx(-np.sin(0.09) - 2, rel=1e-15)


def test_field_of_a_parameter_coordinate_is_differentiated_by_it():
    Re = phi.coordinate("Re", kind="parameter")
    f = phi.field("f", x, Re)
    assert value(f.diff(Re, x), {f: x**2 * Re**3}, x=2.0, Re=3.0) == 2 * 2 * 27


@pytest.mark.parametrize("name", ["E", "I", "pi", "gamma", "lambda", "S", "beta", "sin", "x_", "N", "Q", "n_x"])
def test_names_that_mean_something_to_sympy_or_python_mean_nothing_here(name):
    c = phi.coordinate(name)
    f = phi.field("gamma" if name != "gamma" else "E", c)
    assert value(f.diff(c) + c * f.subs(c, 2), {f: c**2}, **{name: 1.5}) == 3 + 1.5 * 4


def test_plain_symbols_serve_as_coordinates():
    X, Y = sympy.symbols("X Y")
    f = phi.field("f", X, Y)
    assert value(phi.laplacian(f), {f: X**2 * Y**2}, X=2.0, Y=3.0) == 2 * 9 + 2 * 4


def test_whole_rational_and_floating_numbers_keep_their_digits():
    assert value(sympy.Rational(1, 3) * w, {w: x}, x=1.0) == 1 / 3
    assert value(0.1 * w + np.float64(0.2), {w: x}, x=1.0) == 0.1 + 0.2
    assert value(w + 2**53, {w: x}, x=1.0) == 2.0**53
    assert value(w * sympy.Integer(10) ** 40, {w: x}, x=1.0) == pytest.approx(1e40, rel=1e-15)
    assert value((-2 * w) ** 3, {w: x}, x=1.0) == -8.0
    assert value((-2 * w) ** -2, {w: x}, x=1.0) == 0.25
