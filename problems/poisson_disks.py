"""Laplace's equation between a square at potential 1 and four disks at potential 0."""

from sympy import Eq, Rational

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import poisson_disks as series

INFO = Info(target=1e-3, classical=(1.1e-5, 0.076, "curved quadratic elements on an eighth"))


def problem():
    x, y = phi.coordinates("x y")
    u = phi.field("u", x, y)
    half, away, radius = Rational(1, 2), Rational(3, 10), Rational(1, 10)
    plate = phi.Rectangle((x, -half, half), (y, -half, half)).named("outside")
    for centre in [(sx * away, sy * away) for sx in (-1, 1) for sy in (-1, 1)]:
        plate = plate - phi.Disk((x, y), centre, radius).named("disks")
    return phi.Problem(
        plate,
        {
            "pde": Eq(phi.laplacian(u), 0),
            "outside": phi.on(plate.side("outside"), Eq(u, 1)),
            "disks": phi.on(plate.side("disks"), Eq(u, 0)),
        },
        reference=series.reference(),
    )
