"""Convection of a sine round a ring, fifty radians in the time."""

from sympy import Eq, pi, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(
    target=1e-11,
    published=(5.4e-6, "a curriculum and many networks"),
    classical=(1.3e-15, 0.011, "64 Fourier modes, each turned"),
)


def problem(beta=50):
    x, t = phi.coordinate("x"), phi.time("t")
    u = phi.field("u", x, t)
    ring = phi.Interval(x, 0, 2 * pi, periodic=True) * phi.Interval(t, 0, 1)
    return phi.Problem(
        ring,
        {
            "pde": Eq(u.diff(t) + beta * u.diff(x), 0),
            "initial": phi.on(ring.at(t=0), Eq(u, sin(x))),
        },
        reference={u: sin(x - beta * t)},
    )
