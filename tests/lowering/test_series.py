"""Derivatives carried through the layers against JAX's own, and against sympy on elementary functions."""

import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

import phijax as phi
from phijax import _series
from phijax._precision import precision_scope
from phijax._series import carries_series, closed_indices, variable
from phijax.lowering.derivatives import derivatives
from phijax.lowering.layout import Layout

WANTED = {(0, 0, 0), (2, 0, 0), (1, 1, 0), (0, 2, 1)}


def mixed_problem() -> phi.Problem:
    """A real and a complex field on one network: a periodic axis, an exact start, a lift that is not polynomial."""
    x, y, t = *phi.coordinates("x y"), phi.time("t")
    v, h = phi.field("v", x, y, t), phi.field("h", x, y, t, complex=True)
    domain = phi.Interval(x, -1, 2, periodic=True) * phi.Interval(y, 0, 3) * phi.Interval(t, 0, 1)
    start = {v: sympy.sin(y), h: sympy.sin(2 * sympy.pi * x / 3) * sympy.exp(sympy.I * y)}
    equations = {"v": sympy.Eq(v.diff(t), v.diff(y, 2) + abs(h)), "h": sympy.Eq(h.diff(t), h.diff(y, 2))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", phi.DeclarationWarning)
        return phi.Problem(domain, {**equations, "start": phi.on(domain.at(t=0), start, exact=True)})


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(
    "network",
    [
        phi.MLP(width=8, depth=2),
        phi.MLP(width=8, depth=2, activation="sin"),
        phi.ModifiedMLP(width=8, depth=3, activation="gelu"),
        phi.FourierFeatures(phi.MLP(width=8, depth=1, activation="sigmoid"), features=3),
    ],
    ids=str,
)
def test_carried_derivatives_equal_nested_forward_mode_to_rounding(network, precision):
    with precision_scope(precision):
        layout = Layout(mixed_problem(), network)
        ((name, function),) = layout.functions.items()
        own = layout.initial(jax.random.key(1)).networks[name]
        at = jnp.array([0.3, 0.7, 0.4])
        assert carries_series(own)
        carried = jax.jit(lambda n, c: function(n, c, WANTED))(own, at)
        nested = jax.jit(lambda n, c: derivatives(lambda c: function._values(n, c, None), c, WANTED))(own, at)
        rounding = 1e-12 if precision == "float64" else 3e-4
        for orders in WANTED:
            for field, value in nested[orders].items():
                assert abs(carried[orders][field] - value) <= rounding * (1 + abs(value)), (orders, field)


def test_a_layer_without_a_rule_is_left_to_jax():
    def factory(key, inputs, outputs):
        return eqx.nn.MLP(inputs, outputs, 4, 1, activation=jnp.tanh, key=key)

    assert not carries_series(factory(jax.random.key(0), 2, 1))
    mixture = phi.FourierFeatures(factory, features=2)(jax.random.key(0), 2, 1)
    assert not carries_series(mixture)


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "sin", "cos"])
def test_one_variable_series_equals_sympys(name):
    z = sympy.Symbol("z")
    known = {"sigmoid": 1 / (1 + sympy.exp(-z))}.get(name) or getattr(sympy, name)(z)
    with precision_scope("float64"):
        found = getattr(_series, name)(jnp.array([-0.8, 0.3]), 6)
    for k, coefficient in enumerate(found):
        exact = [float(known.diff(z, k).subs(z, at).evalf(30)) / float(sympy.factorial(k)) for at in (-0.8, 0.3)]
        np.testing.assert_allclose(coefficient, exact, rtol=1e-13, atol=1e-15)


def test_products_and_compositions_keep_to_the_closed_index_set():
    with precision_scope("float64"):
        indices = closed_indices({(2, 1)})
        assert indices == {(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)}
        x, y = (variable(jnp.array(v), i, indices) for i, v in enumerate((0.5, -0.25)))
        f = (x * x * y).compose(_series.sin)
        a, b = sympy.symbols("a b")
        for orders in indices:
            exact = sympy.diff(sympy.sin(a**2 * b), a, orders[0], b, orders[1]).subs({a: 0.5, b: -0.25})
            assert float(f.derivative(orders)) == pytest.approx(float(exact), rel=1e-13, abs=1e-15)
