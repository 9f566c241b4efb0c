"""Fisher's equation on a ring: logistic growth and diffusion, from a Gaussian."""

from sympy import Eq, exp, pi

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import reaction_diffusion as spectral

INFO = Info(target=1e-5, classical=(2.1e-7, 0.53, "128 Fourier modes, exponential time differencing"))


def problem(nu=5.0, rho=5.0):
    x, t = phi.coordinate("x"), phi.time("t")
    u = phi.field("u", x, t)
    ring = phi.Interval(x, 0, 2 * pi, periodic=True) * phi.Interval(t, 0, 1)
    start = exp(-((x - pi) ** 2) / (2 * (pi / 4) ** 2))
    return phi.Problem(
        ring,
        {
            "pde": Eq(u.diff(t), nu * u.diff(x, 2) + rho * u * (1 - u)),
            "initial": phi.on(ring.at(t=0), Eq(u, start)),
        },
        reference=spectral.reference(nu, rho),
    )
