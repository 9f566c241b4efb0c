"""Networks of the user's own: one that does not give a number for each field is refused before any training."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sympy import Eq

import phijax as phi
from phijax.lowering import Layout
from phijax.series.functions import tanh

x = phi.coordinate("x")
u, v = phi.fields("u v", x)
line = phi.Interval(x, 0, 1)
problem = phi.Problem(
    line, {"pde": {"u": Eq(u.diff(x), v), "v": Eq(v.diff(x), u)}, "left": phi.on(line.side("left"), Eq(u, 1))}
)


class Own(eqx.Module):
    """One hidden layer; takes no key."""

    weight: jax.Array
    last: jax.Array

    def __init__(self, key, inputs, outputs):
        self.weight, self.last = jax.random.normal(key, (inputs, 4)), jnp.ones((4, outputs))

    def __call__(self, x):
        return jnp.tanh(x @ self.weight) @ self.last


class Ruled(Own):
    """The same with a rule."""

    def series(self, x):
        return x.linear(lambda c: c @ self.weight).compose(tanh).linear(lambda c: c @ self.last)


class Wrong(Ruled):
    """A rule of another network."""

    def series(self, x):
        return x.linear(lambda c: c @ self.weight).compose(tanh).linear(lambda c: 2.0 * (c @ self.last))


@pytest.mark.parametrize("network", [Own, Ruled])
def test_a_network_without_a_key_serves(network):
    compiled = phi.compile(problem, network=network, points=4)
    model = compiled.module.factory(jax.random.key(0))
    batch = compiled.datamodule.train_batch_source(compiled.module.objective.batch_keys, jax.random.key(1))(0)
    with_key = compiled.module.objective.losses(model, batch, jax.random.key(2))
    without = compiled.module.objective.losses(model, batch, None)
    np.testing.assert_array_equal([with_key[name] for name in without], list(without.values()))


WRONG = {
    "too few": (lambda key, i, o: Own(key, i, 1), r"gives shape \(1,\) at one point; it must give \(2,\)"),
    "too many": (lambda key, i, o: Own(key, i, 3), r"gives shape \(3,\) at one point; it must give \(2,\)"),
    "a row": (lambda key, i, o: lambda x: Own(key, i, o)(x)[None], r"gives shape \(1, 2\) at one point"),
    "a scalar": (lambda key, i, o: lambda x: x[0], r"gives shape \(\) at one point"),
    "a mapping": (lambda key, i, o: lambda x: {"u": x[0]}, "gives dict at one point"),
    "complex": (lambda key, i, o: lambda x: 1j * Own(key, i, o)(x), "gives complex64; it must give real"),
    "whole": (lambda key, i, o: lambda x: Own(key, i, o)(x).astype(int), "gives int32; it must give real"),
    "none": (lambda key, i, o: None, "is NoneType, which cannot be called"),
    "two arguments": (lambda key, i: None, r"fails: TypeError: .* It needs a function \(key, inputs, outputs\)"),
    "numpy": (lambda key, i, o: lambda x: np.tanh(np.asarray(x)), "fails: TracerArrayConversionError: .* in jax.numpy"),
    "another rule": (Wrong, "has a series rule that gives other derivatives than its __call__|gives other values"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_network_that_is_wrong_is_refused_by_the_names_of_its_fields(name):
    network, message = WRONG[name]
    with pytest.raises(ValueError, match=f"the network of 'u', 'v' ({message})"):
        Layout(problem, network)
