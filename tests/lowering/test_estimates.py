"""Second-order operators along random directions: their mean is the operator, their variance is the formula's."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import phijax as phi
from phijax._precision import precision_scope
from phijax.lowering.layout import Layout
from phijax.series import Combination

AXES = phi.coordinates("a b c d e f")
U = phi.field("u", *AXES)
BOX = phi.Box(*((axis, -1, 1) for axis in AXES))
SIZE, DRAWS = len(AXES), 20_000
AT = np.linspace(-0.7, 0.8, SIZE)
HESSIAN = np.random.default_rng(0).standard_normal((SIZE, SIZE))
HESSIAN = HESSIAN + HESSIAN.T


def orders(*axes):
    return tuple(axes.count(i) for i in range(SIZE))


LAPLACIAN = Combination(tuple((orders(i, i), 1.0) for i in range(SIZE)))
WEIGHTED = Combination(tuple((orders(i, i), 1.0 + i) for i in range(SIZE)))
MIXED = Combination((*((orders(i, i), 1.0 - i) for i in range(SIZE)), (orders(0, 2), -0.5)))


def quadratic(key, inputs, outputs):
    """A network whose Hessian by the coordinates is HESSIAN: the box is [-1, 1], so inputs are coordinates."""
    return lambda x, *, key=None: jnp.asarray([x @ jnp.asarray(HESSIAN, x.dtype) @ x / 2])


def laplace(expression=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", phi.DeclarationWarning)
        return phi.Problem(BOX, {"pde": phi.laplacian(U) if expression is None else expression})


def drawn(network, channel, directions):
    """Estimates of one channel, a key each."""
    layout = Layout(laplace(), network, scales={"u": 1.0}, directions=directions)
    ((name, function),) = layout.functions.items()
    own = layout.initial(jax.random.key(0)).networks[name]
    keys = jax.random.split(jax.random.key(1), DRAWS)
    exact = function(own, jnp.asarray(AT), {channel})[channel]["u"]
    return np.asarray(
        jax.jit(jax.vmap(lambda key: function(own, jnp.asarray(AT), {channel}, key)[channel]["u"]))(keys)
    ), float(exact)


@pytest.mark.parametrize("channel", [LAPLACIAN, WEIGHTED, MIXED], ids=["laplacian", "weighted", "mixed"])
@pytest.mark.parametrize("network", [phi.MLP(width=8, depth=2), quadratic], ids=["carried", "unknown"])
def test_the_mean_of_the_estimates_is_the_operator(channel, network):
    with precision_scope("float64"):
        found, exact = drawn(network, channel, directions=2)
    assert np.std(found) > 0
    assert abs(np.mean(found) - exact) < 4 * np.std(found) / np.sqrt(DRAWS)


@pytest.mark.parametrize("directions", [1, 4])
def test_the_variance_falls_as_one_over_the_number_of_directions(directions):
    with precision_scope("float64"):
        found, exact = drawn(quadratic, LAPLACIAN, directions)
    assert exact == pytest.approx(np.trace(HESSIAN))
    off = HESSIAN - np.diag(np.diag(HESSIAN))
    assert np.var(found) == pytest.approx(2 * np.sum(off**2) / directions, rel=0.06)


def test_single_second_derivatives_are_estimated_where_there_are_many():
    wanted = {orders(i, i) for i in range(SIZE)} | {orders(0, 3), orders(1), orders()}
    with precision_scope("float64"):
        layout = Layout(laplace(), quadratic, scales={"u": 1.0}, directions=3)
        ((name, function),) = layout.functions.items()
        own = layout.initial(jax.random.key(0)).networks[name]
        keys = jax.random.split(jax.random.key(1), DRAWS)
        found = jax.jit(
            jax.vmap(lambda key: {o: v["u"] for o, v in function(own, jnp.asarray(AT), wanted, key).items()})
        )(keys)
        exact = function(own, jnp.asarray(AT), wanted)
    for channel in wanted:
        values = np.asarray(found[channel])
        assert (np.std(values) > 1e-9) == (sum(channel) == 2)
        assert abs(np.mean(values) - float(exact[channel]["u"])) < 4 * np.std(values) / np.sqrt(DRAWS) + 1e-12


def test_without_a_key_and_for_few_derivatives_nothing_is_estimated():
    with precision_scope("float64"):
        layout = Layout(laplace(), phi.MLP(width=8, depth=2), directions=SIZE)
        ((name, function),) = layout.functions.items()
        own = layout.initial(jax.random.key(0)).networks[name]
        few = function(own, jnp.asarray(AT), {LAPLACIAN}, jax.random.key(3))[LAPLACIAN]["u"]
        assert float(few) == float(function(own, jnp.asarray(AT), {LAPLACIAN})[LAPLACIAN]["u"])


def test_a_network_trains_on_estimates_and_is_evaluated_without():
    """-laplace u = 12 x 1 has the solution 6 - sum x^2 with its own values on the boundary."""
    import optax

    exact = SIZE - sum(axis**2 for axis in AXES)
    problem = phi.Problem(BOX, {"pde": phi.laplacian(U) + 2 * SIZE, "walls": phi.on(BOX.boundary, {U: exact})})
    compiled = phi.compile(problem, network=phi.MLP(width=24, depth=2), points=128, directions=2)
    trainer = phi.Trainer(1500, progress=False)
    balancer = phi.Static({"walls": 10.0})
    result = trainer.fit(
        compiled.module, datamodule=compiled.datamodule, optimizer=optax.adam(3e-3), balancer=balancer, seed=0
    )
    solution = phi.Solution.from_result(compiled, result)
    points = {
        axis.name: column
        for axis, column in zip(AXES, np.random.default_rng(2).uniform(-1, 1, (SIZE, 500)), strict=True)
    }
    known = SIZE - sum(column**2 for column in points.values())
    assert np.linalg.norm(solution.u(**points) - known) < 0.05 * np.linalg.norm(known)


def test_a_number_of_directions_that_is_none_is_refused():
    with pytest.raises(ValueError, match="directions=0 must be a whole number"):
        phi.compile(laplace(), directions=0)
