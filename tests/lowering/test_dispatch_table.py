"""Each entry of the dispatch table against mpmath: its value, its slope by sympy, and its slope by JAX."""

import numpy as np
import pytest
import sympy
from injection import exact_value, value

import phijax as phi
from phijax.lowering import emit, normalize
from phijax.symbolic.nodes import NODES

x, y = phi.coordinates("x y")
n = sympy.Symbol("n", integer=True)
u, w = phi.field("u", x), phi.field("w", x, y)

SMOOTH = {
    "sin": [-2.3, 0.0, 1.1],
    "cos": [-2.3, 0.0, 1.1],
    "tan": [-1.2, 0.0, 0.9],
    "cot": [-1.2, 0.4, 2.0],
    "sec": [-1.2, 0.0, 0.9],
    "csc": [-1.2, 0.4, 2.0],
    "asin": [-0.7, 0.0, 0.6],
    "acos": [-0.7, 0.0, 0.6],
    "atan": [-3.0, 0.0, 0.6],
    "acot": [-3.0, -0.2, 0.6, 2.0],
    "asec": [-3.0, 1.2, 2.0],
    "acsc": [-3.0, 1.2, 2.0],
    "sinh": [-2.0, 0.0, 1.1],
    "cosh": [-2.0, 0.0, 1.1],
    "tanh": [-2.0, 0.0, 1.1],
    "coth": [-2.0, 0.3, 1.1],
    "sech": [-2.0, 0.0, 1.1],
    "csch": [-2.0, 0.3, 1.1],
    "asinh": [-2.0, 0.0, 1.1],
    "acosh": [1.3, 2.0, 5.0],
    "atanh": [-0.7, 0.0, 0.6],
    "acoth": [-3.0, 1.3, 2.0],
    "asech": [0.2, 0.5, 0.9],
    "acsch": [-2.0, 0.3, 1.1],
    "sinc": [-2.0, 0.3, 1.1],
    "exp": [-2.0, 0.0, 1.1],
    "log": [0.2, 1.0, 3.0],
    "erf": [-1.0, 0.0, 0.7],
    "erfc": [-1.0, 0.0, 0.7],
    "erfinv": [-0.6, 0.0, 0.7],
    "gamma": [0.4, 1.7, 3.2],
    "loggamma": [0.4, 1.7, 3.2],
    "digamma": [0.4, 1.7, 3.2],
    "Abs": [-1.5, 0.4],
    "sign": [-1.5, 0.4],
    "floor": [-1.5, 0.4, 2.7],
    "ceiling": [-1.5, 0.4, 2.7],
    "frac": [-1.5, 0.4, 2.7],
    "Heaviside": [-1.5, 0.4],
    "UnevaluatedExpr": [0.3],
}
JUMPS = {"floor": 0, "ceiling": 0, "frac": 1, "sign": 0, "Heaviside": 0, "UnevaluatedExpr": 1}


def slope_of(name, at):
    """Of sympy; of the functions with jumps, where sympy has none or a delta, as it is beside the jumps."""
    return JUMPS[name] if name in JUMPS else exact_value(NODES[name](u).diff(x), {u: x}, x=at)


