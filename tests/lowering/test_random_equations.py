"""Residuals of random equations on random analytic fields, against sympy in 30 digits (contract D5)."""

import sympy
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from injection import exact_value, value

import phijax as phi

x, y = phi.coordinates("x y")
u, v, k = phi.field("u", x, y), phi.field("v", x, y), phi.field("k", y)
FIELDS = (u, v, k)
PROFILE = settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],  # an example that fails is shown as it is: making it smaller takes minutes
    suppress_health_check=list(HealthCheck),
)

small = st.sampled_from([sympy.Rational(n, d) for n, d in [(1, 2), (-1, 3), (2, 3), (-3, 4), (1, 1), (5, 4)]])
number = small | st.sampled_from([sympy.Float("0.7"), sympy.Float("-1.3"), sympy.pi / 4, sympy.sqrt(2) / 2])


@st.composite
def analytic(draw, *coordinates):
    """A wave of the coordinates and a monomial."""
    phase = sum((draw(small) * c for c in coordinates), draw(small))
    monomial = draw(number) * sympy.prod([c ** draw(st.integers(0, 2)) for c in coordinates])
    return draw(number) * draw(st.sampled_from([sympy.sin, sympy.exp]))(phase) + monomial


@st.composite
def jet(draw, most=3):
    """A field or a derivative of it, where it is, or at another point."""
    field = draw(st.sampled_from(FIELDS))
    orders = [(c, draw(st.integers(0, most))) for c in field.coordinates]
    expression = field.diff(*[pair for pair in orders if pair[1]]) if any(n for _, n in orders) else field
    places = {
        "here": expression,
        "at a number": expression.subs(y, draw(small)),
        "shifted": expression.subs(y, y - draw(small)),
        "mirrored": expression.subs(y, -2 * y),
    }
    return places[draw(st.sampled_from(list(places)))]


smooth = st.sampled_from(
    [
        sympy.sin,
        sympy.cos,
        sympy.tanh,
        sympy.atan,
        sympy.erf,
        lambda e: sympy.exp(sympy.sin(e)),
        lambda e: sympy.sqrt(2 + e**2),
        lambda e: 1 / (1 + e**2),
        lambda e: sympy.log(3 + sympy.cos(e)),
        lambda e: e**2,
        lambda e: e**3,
        lambda e: (1 + sympy.sin(e) ** 2) ** sympy.Rational(3, 2),
    ]
)


def combined(inner):
    """Sums, products, functions, derivatives, integrals and vector operators of expressions."""
    integral = st.builds(lambda e, a, b: phi.integral(e, (x, a, b)), inner, small, small)
    moving = st.builds(lambda e, a: phi.integral(e, (x, a, y)), inner, small)
    return st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b, c: c * a * b, inner, inner, number),
        st.builds(lambda f, e: f(e), smooth, inner),
        st.builds(lambda e, c: e.diff(c), inner, st.sampled_from([x, y])),
        integral,
        moving,
        st.builds(lambda e, f: phi.div(e * phi.grad(f, over=(x, y)), over=(x, y)), inner, st.sampled_from([u, v])),
        st.builds(lambda e: phi.laplacian(e, over=(x, y)), inner),
        st.builds(lambda a, b: phi.curl((a, b), over=(x, y)), inner, inner),
    )


expressions = st.recursive(jet() | st.sampled_from([x, y]) | number, combined, max_leaves=4)


@PROFILE
@given(expressions, analytic(x, y), analytic(x, y), analytic(y), st.sampled_from([(0.31, -0.62), (-0.87, 0.45)]))
def test_lowered_expression_equals_sympy(expression, of_u, of_v, of_k, at):
    fields = {u: of_u, v: of_v, k: of_k}
    expected = exact_value(sympy.sympify(expression), fields, x=at[0], y=at[1])
    found = value(expression, fields, x=at[0], y=at[1])
    assert abs(found - expected) <= 1e-10 * (1 + abs(expected))


@settings(PROFILE, max_examples=6)
@given(st.sampled_from([(6, 0), (5, 1), (3, 3), (2, 4), (1, 4), (4, 2)]), analytic(x, y), analytic(x, y))
def test_mixed_derivatives_up_to_order_six_equal_sympy(orders, of_u, of_v):
    expression = sympy.Derivative(u, (x, orders[0]), (y, orders[1])) * v + u * v.diff(x, y, y)
    fields = {u: of_u, v: of_v}
    expected = exact_value(expression, fields, x=0.4, y=-0.3)
    found = value(expression, fields, x=0.4, y=-0.3)
    assert abs(found - expected) <= 1e-11 * (1 + abs(expected))
