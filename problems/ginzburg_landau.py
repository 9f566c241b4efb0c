"""The complex Ginzburg-Landau equation on a periodic square: one vortex that winds up into a spiral."""

from sympy import Eq, I, Rational, exp

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import ginzburg_landau as spectral

INFO = Info(target=1e-2, classical=(4.6e-6, 0.89, "128 x 128 modes, exponential time differencing"))


def problem(k=10, eps=0.004, t_end=0.2):
    x, y, t = *phi.coordinates("x y"), phi.time("t")
    A = phi.field("A", x, y, t, complex=True)
    torus = phi.Interval(x, -1, 1, periodic=True) * phi.Interval(y, -1, 1, periodic=True) * phi.Interval(t, 0, t_end)
    return phi.Problem(
        torus,
        {
            "pde": Eq(A.diff(t), eps * phi.laplacian(A) + k * (A - (1 + Rational(3, 2) * I) * A * abs(A) ** 2)),
            "initial": phi.on(torus.at(t=0), Eq(A, 10 * (y + I * x) * exp(-25 * (x**2 + y**2)))),
        },
        reference=spectral.reference(k, eps, t_end),
    )
