"""Poisson's equation in the unit ball of a hundred dimensions: the square of the norm, or a sum over neighbours.

nonseparable: u = (1 - r^2) sum of c_i sin(x_i + cos x_{i+1} + x_{i+1} cos x_i) (Hu, Shukla, Karniadakis and Kawaguchi
2024), with c_i from the normal distribution.
"""

import jax.numpy as jnp
import numpy as np
from sympy import Eq, cos, lambdify, sin, symbols

import phijax as phi
from phijax.problems import Info

INFO = Info(target=1e-2, classical=(3.2e-3, 9.9, "walks on spheres, 100 from each of 100 points"))
WEIGHTS = np.random.default_rng(2026).standard_normal(99)
A, B = symbols("a b")
TERM = sin(A + cos(B) + B * cos(A))
PARTS = lambdify(
    [A, B], [TERM, A * TERM.diff(A) + B * TERM.diff(B), TERM.diff(A, 2) + TERM.diff(B, 2)], "jax"
)  # of a neighbour pair: value, x . grad, laplacian


def source(*x):
    """-lap of the sum over neighbours: for p = 1 - r^2, lap (p s) = p lap s - 4 x . grad s - 200 s."""
    x = jnp.stack(x)
    value, slope, curvature = (jnp.tensordot(WEIGHTS, part, 1) for part in PARTS(x[:-1], x[1:]))
    return 4 * slope + 200 * value - (1 - jnp.sum(x**2, axis=0)) * curvature


def problem(variant="norm"):
    axes = phi.coordinates(" ".join(f"x{i}" for i in range(1, 101)))
    u = phi.field("u", *axes)
    ball = phi.Ball(axes, (0,) * 100, 1)
    square = sum(axis**2 for axis in axes)
    if variant == "norm":
        exact, load, edge = square, -sum(square.diff(axis, 2) for axis in axes), 1
    elif variant == "nonseparable":
        terms = (c * TERM.subs({A: a, B: b}) for c, a, b in zip(WEIGHTS, axes, axes[1:], strict=False))
        exact, load, edge = (1 - square) * sum(terms), phi.function("f", source)(*axes), 0
    else:
        raise ValueError(f"poisson_100d has no variant {variant!r}; there are: norm, nonseparable.")
    return phi.Problem(
        ball,
        {"pde": Eq(-phi.laplacian(u), load), "surface": phi.on(ball.boundary, Eq(u, edge))},
        reference={u: exact},
    )
