"""Heat in an insulated plate from a round hole, through which the air's temperature swings."""

from sympy import Eq, Rational, pi, sin

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import heat_fin as galerkin

INFO = Info(target=5e-3, classical=(1.3e-4, 0.5, "curved quadratic elements on an eighth, trapezoidal rule"))


def problem():
    x, y, t = *phi.coordinates("x y"), phi.time("t")
    T = phi.field("T", x, y, t)
    half, k = Rational(1, 2), Rational(1, 10)
    square = phi.Rectangle((x, 0, 1), (y, 0, 1)).named("outside")
    plate = square - phi.Disk((x, y), (half, half), Rational(1, 5)).named("hole")
    heated = plate * phi.Interval(t, 0, 1)
    return phi.Problem(
        heated,
        {
            "pde": Eq(T.diff(t), k * phi.laplacian(T)),
            "initial": phi.on(heated.at(t=0), Eq(T, 0)),
            "hole": phi.on(plate.side("hole"), Eq(k * phi.normal_derivative(T), sin(pi * t) - T)),
            "outside": phi.on(plate.side("outside"), Eq(phi.normal_derivative(T), 0)),
        },
        reference=galerkin.reference(),
    )
