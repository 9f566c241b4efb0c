"""Poisson's equation in a ring of triangles, as a file of them says, with a product of sines for its solution."""

from pathlib import Path

from sympy import Eq, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-3, classical=(8.9e-5, 3.2, "quadratic elements on tetrahedra"))
TORUS = Path(__file__).parent / "references" / "torus.stl"


def problem():
    x, y, z = phi.coordinates("x y z")
    u = phi.field("u", x, y, z)
    torus = phi.read_mesh((x, y, z), TORUS)
    poisson = phi.Problem(torus, {"pde": Eq(-phi.laplacian(u), 0), "surface": phi.on(torus.boundary, Eq(u, 0))})
    return phi.manufactured(poisson, {u: sin(x) * sin(y) * sin(z)})
