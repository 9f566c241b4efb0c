"""Derivatives carried through the layers against JAX's own, and against sympy on elementary functions."""

import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

import phijax as phi
from phijax._precision import precision_scope
from phijax.lowering.derivatives import channels_of, derivatives
from phijax.lowering.layout import Layout
from phijax.series import Channels, Combination, carries_series, coordinates, functions

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
        phi.ResNet(width=8, blocks=2),
        phi.FourierFeatures(phi.PirateNet(width=8, blocks=2), features=4),
        phi.SIREN(width=8, depth=2, w0=2.0),
        phi.Separable(phi.MLP(width=8, depth=1), rank=3),
        phi.ModifiedMLP(width=8, depth=2, factorized=True),
        phi.PirateNet(width=8, blocks=1, factorized=(1.0, 0.3)),
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
        found = getattr(functions, name)(jnp.array([-0.8, 0.3]), 6)
    for k, coefficient in enumerate(found):
        exact = [float(known.diff(z, k).subs(z, at).evalf(30)) / float(sympy.factorial(k)) for at in (-0.8, 0.3)]
        np.testing.assert_allclose(coefficient, exact, rtol=1e-13, atol=1e-15)


def test_products_and_compositions_keep_to_the_closed_index_set():
    with precision_scope("float64"):
        channels = Channels.of({(2, 1)})
        assert channels.indices == {(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)}
        at = coordinates(jnp.array([0.5, -0.25]), channels)
        x, y = (at.linear(lambda c, i=i: c[i]) for i in (0, 1))
        f = (x * x * y).compose(functions.sin)
        a, b = sympy.symbols("a b")
        for orders in channels.indices:
            exact = sympy.diff(sympy.sin(a**2 * b), a, orders[0], b, orders[1]).subs({a: 0.5, b: -0.25})
            assert float(f.derivative(orders)) == pytest.approx(float(exact), rel=1e-13, abs=1e-15)


BIHARMONIC = Combination((((4, 0), 1.0), ((2, 2), 2.0), ((0, 4), 1.0)))


def test_a_biharmonic_operator_equals_sympys_and_saves_its_fourth_derivatives():
    channels = Channels.of({BIHARMONIC})
    assert len(channels) == len(Channels.of({(4, 0), (2, 2), (0, 4)})) - 2
    a, b = sympy.symbols("a b")
    u = sympy.tanh(a * b) * sympy.sin(a)
    exact = u.diff(a, 4) + 2 * u.diff(a, 2, b, 2) + u.diff(b, 4)
    with precision_scope("float64"):
        at = coordinates(jnp.array([0.5, -0.25]), channels)
        x, y = (at.linear(lambda c, i=i: c[i]) for i in (0, 1))
        found = ((x * y).compose(functions.tanh) * x.compose(functions.sin)).derivative(BIHARMONIC)
    assert float(found) == pytest.approx(float(exact.subs({a: 0.5, b: -0.25})), rel=1e-12)


def second_order(dimension: int) -> Combination:
    """A Laplacian with unequal weights and one mixed derivative."""

    def orders(*axes):
        return tuple(axes.count(i) for i in range(dimension))

    return Combination((*((orders(i, i), 1.0 + i) for i in range(dimension)), (orders(0, 2), -0.5)))


@pytest.mark.parametrize("dimension", [3, 7])
@pytest.mark.parametrize("network", [phi.MLP(width=8, depth=2), phi.ModifiedMLP(width=8, depth=2)], ids=str)
def test_a_combination_equals_the_sum_of_nested_derivatives_in_few_and_in_many_dimensions(network, dimension):
    operator, slope = second_order(dimension), (0, 1, *[0] * (dimension - 2))
    channels = Channels.of({operator, slope})
    assert len(channels) == dimension + 2
    with precision_scope("float64"):
        own = network(jax.random.key(0), dimension, 2)
        at = jnp.linspace(-0.7, 0.8, dimension)
        carried = jax.jit(
            lambda c: [own.series(coordinates(c, channels)).derivative(channel) for channel in (operator, slope)]
        )(at)
        nested = jax.jit(lambda c: [channels_of(own, c, {operator, slope})[key] for key in (operator, slope)])(at)
        for value, exact in zip(carried, nested, strict=True):
            np.testing.assert_allclose(value, exact, rtol=1e-11, atol=1e-12)


def test_periodic_inputs_travel_in_one_array_too():
    axes = phi.coordinates("a b c d e f")
    u = phi.field("u", *axes)
    box = phi.Box(*((axis, 0, 1) for axis in axes[1:])) * phi.Interval(axes[0], 0, 2, periodic=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", phi.DeclarationWarning)
        problem = phi.Problem(box, {"pde": phi.laplacian(u)})
    wanted = (second_order(6), (0,) * 6)
    with precision_scope("float64"):
        layout = Layout(problem, phi.MLP(width=6, depth=2))
        ((name, function),) = layout.functions.items()
        own = layout.initial(jax.random.key(2)).networks[name]
        at = jnp.linspace(0.1, 0.9, 6)
        carried = jax.jit(lambda c: [function(own, c, wanted)[key]["u"] for key in wanted])(at)
        nested = jax.jit(
            lambda c: [channels_of(lambda c: function._values(own, c, None), c, wanted)[key]["u"] for key in wanted]
        )(at)
        np.testing.assert_allclose(carried, nested, rtol=1e-11)


def test_a_stochastic_network_carries_the_derivatives_of_what_it_draws():
    layout = Layout(mixed_problem(), phi.MLP(width=8, depth=2, dropout=0.3))
    with precision_scope("float64"):
        ((name, function),) = layout.functions.items()
        own = layout.initial(jax.random.key(1)).networks[name]
        at, key = jnp.array([0.3, 0.7, 0.4]), jax.random.key(5)
        carried = jax.jit(lambda c: function(own, c, WANTED, key))(at)
        nested = jax.jit(lambda c: channels_of(lambda c: function._values(own, c, key), c, WANTED))(at)
        for orders in WANTED:
            for field, value in nested[orders].items():
                assert abs(carried[orders][field] - value) <= 1e-12 * (1 + abs(value)), (orders, field)
        assert carried[(0, 0, 0)]["v"] != function(own, at, WANTED)[(0, 0, 0)]["v"]
