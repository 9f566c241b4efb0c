"""The heat equation on a rod for a whole range of diffusivities at once."""

from sympy import Eq, Rational, exp, pi, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(target=5e-8, classical=(9.1e-10, 0.058, "Chebyshev collocation of degrees 16 and 20 at 13 diffusivities"))


def problem():
    x, t, kappa = phi.coordinate("x"), phi.time("t"), phi.coordinate("kappa", kind="parameter")
    u = phi.field("u", x, t, kappa)
    rods = phi.Interval(x, 0, 1) * phi.Interval(t, 0, 1) * phi.Interval(kappa, Rational(1, 20), Rational(1, 2))
    return phi.Problem(
        rods,
        {
            "pde": Eq(u.diff(t), kappa * u.diff(x, 2)),
            "initial": phi.on(rods.at(t=0), Eq(u, sin(pi * x)), exact=True),
            "ends": phi.on(rods.boundary(x), Eq(u, 0), exact=True),
        },
        reference={u: sin(pi * x) * exp(-kappa * pi**2 * t)},
    )