@pytest.mark.parametrize("name", SMOOTH)
def test_function_of_one_argument_has_the_value_and_the_slopes_that_mpmath_gives(name):
    function, at = NODES[name], np.array(SMOOTH[name])
    values = [exact_value(function(u), {u: x}, x=point) for point in at]
    slopes = [slope_of(name, point) for point in at]
    assert value(function(u), {u: x}, x=at) == pytest.approx(values, rel=2e-13, abs=1e-14)
    assert value(u.diff(x), {u: function(x)}, x=at) == pytest.approx(slopes, rel=1e-11, abs=1e-13)
    if name not in {"sign", "Heaviside"}:  # sympy's derivatives of them are deltas, which are refused
        assert value(function(u).diff(x), {u: x}, x=at) == pytest.approx(slopes, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_polygamma_of_every_order(order):
    expression = sympy.polygamma(order, u)
    assert value(expression, {u: x}, x=1.7) == pytest.approx(exact_value(expression, {u: x}, x=1.7), rel=1e-12)
    by_jax = value(u.diff(x), {u: sympy.polygamma(order, x)}, x=1.7)
    assert by_jax == pytest.approx(exact_value(sympy.polygamma(order + 1, x), {}, x=1.7), rel=1e-11)


@pytest.mark.parametrize(
    "expression",
    [
        sympy.atan2(y, x),
        sympy.Min(x, y, sympy.Rational(1, 3)),
        sympy.Max(x, y, x * y),
        sympy.Mod(y, x),
        sympy.Mod(-y, x),
        sympy.Rem(-y, x),
        x**y,
        x ** sympy.Rational(5, 3),
        x**-3,
        x**2.5,
        (-x) ** 3,
        (-x) ** 2.0,
        sympy.root(x, 3),
        1 / sympy.sqrt(x),
        2**x,
        sympy.pi**x * sympy.E**y * sympy.GoldenRatio * sympy.EulerGamma * sympy.Catalan,
        sympy.Integer(3) ** 60 * x,
        sympy.Rational(10**20, 3) * x,
        sympy.Float("1e-30", 30) * x,
        sympy.Sum(x**n, (n, 1, 4)),
        sympy.Product(x + n, (n, 1, 3)),
        sympy.Piecewise((x, sympy.ITE(x > 1, y > 1, y > 2)), (y, True)),
        sympy.Piecewise((x, sympy.And(x > 0, sympy.Or(y < 1, sympy.Not(y < 2)))), (y, True)),
        sympy.Piecewise((x, sympy.Xor(x > 0, y > 0)), (y, True)),
        sympy.Piecewise((x, sympy.Eq(sympy.floor(x), 1)), (y, sympy.Ne(y, 3)), (0, True)),
        sympy.re(x * sympy.I + y) + sympy.im(x * sympy.I),
    ],
    ids=str,
)
def test_operations_of_several_arguments(expression):
    at = {"x": 1.3, "y": 2.2}
    assert value(expression + 0 * w, {w: x}, **at) == pytest.approx(exact_value(expression, {}, **at), rel=1e-13)
    assert value(w, {w: expression}, **at) == pytest.approx(exact_value(expression, {}, **at), rel=1e-13)


def test_slope_of_sech_and_csch_stays_finite_where_their_denominators_overflow():
    for function in (sympy.sech, sympy.csch):
        assert value(u.diff(x), {u: function(1000 * x)}, x=1.0) == 0.0
        assert value(u.diff(x, 2), {u: function(1000 * x)}, x=1.0) == 0.0


def test_sinc_at_zero_has_the_derivatives_of_its_series():
    assert value(u, {u: sympy.sinc(x)}, x=0.0) == 1
    assert value(u.diff(x), {u: sympy.sinc(x)}, x=0.0) == 0
    assert value(u.diff(x, 2), {u: sympy.sinc(x)}, x=0.0) == pytest.approx(-1 / 3, rel=1e-14)


def test_curvature_of_sech_at_zero():
    assert value(u.diff(x, 2), {u: sympy.sech(x)}, x=0.0) == pytest.approx(-1, rel=1e-14)


def test_third_derivative_of_a_floating_power_at_zero_is_that_of_the_whole_power():
    assert value(u.diff(x, 3), {u: x**2.0}, x=0.0) == 0.0
    assert value(u.diff(x, 2), {u: (x - 1) ** 2.0}, x=0.0) == 2.0


@pytest.mark.parametrize("function", [sympy.Abs, sympy.sign, sympy.floor, sympy.Heaviside])
def test_nonsmooth_functions_have_finite_slopes_at_their_corner(function):
    slope = value(u.diff(x), {u: function(x)}, x=0.0)
    assert np.isfinite(slope)
    assert value(u, {u: function(x)}, x=0.0) == float(function(sympy.Integer(0)))


def test_every_node_that_can_be_stored_has_a_rule():
    rules = {*emit.FUNCTIONS, *emit.FOLDS, *emit.RULES, *normalize._RULES}
    parts = {"Tuple", "ExprCondPair"}  # of integrals and of Piecewise
    assert {name for name, node in NODES.items() if node not in rules} == parts


def test_every_function_with_a_rule_can_be_stored():
    assert {kind.__name__ for kind in {*emit.FUNCTIONS, *emit.FOLDS}} - {
        kind.__name__ for kind in NODES.values()
    } == set()
