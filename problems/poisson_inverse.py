"""An unknown conductivity a(x, y), given at the edge, from noisy values of the potential at 2500 random points."""

import numpy as np
from sympy import Eq, pi, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(target={"u": 5e-2, "a": 5e-2})


def observations(noise):
    """2500 points of the unit square, the same at every call; noise: its standard deviation."""
    random = np.random.default_rng(2026)
    x, y = random.uniform(0, 1, (2, 2500))
    return {"x": x, "y": y, "u": np.sin(np.pi * x) * np.sin(np.pi * y) + noise * random.standard_normal(2500)}


def problem(noise=0.1):
    x, y = phi.coordinates("x y")
    u, a = phi.fields("u a", x, y)
    square = phi.Rectangle((x, 0, 1), (y, 0, 1))
    flow = phi.Problem(
        square,
        {
            "pde": Eq(phi.div(a * phi.grad(u)), 0),
            "edge": phi.on(square.boundary, Eq(a, 0)),
            "observed": phi.data(observations(noise)),
        },
    )
    known = 1 / (1 + x**2 + y**2 + (x - 1) ** 2 + (y - 1) ** 2)
    return phi.manufactured(flow, {u: sin(pi * x) * sin(pi * y), a: known})
