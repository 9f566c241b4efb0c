"""The Allen-Cahn equation: fronts between -1 and 1 from a value with a kink at the periodic seam, or a smooth one."""

from sympy import Eq, cos, pi, sin

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import allen_cahn as spectral

INFO = Info(
    target=2e-4,
    published=(9.4e-7, "self-scaled Broyden, against a file that is good to 1e-5"),
    classical=(1.3e-8, 0.94, "spectral elements of degree 12, order 8 in time"),
)


def problem(variant="kink"):
    x, t = phi.coordinate("x"), phi.time("t")
    u = phi.field("u", x, t)
    ring = phi.Interval(x, -1, 1, periodic=True) * phi.Interval(t, 0, 1)
    start = {"kink": x**2, "smooth": sin(pi * x / 2) ** 2}
    reference = spectral.reference(variant)
    return phi.Problem(
        ring,
        {
            "pde": Eq(u.diff(t), 1e-4 * u.diff(x, 2) + 5 * u - 5 * u**3),
            "initial": phi.on(ring.at(t=0), Eq(u, start[variant] * cos(pi * x))),
        },
        reference=reference,
    )
