"""The heat equation on a rod, two modes."""

from sympy import Eq, Rational, exp, pi, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(
    target=1e-7,
    classical=(9.2e-15, 0.031, "Chebyshev degree 24, matrix exponential"),
)


def problem():
    x, t = phi.coordinate("x"), phi.time("t")
    u = phi.field("u", x, t)
    rod = phi.Interval(x, 0, 1) * phi.Interval(t, 0, 1)
    kappa = Rational(1, 10)

    def mode(k):
        return sin(k * pi * x) * exp(-kappa * (k * pi) ** 2 * t)

    exact = mode(1) + mode(3) / 2
    return phi.Problem(
        rod,
        {
            "pde": Eq(u.diff(t), kappa * u.diff(x, 2)),
            "initial": phi.on(rod.at(t=0), Eq(u, exact.subs(t, 0)), exact=True),
            "ends": phi.on(rod.boundary(x), Eq(u, 0), exact=True),
        },
        reference={u: exact},
    )
