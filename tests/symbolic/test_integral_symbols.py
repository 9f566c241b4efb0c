"""Integrals and known functions as sympy expressions."""

import numpy as np
import pytest

import phijax as phi
from phijax.symbolic import Quadrature

x, y, s = phi.coordinates("x y s")
u, w = phi.field("u", x, y), phi.field("w", x)


def test_free_symbols_are_those_on_which_the_value_depends():
    assert phi.integral(u, (x, 0, 1)).free_symbols == {y}
    assert phi.integral(u.subs(x, s), (s, 0, x)).free_symbols == {x, y}
    assert phi.integral(u, (x, 0, x)).free_symbols == {x, y}
    assert phi.integral(u, over=phi.Rectangle((x, 0, 1), (y, 0, 1))).free_symbols == set()
    boundary = phi.Rectangle((x, 0, 1), (y, 0, 1)).boundary
    assert phi.integral(phi.normal_derivative(u), over=boundary).free_symbols == set()


def test_the_bound_symbol_of_a_moving_limit_has_a_name_that_occurs_nowhere():
    inner = phi.coordinate("x_")
    integral = phi.integral(u.subs(y, inner), (x, 0, x))
    assert isinstance(integral, Quadrature)
    assert integral.bound_symbols[0].name == "x__"
    assert integral.free_symbols == {x, inner}


def test_derivative_by_a_coordinate_that_is_integrated_over_is_zero():
    assert phi.integral(u, (x, 0, 1)).diff(x) == 0
    assert phi.integral(u, over=phi.Interval(x, 0, 1)).diff(x) == 0
    assert phi.integral(w, (x, 0, 1)).diff(y) == 0


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: phi.integral(u), r"integral needs limits, as in integral\(u, \(x, 0, 1\)\), or a region"),
        (lambda: phi.integral(u, (x, 0, 1), over=phi.Interval(x, 0, 1)), "integral needs limits"),
        (lambda: phi.integral(u, (x, 0)), r"integral limit \(x, 0\) must be \(symbol, low, high\)"),
        (lambda: phi.integral(u, (2, 0, 1)), r"integral limit \(2, 0, 1\) must be \(symbol, low, high\)"),
        (lambda: phi.integral(u, x), "must be"),
        (lambda: phi.integral(u, (x, 0, 1), points=0), "integral: points=0 must be a whole number of at least 1"),
    ],
)
def test_an_integral_without_a_place_says_what_is_needed(use, message):
    with pytest.raises(ValueError, match=message):
        use()


def test_known_functions_are_equal_by_name_and_source():
    table = {"T": [0.0, 1.0], "k": [1.0, 2.0]}
    assert phi.function("k", table)(x) == phi.function("k", table)(x)
    assert phi.function("k", table)(x) != phi.function("k", {**table, "k": [1.0, 3.0]})(x)
    assert phi.function("k", np.sin)(x) != phi.function("k", np.cos)(x)
    assert phi.function("k", np.array([[0.0, 1.0], [1.0, 2.0]]))(x).func.source.axes["x"].tolist() == [0.0, 1.0]


def test_known_functions_obey_the_chain_rule():
    k = phi.function("k", lambda a, b: a * b)
    first = k(w, x).diff(x)
    assert len(first.args) == 2
    assert first.has(w.diff(x))
    assert {node.func.orders for node in first.atoms(k(w, x).func, type(k(w, x).fdiff(1)), type(k(w, x).fdiff(2)))} == {
        (1, 0),
        (0, 1),
    }
    assert k(y, 1).diff(x) == 0


def test_a_python_function_is_not_bound_as_a_method_by_its_derivative():
    law = lambda a: a
    assert phi.function("k", law)(x).diff(x, 2).func.source is law


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda: phi.function("k", {"T": [0.0, 1.0], "k": [1.0]}),
            r"table values have shape \(1,\), but the axes \['T'\]",
        ),
        (
            lambda: phi.function("k", {"T": [0.0, 0.0], "k": [1.0, 1.0]}),
            "table column 'T' must be a strictly increasing",
        ),
        (lambda: phi.function("k", {"T": [0.0, 1.0]}), "a table needs a column of arguments and one of values"),
        (
            lambda: phi.function("k", {"T": [0.0, 1.0], "k": [1.0, np.nan]}),
            "table values hold a number that is not finite",
        ),
        (lambda: phi.function("k", [1.0, 2.0, 3.0]), r"expected a callable, a table of columns or an \(n, 2\) array"),
        (lambda: phi.function("k", np.sin)(), r"function 'k' is called without an argument; write k\(x\)"),
        (
            lambda: phi.function("k", {"T": [0.0, 1.0], "k": [1.0, 2.0]})(x, y),
            r"is a table over \(T\); it is called with 2",
        ),
    ],
)
def test_a_table_or_function_that_does_not_fit_says_why(use, message):
    with pytest.raises(ValueError, match=message):
        use()
