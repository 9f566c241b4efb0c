"""A square plate clamped at its edges, under a load that bends it to a product of squared sines."""

from sympy import Eq, pi, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-12, classical=(1.1e-14, 0.85, "Legendre-Galerkin of degree 24"))


def problem():
    x, y = phi.coordinates("x y")
    u = phi.field("u", x, y)
    square = phi.Rectangle((x, 0, 1), (y, 0, 1))
    plate = phi.Problem(
        square,
        {
            "pde": Eq(phi.laplacian(phi.laplacian(u)), 0),
            "clamped": phi.on(square.boundary, {"deflection": Eq(u, 0), "slope": Eq(phi.normal_derivative(u), 0)}),
        },
    )
    return phi.manufactured(plate, {u: sin(pi * x) ** 2 * sin(pi * y) ** 2})
