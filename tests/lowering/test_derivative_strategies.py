"""The ways to differentiate a network of unknown structure: which is taken, and that all give the same numbers."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

from phijax._precision import precision_scope
from phijax.lowering.derivatives import derivatives, forward_of_gradient, strategy_for, taylor_mode

SECOND = {(0, 0), (1, 0), (2, 0), (1, 1), (0, 2)}
SIXTH = {(0, 0), (0, 1), (6, 0), (4, 0), (0, 2), (2, 1)}


def network(activation=jnp.tanh, outputs="scalar"):
    return eqx.nn.MLP(2, outputs, 8, 2, activation=activation, key=jax.random.key(0))


@pytest.mark.parametrize(("strategy", "wanted"), [(forward_of_gradient, SECOND), (taylor_mode, SIXTH)])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_every_strategy_gives_the_numbers_of_nested_forward_mode_to_rounding(strategy, wanted, precision):
    with precision_scope(precision):
        net, at = network(), jnp.array([0.3, -0.4])
        function = lambda c: {"u": net(c)}
        found = jax.jit(lambda c: [strategy(function, c, wanted)[o]["u"] for o in sorted(wanted)])(at)
        nested = jax.jit(lambda c: [derivatives(function, c, wanted)[o]["u"] for o in sorted(wanted)])(at)
        rounding = 1e-11 if precision == "float64" else 3e-3
        np.testing.assert_allclose(found, nested, rtol=rounding, atol=rounding)


@pytest.mark.parametrize(("strategy", "wanted"), [(forward_of_gradient, SECOND), (taylor_mode, SIXTH)])
def test_every_strategy_gives_the_numbers_of_sympy(strategy, wanted):
    a, b = sympy.symbols("a b")
    u = sympy.tanh(a * b + a) * sympy.exp(sympy.sin(a - 2 * b))
    with precision_scope("float64"):
        at = jnp.array([0.3, -0.4])
        found = strategy(lambda c: jnp.tanh(c[0] * c[1] + c[0]) * jnp.exp(jnp.sin(c[0] - 2 * c[1])), at, wanted)
    for orders in wanted:
        exact = float(sympy.diff(u, a, orders[0], b, orders[1]).subs({a: 0.3, b: -0.4}).evalf(30))
        assert float(found[orders]) == pytest.approx(exact, rel=1e-11), orders


def test_the_cheapest_strategy_is_taken():
    at = jnp.array([0.3, -0.4])
    scalar, vector = network(), network(outputs=2)
    assert strategy_for(scalar, at, SECOND) is forward_of_gradient
    assert strategy_for(lambda c: {"u": vector(c)[0], "v": vector(c)[1]}, at, SECOND) is derivatives
    assert strategy_for(lambda c: scalar(c) + 1j * scalar(c), at, SECOND) is derivatives
    assert strategy_for(scalar, at, {(0, 0), (1, 0)}) is derivatives
    assert strategy_for(scalar, at, {(4, 0)}) is derivatives
    assert strategy_for(scalar, at, SIXTH) is taylor_mode


def test_a_function_that_taylor_mode_has_no_rule_for_is_left_to_nested_forward_mode():
    assert strategy_for(network(jax.nn.softplus), jnp.array([0.3, -0.4]), SIXTH) is derivatives
