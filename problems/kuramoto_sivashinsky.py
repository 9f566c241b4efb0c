"""The equation of Kuramoto and Sivashinsky on a ring: a wave that turns chaotic."""

from sympy import Eq, Rational, cos, pi, sin

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import kuramoto_sivashinsky as spectral

INFO = Info(target=1e-2, classical=(6.1e-8, 0.31, "192 Fourier modes, exponential time differencing"))


def problem(t_end=0.5):
    x, t = phi.coordinate("x"), phi.time("t")
    u = phi.field("u", x, t)
    ring = phi.Interval(x, 0, 2 * pi, periodic=True) * phi.Interval(t, 0, t_end)
    steepening, growth, damping = (Rational(100, 16**power) for power in (1, 2, 4))
    change = steepening * u * u.diff(x) + growth * u.diff(x, 2) + damping * u.diff(x, 4)
    return phi.Problem(
        ring,
        {
            "pde": Eq(u.diff(t) + change, 0),
            "initial": phi.on(ring.at(t=0), Eq(u, cos(x) * (1 + sin(x)))),
        },
        reference=spectral.reference(t_end),
    )
