"""Lorenz' equations with unknown constants, from 25 readings of all three unknowns."""

from dataclasses import replace

import numpy as np
from sympy import Eq

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import lorenz as taylor

INFO = Info(
    target={"sigma": 1e-5, "rho": 1e-5, "beta": 1e-5},
    classical=({"sigma": 2.2e-11, "rho": 5.6e-12, "beta": 5.8e-12}, 0.62, "least squares over Runge-Kutta of order 8"),
)


def problem():
    t = phi.time("t")
    x, y, z = phi.fields("x y z", t)
    sigma, rho, beta = (phi.parameter(name, initial=1.0) for name in ("sigma", "rho", "beta"))
    known, times = taylor.reference(), np.linspace(0, 3, 25)
    return phi.Problem(
        phi.Interval(t, 0, 3),
        {
            "x": Eq(x.diff(t), sigma * (y - x)),
            "y": Eq(y.diff(t), x * (rho - z) - y),
            "z": Eq(z.diff(t), x * y - beta * z),
            "observed": phi.data({"t": times, **known.solver(t=times)}),
        },
        reference=replace(known, values=dict(zip((sigma, rho, beta), taylor.CONSTANTS, strict=True))),
    )
