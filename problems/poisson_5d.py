"""Poisson's equation in five dimensions, with a sum of cosines for its solution."""

from sympy import Eq, cos, pi

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-3, classical=(3.8e-10, 0.31, "Chebyshev collocation of degree 10 in each direction"))


def problem():
    axes = phi.coordinates("x1 x2 x3 x4 x5")
    u = phi.field("u", *axes)
    cube = phi.Box(*((axis, 0, 1) for axis in axes))
    poisson = phi.Problem(cube, {"pde": Eq(-phi.laplacian(u), 0), "walls": phi.on(cube.boundary, Eq(u, 0))})
    return phi.manufactured(poisson, {u: sum(cos(pi * axis) for axis in axes)})
