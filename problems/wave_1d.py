"""The wave equation on a string that starts at rest, modes 1 and 4."""

from sympy import Eq, cos, pi, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(
    target=1e-10,
    published=(1.2e-15, "635 s on a GPU"),
    classical=(2.9e-14, 0.041, "Chebyshev degree 32, matrix exponential"),
)


def problem():
    x, t = phi.coordinate("x"), phi.time("t")
    u = phi.field("u", x, t)
    string = phi.Interval(x, 0, 1) * phi.Interval(t, 0, 1)
    exact = sin(pi * x) * cos(2 * pi * t) + sin(4 * pi * x) * cos(8 * pi * t) / 2
    return phi.Problem(
        string,
        {
            "pde": Eq(u.diff(t, 2), 4 * u.diff(x, 2)),
            "initial": phi.on(string.at(t=0), {"shape": Eq(u, exact.subs(t, 0)), "rest": Eq(u.diff(t), 0)}, exact=True),
            "ends": phi.on(string.boundary(x), Eq(u, 0), exact=True),
        },
        reference={u: exact},
    )
