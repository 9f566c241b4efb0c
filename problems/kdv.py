"""The equation of Korteweg and de Vries: a cosine that breaks up into solitons (Zabusky and Kruskal 1965)."""

from sympy import Eq, cos, pi

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import kdv as spectral

INFO = Info(
    target=3e-4,
    published=(8e-11, "self-scaled Broyden, 1210 s on a GPU"),
    classical=(5.1e-8, 0.55, "192 Fourier modes, exponential time differencing"),
)


def problem(delta=0.022, t_end=1.0):
    x, t = phi.coordinate("x"), phi.time("t")
    u = phi.field("u", x, t)
    ring = phi.Interval(x, -1, 1, periodic=True) * phi.Interval(t, 0, t_end)
    return phi.Problem(
        ring,
        {
            "pde": Eq(u.diff(t) + u * u.diff(x) + delta**2 * u.diff(x, 3), 0),
            "initial": phi.on(ring.at(t=0), Eq(u, cos(pi * x))),
        },
        reference=spectral.reference(delta, t_end),
    )
