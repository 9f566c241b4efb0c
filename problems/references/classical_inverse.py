"""Classical solvers of built-in problems with unknown constants: a forward solver within least squares."""

import numpy as np
from numpy.polynomial import chebyshev
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, least_squares

from phijax import problems
from phijax.problems.references import lorenz
from phijax.problems.references._collocation import Measured, line
from phijax.problems.references.classical_evolutions import burgers_by_lines


def burgers_inverse() -> Measured:
    seen = problems.get("burgers_inverse").observations(0.0)
    order, sign = np.argsort(seen["t"]), np.sign(seen["x"])
    times = seen["t"][order]

    def misfit(unknown):
        x, u = burgers_by_lines(unknown[0], np.exp(unknown[1]), times, 80, 1e-6)
        series = np.linalg.solve(chebyshev.chebvander(2 * x - 1, 80), u)
        at = chebyshev.chebvander(2 * np.abs(seen["x"][order]) - 1, 80)
        return sign[order] * np.sum(at * series.T, axis=1) - seen["u"][order]

    found = least_squares(misfit, [0.5, np.log(0.01)], diff_step=1e-4, xtol=1e-8).x
    errors = {"lambda1": abs(found[0].item() - 1), "lambda2": abs(np.exp(found[1]).item() * 100 * np.pi - 1)}
    return errors, "least squares over Chebyshev and BDF, initial value and walls known"


def diffusion_inverse() -> Measured:
    x, slope = line(24, -1.0, 1.0)
    second, source = (slope @ slope)[1:-1, 1:-1], np.sin(np.pi * x[1:-1]) * (np.pi**2 - 1)

    def at_end(diffusivity):
        def rate(t, u):
            return diffusivity * (second @ u) + np.exp(-t) * source

        options = {"method": "Radau", "jac": diffusivity * second, "rtol": 1e-9, "atol": 1e-11}
        return solve_ivp(rate, (0.0, 1.0), np.sin(np.pi * x[1:-1]), **options).y[:, -1]

    seen = np.exp(-1) * np.sin(np.pi * x[1:-1])
    found = brentq(lambda d: seen @ (at_end(d) - seen), 0.5, 2.0, xtol=1e-10)
    return {"D": abs(found - 1)}, "Chebyshev degree 24, Radau, Brent's root"


def lorenz_inverse() -> Measured:
    t = np.linspace(0, 3, 25)
    seen = np.stack(list(lorenz.values(t).values()))

    def misfit(constants):
        sigma, rho, beta = constants

        def rate(t, y):
            return [sigma * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - beta * y[2]]

        options = {"method": "DOP853", "rtol": 1e-10, "atol": 1e-10, "t_eval": t}
        return (solve_ivp(rate, (0, 3), seen[:, 0], **options).y - seen).ravel()

    found = least_squares(misfit, np.ones(3), xtol=1e-12).x
    errors = np.abs(found / lorenz.CONSTANTS - 1).tolist()
    return dict(zip(("sigma", "rho", "beta"), errors, strict=True)), "least squares over Runge-Kutta of order 8"
