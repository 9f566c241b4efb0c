"""Poisson's equation on an L, whose solution has a slope without bound at the reentrant corner."""

from sympy import Eq

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import poisson_lshape as particular

INFO = Info(target=1e-3, classical=(4.7e-5, 0.44, "quadratic elements, refined at the corner"))


def problem():
    x, y = phi.coordinates("x y")
    u = phi.field("u", x, y)
    L = phi.Rectangle((x, -1, 1), (y, -1, 1)) - phi.Rectangle((x, 0, 1), (y, -1, 0))
    return phi.Problem(
        L,
        {"pde": Eq(-phi.laplacian(u), 1), "walls": phi.on(L.boundary, Eq(u, 0))},
        reference=particular.reference(),
    )
