"""The heat equation with conductivities that differ by the square of 500: twenty half waves across, one along.

One scale of random features for all coordinates finds nothing, and neither does a trained network; one for each, by how
fast the initial values vary along it, does.
"""

from sympy import Eq, exp, pi, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-2, classical=(6.2e-10, 0.078, "Chebyshev collocation of degrees 64, 20 and 20"))


def problem(t_end=5):
    x, y, t = *phi.coordinates("x y"), phi.time("t")
    u = phi.field("u", x, y, t)
    plate = phi.Rectangle((x, 0, 1), (y, 0, 1)) * phi.Interval(t, 0, t_end)
    start = sin(20 * pi * x) * sin(pi * y)
    rate = (20 * pi / (500 * pi)) ** 2 + 1
    return phi.Problem(
        plate,
        {
            "pde": Eq(u.diff(t), u.diff(x, 2) / (500 * pi) ** 2 + u.diff(y, 2) / pi**2),
            "initial": phi.on(plate.at(t=0), Eq(u, start), exact=True),
            "edges": phi.on(plate.boundary, Eq(u, 0), exact=True),
        },
        reference={u: start * exp(-rate * t)},
    )
