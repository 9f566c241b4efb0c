"""Piecewise expressions: the value of the branch that is taken, and a finite gradient whatever the other one does."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from injection import problem_of, value

import phijax as phi
from phijax._precision import precision_scope
from phijax.lowering import ExactLayout, Expressions, Layout
from phijax.networks import MLP
from phijax.sampling.points import Points

x, y = phi.coordinates("x y")
u, v = phi.field("u", x, y), phi.field("v", x, y)
a = phi.parameter("a", initial=1.0)


def slope_by_parameter(expression, fields, at):
    """Derivative by the parameter `a` of the expression at (x, y), in reverse mode."""
    problem = problem_of(*fields, a)
    with precision_scope("float64"):
        layout = ExactLayout(problem, fields)
        lowered = Expressions(layout, {"": expression})
        point = Points({name: jnp.asarray(number) for name, number in zip("xy", at, strict=True)})
        gradient = eqx.filter_grad(lambda model: lowered.pointwise(model, point)[""])(layout.model())
        return float(gradient.parameters["a"])


# (expression, point, value, derivative by a at a = 1) with u = x and v = y; the branch not taken has no slope there.
BRANCHES = {
    "root taken": (sympy.Piecewise((sympy.sqrt(a * u), u > 0), (0, True)), (4.0, 0.0), 2.0, 1.0),
    "root not taken": (sympy.Piecewise((sympy.sqrt(a * u), u > 0), (3 * a, True)), (-4.0, 0.0), 3.0, 3.0),
    "root at its end": (sympy.Piecewise((sympy.sqrt(a * u), u > 0), (3 * a, True)), (0.0, 0.0), 3.0, 3.0),
    "logarithm": (sympy.Piecewise((a * sympy.log(u), u > 0), (a * u, True)), (-2.0, 0.0), -2.0, -2.0),
    "inverse": (sympy.Piecewise((a / u, sympy.Ne(u, 0)), (2 * a, True)), (0.0, 0.0), 2.0, 2.0),
    "inverse of a difference": (sympy.Piecewise((a / (u - v), u > v), (5 * a, True)), (1.0, 1.0), 5.0, 5.0),
    "root of a difference": (sympy.Piecewise((a, u <= v), (sympy.sqrt(a * (u - v)), True)), (1.0, 2.0), 1.0, 1.0),
    "several": (
        sympy.Piecewise((sympy.sqrt(a * u), u > 1), (sympy.log(a * v), v > 1), (1 / (a * u + 5), True)),
        (-5.5, 3.0),
        np.log(3.0),
        1.0,
    ),
    "nested": (
        sympy.Piecewise((sympy.Piecewise((sympy.sqrt(a * u), u > 1), (sympy.log(a * u), True)), u > 0), (7 * a, True)),
        (-3.0, 0.0),
        7.0,
        7.0,
    ),
    "condition on another field": (sympy.Piecewise((sympy.acos(a * u), v > 0), (a * v, True)), (1.0, -2.0), -2.0, -2.0),
    "power": (sympy.Piecewise(((a * u) ** sympy.Rational(3, 2), u > 0), (0, True)), (-1.0, 0.0), 0.0, 0.0),
    "parameter in both": (sympy.Piecewise((sympy.sqrt(a - 2), a > 2), (a**2, True)), (0.0, 0.0), 1.0, 2.0),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_gradient_is_that_of_the_branch_taken(name):
    expression, at, expected, slope = BRANCHES[name]
    assert value(expression, {u: x, v: y, a: 1.0}, x=at[0], y=at[1]) == pytest.approx(expected, rel=1e-14)
    assert slope_by_parameter(expression, {u: x, v: y}, at) == pytest.approx(slope, rel=1e-14)


def test_derivative_of_a_piecewise_law_is_that_of_the_branch_taken():
    law = sympy.Piecewise((sympy.sqrt(u), u > 0), (u**3, True))
    assert value(law.diff(x), {u: x**2 + y}, x=1.0, y=3.0) == pytest.approx(0.5, rel=1e-14)
    assert value(law.diff(x, 2), {u: x * y}, x=1.0, y=-3.0) == pytest.approx(6 * 9 * -3, rel=1e-14)
    assert np.isfinite(value(law.diff(x), {u: x * y}, x=0.0, y=-3.0))


def test_field_whose_own_expression_is_piecewise_has_finite_derivatives_in_forward_mode():
    given = sympy.Piecewise((sympy.sqrt(x), x > 0), (x**2, True))
    assert value(u.diff(x), {u: given}, x=-1.5, y=0.0) == -3.0
    assert value(u.diff(x, 2), {u: given}, x=0.0, y=0.0) == 2.0


def test_an_integral_in_a_branch_is_taken_at_its_own_points():
    s = phi.coordinate("s")
    total = phi.integral(u.subs(x, s), (s, 0, 2))
    expression = sympy.Piecewise((sympy.sqrt(a * total), y > 0), (a, True))
    assert value(expression, {u: x * y, a: 1.0}, x=9.0, y=2.0) == pytest.approx(2.0, rel=1e-14)
    assert slope_by_parameter(expression, {u: x * y}, (9.0, 2.0)) == pytest.approx(1.0, rel=1e-14)
    assert slope_by_parameter(expression, {u: x * y}, (9.0, -2.0)) == pytest.approx(1.0, rel=1e-14)


def test_where_no_condition_holds_the_value_is_nan_as_in_sympy():
    assert np.isnan(value(sympy.Piecewise((u, u > 0)), {u: x}, x=-1.0, y=0.0))


@pytest.mark.parametrize(
    ("expression", "taken", "tie"),
    [
        (sympy.Max(a * u, v), (2.0, 1.0, 2.0), None),
        (sympy.Min(a * u, v), (2.0, 1.0, 0.0), None),
        (sympy.Abs(a * u), (-3.0, 0.0, 3.0), 0.0),
        (sympy.sign(a * u), (-3.0, 0.0, 0.0), 0.0),
        (sympy.Heaviside(a * u), (-3.0, 0.0, 0.0), 0.0),
    ],
    ids=["Max", "Min", "Abs", "sign", "Heaviside"],
)
def test_gradients_of_functions_with_corners(expression, taken, tie):
    *at, slope = taken
    assert slope_by_parameter(expression, {u: x, v: y}, at) == pytest.approx(slope, rel=1e-14)
    if tie is not None:
        assert slope_by_parameter(expression, {u: x, v: y}, (0.0, 0.0)) == tie


def test_gradients_by_network_weights_stay_finite_in_float32():
    problem = problem_of(u, v)
    law = sympy.Piecewise((sympy.sqrt(u - v) + 1 / (u - v), u > v), (sympy.log(v - u), u < v), (u.diff(x), True))
    layout = Layout(problem, MLP(width=8, depth=2))
    lowered = Expressions(layout, {"": law})
    points = jnp.linspace(-50, 50, 64)

    def total(model):
        return jnp.sum(jax.vmap(lambda p, q: lowered.pointwise(model, Points({"x": p, "y": q}))[""])(points, -points))

    gradient = eqx.filter_grad(total)(layout.initial(jax.random.key(0)))
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(gradient))
