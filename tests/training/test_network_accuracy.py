"""Every network solves Poisson's equation on a line by Gauss-Newton and, less far, by Adam."""

import numpy as np
import optax
import pytest
from sympy import Eq, pi, sin

import phijax as phi

x = phi.coordinate("x")
u = phi.field("u", x)
LINE = phi.Interval(x, -1, 1)
POISSON = phi.Problem(
    LINE,
    {"pde": Eq(u.diff(x, 2), -(pi**2) * sin(pi * x)), "ends": phi.on(LINE.boundary, Eq(u, 0), exact=True)},
)
# The network, the error that Gauss-Newton reaches in 60 steps, and the rate of Adam.
NETWORKS = {
    "siren": (phi.SIREN(width=12, depth=2), 1e-6, 1e-2),
    "separable": (phi.Separable(phi.MLP(width=12, depth=1), rank=4), 1e-4, 3e-2),
    "factorized": (phi.MLP(width=12, depth=2, factorized=True), 3e-5, 1e-2),
    "gelu": (phi.MLP(width=12, depth=2, activation="gelu"), 2e-6, 2e-2),
}


def error(network, optimizer, steps, precision):
    """Largest error of u = sin(pi x)."""
    solution = phi.solve(
        POISSON,
        seed=0,
        network=network,
        optimizer=optimizer,
        max_steps=steps,
        points=128,
        precision=precision,
        progress=False,
    )
    at = np.linspace(-1, 1, 201)
    return np.max(np.abs(solution.u(x=at) - np.sin(np.pi * at)))


@pytest.mark.parametrize("name", NETWORKS)
def test_gauss_newton_solves_poissons_equation_by_every_network(name):
    network, reached, _ = NETWORKS[name]
    assert error(network, phi.GaussNewton(refresh=3), 60, "float64") < reached


@pytest.mark.parametrize("name", NETWORKS)
def test_adam_solves_poissons_equation_by_every_network(name):
    network, _, rate = NETWORKS[name]
    assert error(network, optax.adam(optax.exponential_decay(rate, 300, 0.3)), 1500, "float32") < 1e-2
