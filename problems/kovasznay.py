"""Kovasznay's flow behind a grid (1948), velocities and pressure given on the boundary."""

from sympy import Eq, Rational, cos, exp, pi, sin, sqrt

import phijax as phi
from phijax.problems import Info

INFO = Info(
    target=2e-7,
    classical=(3.3e-8, 1.1, "Chebyshev collocation of degree 18, least squares, Newton"),
)


def problem(Re=40.0):
    x, y = phi.coordinates("x y")
    u, v, p = phi.fields("u v p", x, y)
    box = phi.Rectangle((x, -Rational(1, 2), 1), (y, -Rational(1, 2), Rational(3, 2)))
    rate = Re / 2 - sqrt(Re**2 / 4 + 4 * pi**2)
    exact = {
        u: 1 - exp(rate * x) * cos(2 * pi * y),
        v: rate / (2 * pi) * exp(rate * x) * sin(2 * pi * y),
        p: (1 - exp(2 * rate * x)) / 2,
    }

    def momentum(w, axis):
        return Eq(u * w.diff(x) + v * w.diff(y), -p.diff(axis) + phi.laplacian(w) / Re)

    return phi.Problem(
        box,
        {
            "flow": {"momentum_x": momentum(u, x), "momentum_y": momentum(v, y), "continuity": phi.div((u, v))},
            "boundary": phi.on(box.boundary, exact),
        },
        reference=exact,
    )
