"""The equations of Lotka and Volterra: prey x, predator y."""

from sympy import Eq, Rational

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import lotka_volterra as taylor

INFO = Info(
    target=1e-4,
    classical=(5.6e-11, 0.029, "Runge-Kutta of order 8, tolerance 1e-10"),
)


def problem(t_end=10.0):
    t = phi.time("t")
    x, y = phi.fields("x y", t)
    span = phi.Interval(t, 0, t_end)
    return phi.Problem(
        span,
        {
            "prey": Eq(x.diff(t), Rational(3, 2) * x - x * y),
            "predator": Eq(y.diff(t), x * y - 3 * y),
            "start": phi.on(span.at(t=0), {x: 1, y: 1}),
        },
        reference=taylor.reference(t_end),
    )
