"""The heat equation in four dimensions of space, with a sum of cosines that fade."""

from sympy import Eq, cos, exp, pi

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-3, classical=(4.1e-10, 0.14, "Chebyshev collocation of degree 10 in space, 8 in time"))


def problem(k=0.05):
    *axes, t = *phi.coordinates("x1 x2 x3 x4"), phi.time("t")
    u = phi.field("u", *axes, t)
    cube = phi.Box(*((axis, 0, 1) for axis in axes)) * phi.Interval(t, 0, 1)
    exact = exp(-k * pi**2 * t) * sum(cos(pi * axis) for axis in axes)
    return phi.Problem(
        cube,
        {
            "pde": Eq(u.diff(t), k * phi.laplacian(u)),
            "initial": phi.on(cube.at(t=0), Eq(u, exact.subs(t, 0))),
            "walls": phi.on(cube.boundary, Eq(u, exact)),
        },
        reference={u: exact},
    )
