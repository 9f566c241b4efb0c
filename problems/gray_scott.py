"""The reaction of Gray and Scott on a periodic square: v feeds on u, spreads and divides.

The two bumps at first stand with their nearest images: alone they would leave jumps of 1e-4 across the seams.
"""

from sympy import Eq, Rational, exp

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import gray_scott as spectral

INFO = Info(target={"u": 1e-2, "v": 1e-2}, classical=(4.8e-6, 1.9, "96 x 96 modes, exponential time differencing"))


def problem(t_end=0.2):
    x, y, t = *phi.coordinates("x y"), phi.time("t")
    u, v = phi.fields("u v", x, y, t)
    torus = phi.Interval(x, -1, 1, periodic=True) * phi.Interval(y, -1, 1, periodic=True) * phi.Interval(t, 0, t_end)
    turned = 1000 * u * v**2

    def along(axis, centre):
        return sum(exp(-10 * (axis - centre - shift) ** 2) for shift in (-2, 0, 2))

    def bump(side):
        return along(x, side * Rational(1, 20)) * along(y, side * Rational(1, 50))

    return phi.Problem(
        torus,
        {
            "reaction": {
                "food": Eq(u.diff(t), phi.laplacian(u) / 5 + 40 * (1 - u) - turned),
                "eater": Eq(v.diff(t), phi.laplacian(v) / 10 - 100 * v + turned),
            },
            "initial": phi.on(torus.at(t=0), {u: 1 - bump(-1), v: bump(1)}),
        },
        reference=spectral.reference(t_end),
    )
