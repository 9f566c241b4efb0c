"""The nonlinear Schrodinger equation: two solitons, bound and breathing (Satsuma and Yajima 1974)."""

from sympy import Eq, I, cos, cosh, exp, pi, sech

import phijax as phi
from phijax.problems import Info

INFO = Info(
    target=1e-4,
    published=(2e-3, "L-BFGS (Raissi, Perdikaris and Karniadakis 2019)"),
    classical=(4.9e-7, 0.22, "split step of order 4, 512 Fourier modes, 800 steps"),
)


def problem():
    x, t = phi.coordinate("x"), phi.time("t")
    h = phi.field("h", x, t, complex=True)
    spacetime = phi.Interval(x, -15, 15) * phi.Interval(t, 0, pi / 2)
    breather = 4 * exp(I * t / 2) * (cosh(3 * x) + 3 * exp(4 * I * t) * cosh(x))
    breather /= cosh(4 * x) + 4 * cosh(2 * x) + 3 * cos(4 * t)
    return phi.Problem(
        spacetime,
        {
            "pde": Eq(I * h.diff(t) + h.diff(x, 2) / 2 + abs(h) ** 2 * h, 0),
            "initial": phi.on(spacetime.at(t=0), Eq(h, 2 * sech(x))),
            "ends": phi.on(spacetime.boundary(x), Eq(h, breather)),
        },
        reference={h: breather},
    )
