"""x' = sigma (y - x), y' = x (rho - z) - y, z' = x y - beta z from (-8, 7, 27), at constants before chaos."""

from functools import lru_cache

import numpy as np
from jaxtyping import Float

from phijax.formulation import Reference
from phijax.problems.references._norms import relative_l2
from phijax.problems.references._taylor import Quadratic, Trajectory, integrate

CONSTANTS = (10.0, 15.0, 8 / 3)  # sigma, rho, beta
START, END = (-8.0, 7.0, 27.0), 3.0
_STEPS = 120


def _system() -> Quadratic:
    sigma, rho, beta = CONSTANTS
    linear, product = np.diag([-sigma, -1.0, -beta]), np.zeros((3, 3, 3))
    linear[0, 1], linear[1, 0] = sigma, rho
    product[1, 0, 2], product[2, 0, 1] = -1.0, 1.0
    return Quadratic(linear, product)


@lru_cache
def trajectory(steps: int = _STEPS) -> Trajectory:
    """(x, y, z) at times in [0, 3]."""
    return integrate(_system(), np.array(START), END, steps)


def values(t: Float[np.ndarray, "..."]) -> dict[str, np.ndarray]:
    """x, y and z by name."""
    return dict(zip("xyz", np.moveaxis(trajectory()(t), -1, 0), strict=True))


def reference() -> Reference:
    """x, y and z for t in [0, 3]; the error is the distance from half the step."""
    times = np.linspace(0.0, END, 401)
    halved = relative_l2(trajectory()(times), trajectory(2 * _STEPS)(times))
    return Reference(solver=values, error=max(halved, 1e-13), source="Taylor series of order 24")
