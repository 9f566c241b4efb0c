"""Volterra's integro-differential equation whose solution is the sine."""

from sympy import Eq, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-12, classical=(1.2e-15, 0.0065, "Chebyshev collocation of degree 20"))


def problem():
    x = phi.coordinate("x")
    u = phi.field("u", x)
    line = phi.Interval(x, 0, 5)
    return phi.Problem(
        line,
        {"pde": Eq(u.diff(x), 1 - phi.integral(u, (x, 0, x))), "start": phi.on(line.at(x=0), Eq(u, 0))},
        reference={u: sin(x)},
    )
