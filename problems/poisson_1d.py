"""Poisson's equation on an interval, with k half waves of a sine for its solution."""

from sympy import Eq, pi, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-12, classical=(7.3e-15, 0.069, "Chebyshev collocation of degree 20"))


def problem(k=1):
    x = phi.coordinate("x")
    u = phi.field("u", x)
    line = phi.Interval(x, 0, 1)
    poisson = phi.Problem(line, {"pde": Eq(-u.diff(x, 2), 0), "ends": phi.on(line.boundary, Eq(u, 0), exact=True)})
    return phi.manufactured(poisson, {u: sin(k * pi * x)})
