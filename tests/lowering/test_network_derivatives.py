"""Derivatives of networks, as residuals read them, against nested gradients of the network's own output."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from injection import problem_of

import phijax as phi
from phijax._precision import precision_scope
from phijax.lowering import Expressions, Layout
from phijax.networks import MLP, FourierFeatures, ModifiedMLP
from phijax.sampling.points import Points

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
x, y = phi.coordinates("x y")
u, v = phi.fields("u v", x, y)
h = phi.field("h", x, y, complex=True)
POINT = {"x": 0.37, "y": -0.81}


class ByHand:
    """A network that the library knows nothing about."""

    def __init__(self, key, inputs, outputs):
        self.weights = jax.random.normal(key, (outputs, inputs))

    def __call__(self, z, *, key=None):
        return jnp.sin(self.weights @ z)


jax.tree_util.register_pytree_node(ByHand, lambda b: ((b.weights,), None), lambda _, leaves: _restored(leaves[0]))


def _restored(weights):
    network = object.__new__(ByHand)
    network.weights = weights
    return network


NETWORKS = {
    "tanh": MLP(width=6, depth=2),
    "sin": MLP(width=6, depth=2, activation="sin"),
    "modified": ModifiedMLP(width=6, depth=2),
    "fourier": FourierFeatures(MLP(width=6, depth=1)),
    "siren": phi.SIREN(width=6, depth=2, w0=4.0),
    "separable": phi.Separable(MLP(width=6, depth=1), rank=3),
    "factorized": MLP(width=6, depth=2, factorized=True),
    "by hand": ByHand,
}


ORDERS = [(0, 0), (1, 0), (0, 2), (1, 1), (3, 0), (2, 1)]


def nested(function, orders, at):
    """A mixed derivative, one direction after the other."""
    for axis, count in enumerate(orders):
        for _ in range(count):
            direction = jnp.zeros(2).at[axis].set(1)
            function = lambda c, inner=function, d=direction: jax.jvp(inner, (c,), (d,))[1]
    return function(at)


def differentiated(field, orders):
    """The same as sympy writes it."""
    return sympy.Derivative(field, *zip((x, y), orders, strict=True)).doit() if any(orders) else field


@pytest.mark.parametrize("name", NETWORKS)
def test_derivatives_equal_nested_gradients_of_the_value(name):
    with precision_scope("float64"):
        layout = Layout(problem_of(u, v), NETWORKS[name])
        model = layout.initial(jax.random.key(1))
        values = Expressions(layout, {"u": u, "v": v})
        point = lambda c: Points({"x": c[0], "y": c[1]})
        at = jnp.array([POINT["x"], POINT["y"]])
        wanted = {f"{f.name}{orders}": differentiated(f, orders) for f in (u, v) for orders in ORDERS}
        wanted["product"] = differentiated(u, (2, 1)) * v
        found = jax.jit(lambda c: Expressions(layout, wanted).pointwise(model, point(c)))(at)
        both = lambda c: jnp.stack(list(values.pointwise(model, point(c)).values()))
        expected = {}
        for orders in ORDERS:
            expected[f"u{orders}"], expected[f"v{orders}"] = map(
                float, jax.jit(lambda c, o=orders: nested(both, o, c))(at)
            )
        expected["product"] = expected["u(2, 1)"] * expected["v(0, 0)"]
        assert {label: float(value) for label, value in found.items()} == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    "network",
    [MLP(width=6, depth=2), lambda key, inputs, outputs: eqx.nn.MLP(inputs, outputs, 6, 2, jnp.tanh, key=key)],
    ids=["carried", "nested"],
)
def test_the_network_is_evaluated_once_for_all_derivatives_at_a_place(network):
    layout = Layout(problem_of(u, v), network)
    model = layout.initial(jax.random.key(1))
    lowered = Expressions(layout, {"flow": u.diff(x, 2) + u * v.diff(y), "more": v.diff(x, y) ** 2, "value": u})
    point = Points({"x": jnp.float32(POINT["x"]), "y": jnp.float32(POINT["y"])})
    compiled = jax.jit(lambda point: lowered.pointwise(model, point)).lower(point).compile().as_text()
    assert compiled.count(" tanh(") == 2


def test_derivatives_of_a_complex_field_and_of_a_lifted_one():
    square = phi.Rectangle((x, 0, 1), (y, 0, 1))
    lifted = phi.Problem(
        square,
        {
            "law": sympy.Eq(phi.laplacian(u), phi.laplacian(sympy.re(h))),
            "rim": phi.on(square.boundary, sympy.Eq(u, sympy.exp(x) * y), exact=True),
        },
    )
    with precision_scope("float64"):
        layout = Layout(lifted, MLP(width=6, depth=2))
        model = layout.initial(jax.random.key(2))
        labels = {"u": u, "re": sympy.re(h), "im": sympy.im(h)}
        values = Expressions(layout, labels)
        lowered = Expressions(layout, {label: sympy.Derivative(e, x, y, y) for label, e in labels.items()})
        at = jnp.array([0.3, 0.8])
        found = lowered.pointwise(model, Points({"x": at[0], "y": at[1]}))
        for label in labels:
            field = lambda c, label=label: values.pointwise(model, Points({"x": c[0], "y": c[1]}))[label]
            assert float(found[label]) == pytest.approx(float(nested(jax.jit(field), (1, 2), at)), rel=1e-10)


@pytest.mark.parametrize("name", ["tanh", "by hand"])
def test_fields_are_the_outputs_of_the_network_in_order_a_complex_one_two_of_them(name):
    with precision_scope("float64"):
        layout = Layout(problem_of(v, h), NETWORKS[name], scales={"v": 3.0, "h": 0.5})
        model = layout.initial(jax.random.key(4))
        (network,) = model.networks.values()
        first, real, imaginary = network(jnp.array([POINT["x"], POINT["y"]]) / 50)
        at = Points({name: jnp.asarray(number) for name, number in POINT.items()})
        found = Expressions(layout, {"v": v, "h": h}, split_complex=False).pointwise(model, at)
        assert complex(found["v"]) == pytest.approx(complex(3 * first), rel=1e-13)
        assert complex(found["h"]) == pytest.approx(complex(0.5 * (real + 1j * imaginary)), rel=1e-13)


def test_field_of_fewer_coordinates_and_of_periodic_ones():
    ring = phi.Interval(x, 0, 2, periodic=True)
    k = phi.field("k", x)
    problem = phi.Problem(ring * phi.Interval(y, 0, 1), {"law": sympy.Eq(phi.div(k * phi.grad(u)), 0)})
    with precision_scope("float64"):
        layout = Layout(problem, MLP(width=6, depth=2))
        model = layout.initial(jax.random.key(3))
        values = Expressions(layout, {"u": u, "k": k})
        point = lambda c: Points({"x": c[0], "y": c[1]})
        U, K = (lambda c, label=label: values.pointwise(model, point(c))[label] for label in ("u", "k"))
        at = jnp.array([0.4, 0.6])
        law = Expressions(layout, {"": k * phi.laplacian(u) + k.diff(x) * u.diff(x)}).pointwise(model, point(at))[""]
        expected = K(at) * (nested(U, (2, 0), at) + nested(U, (0, 2), at))
        expected += nested(K, (1, 0), at) * nested(U, (1, 0), at)
        assert float(law) == pytest.approx(float(expected), rel=1e-11)
        np.testing.assert_allclose(U(jnp.array([0.0, 0.5])), U(jnp.array([2.0, 0.5])), rtol=1e-13)
