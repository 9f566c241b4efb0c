"""Burgers' equation with unknown coefficients, from values at 2000 random points."""

from dataclasses import replace

import numpy as np
from sympy import Eq

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import burgers as cole_hopf

INFO = Info(
    target={"lambda1": 5e-4, "lambda2": 5e-3},
    published=({"lambda1": 8e-4, "lambda2": 4.7e-2}, "a cylinder wake's coefficients, clean (Raissi et al. 2019)"),
    classical=(
        {"lambda1": 1.2e-7, "lambda2": 2.3e-6},
        1.4,
        "least squares over Chebyshev collocation and BDF, initial value and walls known",
    ),
)
NU = 0.01 / np.pi


def observations(noise):
    """2000 points of [-1, 1] x [0, 1], the same at every call; noise in standard deviations of u."""
    random = np.random.default_rng(2026)
    x, t = random.uniform(-1, 1, 2000), random.uniform(0, 1, 2000)
    u = cole_hopf.cole_hopf(x, t, NU)
    return {"x": x, "t": t, "u": u + noise * u.std() * random.standard_normal(2000)}


def problem(noise=0.0):
    x, t = phi.coordinate("x"), phi.time("t")
    u = phi.field("u", x, t)
    lambda1 = phi.parameter("lambda1", initial=0.0)
    lambda2 = phi.parameter("lambda2", initial=0.01, positive=True)
    return phi.Problem(
        phi.Interval(x, -1, 1) * phi.Interval(t, 0, 1),
        {
            "pde": Eq(u.diff(t) + lambda1 * u * u.diff(x), lambda2 * u.diff(x, 2)),
            "observed": phi.data(observations(noise)),
        },
        reference=replace(cole_hopf.reference(NU), values={lambda1: 1.0, lambda2: NU}),
    )
