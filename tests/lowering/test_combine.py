"""Sums of derivatives that travel as a whole: which are found, and that nothing else of an expression changes."""

import jax
import jax.numpy as jnp
import pytest
import sympy

import phijax as phi
from phijax._precision import precision_scope
from phijax.lowering.combine import combine
from phijax.lowering.layout import Layout
from phijax.lowering.normalize import normalize
from phijax.lowering.residual import Expressions
from phijax.networks import MLP
from phijax.sampling.points import Points
from phijax.series import Combination

x, y = phi.coordinates("x y")
u, v = phi.fields("u v", x, y)
k, lam = sympy.exp(x), phi.parameter("lam", initial=2.0)
LAPLACIAN = Combination((((2, 0), 1.0), ((0, 2), 1.0)))


def wanted(*expressions) -> set:
    """What the expressions need of u and v, which share a network, at (x, y)."""
    found = {f"{i}": normalize(expression) for i, expression in enumerate(expressions)}
    return combine(found, {"u": "net", "v": "net"})[1][("net", (x, y))]


@pytest.mark.parametrize(
    ("expression", "channels"),
    [
        (phi.laplacian(u), {LAPLACIAN}),
        (u.diff(x, 2) / 3 + 2 * u.diff(y, 2), {Combination((((2, 0), 1.0), ((0, 2), 6.0)))}),
        (phi.div(k * phi.grad(u)), {LAPLACIAN, (1, 0)}),
        (lam * phi.laplacian(u) + phi.laplacian(v) ** 2, {LAPLACIAN}),
        (lam * u.diff(x, 2) + u.diff(y, 2), {(2, 0), (0, 2)}),
        (phi.laplacian(u) + u.diff(x, 2) * u, {(2, 0), (0, 2), (0, 0)}),
        (phi.laplacian(phi.laplacian(u)), {Combination((((4, 0), 1.0), ((2, 2), 2.0), ((0, 4), 1.0)))}),
        (u.diff(x, 2) + u.diff(y), {(2, 0), (0, 1)}),
    ],
)
def test_derivatives_of_one_order_and_factor_travel_together_where_that_saves_channels(expression, channels):
    assert wanted(expression) == channels


def test_terms_share_a_combination_or_have_none():
    assert wanted(phi.laplacian(u), 3 * phi.laplacian(v)) == {LAPLACIAN}
    assert wanted(phi.laplacian(u), v.diff(x, 2)) == {(2, 0), (0, 2)}


@pytest.mark.parametrize("dimension", [2, 7])
def test_a_residual_with_combinations_equals_the_one_written_out(dimension):
    axes = phi.coordinates(" ".join(f"z{i}" for i in range(dimension)))
    w = phi.field("w", *axes)
    weights = [sympy.Rational(3 + i, 2) for i in range(dimension)]  # none of them one
    operator = sum(c * w.diff(axis, 2) for c, axis in zip(weights, axes, strict=True))
    box = phi.Box(*((axis, 0, 1) for axis in axes))
    problem = phi.Problem(box, {"law": operator + w, "rim": phi.on(box.boundary, sympy.Eq(w, 0))})
    with precision_scope("float64"):
        layout = Layout(problem, MLP(width=8, depth=2))
        model = layout.initial(jax.random.key(0))
        at = Points({axis.name: jnp.asarray(0.1 + 0.1 * i) for i, axis in enumerate(axes)})
        together = Expressions(layout, {"all": operator * sympy.sin(w)})
        apart = Expressions(layout, {f"{i}": w.diff(axis, 2) for i, axis in enumerate(axes)} | {"w": w})
        parts = {label: float(value) for label, value in jax.jit(apart.pointwise)(model, at).items()}
        expected = sum(float(c) * parts[f"{i}"] for i, c in enumerate(weights)) * float(jnp.sin(parts["w"]))
        assert float(jax.jit(together.pointwise)(model, at)["all"]) == pytest.approx(expected, rel=1e-12)
