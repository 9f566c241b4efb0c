"""The stationary density of an Ornstein-Uhlenbeck process, by the equation of Fokker and Planck.

Its integral alone leaves a flux through the line open, so that the ends let none pass.
"""

from sympy import Eq, erf, exp, pi, sqrt

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-6, classical=(2.5e-15, 0.022, "Chebyshev collocation of degree 64, least squares"))


def problem():
    x = phi.coordinate("x")
    p = phi.field("p", x)
    line = phi.Interval(x, -5, 5)
    return phi.Problem(
        line,
        {
            "pde": Eq(p.diff(x, 2) + (x * p).diff(x), 0),
            "ends": phi.on(line.boundary, Eq(p.diff(x) + x * p, 0)),
            "mass": Eq(phi.integral(p, over=line), 1),
        },
        reference={p: exp(-(x**2) / 2) / (sqrt(2 * pi) * erf(5 / sqrt(2)))},
    )
