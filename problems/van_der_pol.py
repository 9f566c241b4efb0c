"""Van der Pol's oscillator, which rests and leaps."""

from sympy import Eq

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import van_der_pol as taylor

INFO = Info(target=2e-5, classical=(1.1e-11, 0.054, "Runge-Kutta of order 8, tolerance 1e-10"))


def problem(mu=5.0, t_end=10.0):
    t = phi.time("t")
    x = phi.field("x", t)
    span = phi.Interval(t, 0, t_end)
    return phi.Problem(
        span,
        {
            "ode": Eq(x.diff(t, 2), mu * (1 - x**2) * x.diff(t) - x),
            "start": phi.on(span.at(t=0), {"value": Eq(x, 2), "velocity": Eq(x.diff(t), 0)}),
        },
        reference=taylor.reference(mu, t_end),
    )
