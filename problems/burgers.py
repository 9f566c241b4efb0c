"""Burgers' equation: a sine that steepens into a front."""

from sympy import Eq, pi, sin

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import burgers as cole_hopf

INFO = Info(
    target=5e-6,
    published=(1.6e-8, "self-scaled Broyden, 2878 s on a GPU"),
    classical=(3e-7, 0.11, "Chebyshev degree 96 on the half, BDF 1e-7"),
)


def problem(nu=0.01 / pi):
    x, t = phi.coordinate("x"), phi.time("t")
    u = phi.field("u", x, t)
    spacetime = phi.Interval(x, -1, 1) * phi.Interval(t, 0, 1)
    return phi.Problem(
        spacetime,
        {
            "pde": Eq(u.diff(t) + u * u.diff(x), nu * u.diff(x, 2)),
            "initial": phi.on(spacetime.at(t=0), Eq(u, -sin(pi * x)), exact=True),
            "walls": phi.on(spacetime.boundary(x), Eq(u, 0), exact=True),
        },
        reference=cole_hopf.reference(nu),
    )
