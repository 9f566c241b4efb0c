"""Heat through a rod of two materials, each with a temperature of its own, that meet halfway."""

from sympy import Eq, Rational

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-12, classical=(1e-15, 0.036, "linear finite elements, one on each side"))


def problem(k1=1, k2=10):
    x = phi.coordinate("x")
    left, right = phi.Interval(x, 0, Rational(1, 2)), phi.Interval(x, Rational(1, 2), 1)
    T1, T2 = phi.field("T1", x, on=left), phi.field("T2", x, on=right)
    flux = Rational(2 * k1 * k2) / (k1 + k2)
    return phi.Problem(
        phi.Interval(x, 0, 1),
        {
            "left_heat": phi.on(left, Eq(k1 * T1.diff(x, 2), 0)),
            "right_heat": phi.on(right, Eq(k2 * T2.diff(x, 2), 0)),
            "cold": phi.on(left.side("left"), Eq(T1, 0)),
            "hot": phi.on(right.side("right"), Eq(T2, 1)),
            "joint": phi.on(
                phi.interface(left, right),
                {
                    "temperature": Eq(T1, T2),
                    "flux": Eq(k1 * phi.normal_derivative(T1), k2 * phi.normal_derivative(T2)),
                },
            ),
        },
        reference={T1: flux / k1 * x, T2: 1 - flux / k2 * (1 - x)},
    )
