"""Poisson's equation on the unit square, with a product of sines for its solution."""

from sympy import Eq, pi, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(
    target=1e-12,
    published=(6.1e-8, "energy natural gradient, 468 s"),
    classical=(7.7e-15, 0.1, "Chebyshev collocation of degree 20"),
)


def problem(f=1):
    x, y = phi.coordinates("x y")
    u = phi.field("u", x, y)
    square = phi.Rectangle((x, 0, 1), (y, 0, 1))
    poisson = phi.Problem(
        square, {"pde": Eq(-phi.laplacian(u), 0), "walls": phi.on(square.boundary, Eq(u, 0), exact=True)}
    )
    return phi.manufactured(poisson, {u: sin(f * pi * x) * sin(f * pi * y)})
