"""Poisson's equation on the unit square, with sines of four lengths for its solution.

400 random features tell nothing of it, and a trained network is at 2.6e-2 after two minutes of one core; 2000 features, to
which `solve` comes by how fast the source varies, are below 1e-6.
"""

from sympy import Eq, Rational, pi, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-5, classical=(9.9e-15, 0.065, "Chebyshev collocation of degree 64"))


def problem(w=(4, 8, 12, 16)):
    x, y = phi.coordinates("x y")
    u = phi.field("u", x, y)
    square = phi.Rectangle((x, 0, 1), (y, 0, 1))
    poisson = phi.Problem(
        square, {"pde": Eq(-phi.laplacian(u), 0), "walls": phi.on(square.boundary, Eq(u, 0), exact=True)}
    )
    return phi.manufactured(poisson, {u: Rational(1, len(w)) * sum(sin(k * pi * x) * sin(k * pi * y) for k in w)})
