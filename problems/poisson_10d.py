"""Laplace's equation in ten dimensions, with a sum of products for its solution."""

from sympy import Eq

import phijax as phi
from phijax.problems import Info

INFO = Info(
    target=3e-4,
    published=(2.2e-5, "a plain network"),
    classical=(1e-15, 0.14, "Chebyshev collocation of degree 2 in each direction"),
)


def problem():
    axes = phi.coordinates("x1 x2 x3 x4 x5 x6 x7 x8 x9 x10")
    u = phi.field("u", *axes)
    cube = phi.Box(*((axis, 0, 1) for axis in axes))
    poisson = phi.Problem(cube, {"pde": Eq(-phi.laplacian(u), 0), "walls": phi.on(cube.boundary, Eq(u, 0))})
    return phi.manufactured(poisson, {u: sum(a * b for a, b in zip(axes[::2], axes[1::2], strict=True))})
