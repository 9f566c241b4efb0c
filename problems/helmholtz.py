"""Helmholtz's equation on [-1, 1]^2, with a product of sines for its solution."""

from sympy import Eq, S, pi, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(
    target=1e-12,
    published=(2.0e-9, "SPRING, 540 s on a GPU"),
    classical=(6e-15, 0.25, "Chebyshev collocation of degree 36"),
)


def problem(a=(1, 4), k=S.One):
    x, y = phi.coordinates("x y")
    u = phi.field("u", x, y)
    square = phi.Rectangle((x, -1, 1), (y, -1, 1))
    helmholtz = phi.Problem(
        square,
        {"pde": Eq(phi.laplacian(u) + k**2 * u, 0), "walls": phi.on(square.boundary, Eq(u, 0), exact=True)},
    )
    return phi.manufactured(helmholtz, {u: sin(a[0] * pi * x) * sin(a[1] * pi * y)})
