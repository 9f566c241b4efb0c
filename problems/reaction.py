"""Logistic growth at each point of a ring, from a Gaussian."""

from sympy import Eq, exp, pi

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-4, classical=(2.8e-11, 0.029, "Runge-Kutta of order 8, tolerance 1e-10"))


def problem(rho=5):
    x, t = phi.coordinate("x"), phi.time("t")
    u = phi.field("u", x, t)
    ring = phi.Interval(x, 0, 2 * pi, periodic=True) * phi.Interval(t, 0, 1)
    start = exp(-((x - pi) ** 2) / (2 * (pi / 4) ** 2))
    return phi.Problem(
        ring,
        {"pde": Eq(u.diff(t), rho * u * (1 - u)), "initial": phi.on(ring.at(t=0), Eq(u, start))},
        reference={u: start / (start + (1 - start) * exp(-rho * t))},
    )
