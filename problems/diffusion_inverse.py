"""The diffusion equation with an unknown diffusivity, from ten values at the last time."""

import numpy as np
from sympy import Eq, exp, pi, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(
    target={"D": 1e-3},
    classical=({"D": 2.4e-12}, 0.26, "Chebyshev degree 24, Radau, Brent's root"),
)


def problem():
    x, t = phi.coordinate("x"), phi.time("t")
    u = phi.field("u", x, t)
    D = phi.parameter("D", initial=2.0)
    spacetime = phi.Interval(x, -1, 1) * phi.Interval(t, 0, 1)
    xs = np.linspace(-1, 1, 12)[1:-1]
    return phi.Problem(
        spacetime,
        {
            "pde": Eq(u.diff(t), D * u.diff(x, 2) + exp(-t) * sin(pi * x) * (pi**2 - 1)),
            "initial": phi.on(spacetime.at(t=0), Eq(u, sin(pi * x))),
            "ends": phi.on(spacetime.boundary(x), Eq(u, 0)),
            "observed": phi.data({"x": xs, "t": np.ones(10), "u": np.exp(-1) * np.sin(np.pi * xs)}),
        },
        reference={u: exp(-t) * sin(pi * x), D: 1},
    )
