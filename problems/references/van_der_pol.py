"""x'' = mu (1 - x^2) x' - x from x = 2 at rest: van der Pol's oscillator."""

from functools import lru_cache, partial

import numpy as np
from jaxtyping import Float

from phijax.formulation import Reference
from phijax.problems.references._norms import relative_l2
from phijax.problems.references._taylor import Quadratic, Trajectory, integrate

_STEPS_PER_UNIT = 100  # the leaps take a tenth of a unit at mu = 5


def _system(mu: float) -> Quadratic:
    """(x, v, q) with v = x' and q = x^2, which makes the cubic term a product of two."""
    linear, product = np.zeros((3, 3)), np.zeros((3, 3, 3))
    linear[0, 1], linear[1] = 1.0, (-1.0, mu, 0.0)
    product[1, 1, 2], product[2, 0, 1] = -mu, 2.0
    return Quadratic(linear, product)


@lru_cache
def trajectory(mu: float, t_end: float, steps_per_unit: int = _STEPS_PER_UNIT) -> Trajectory:
    """(x, x', x^2) at times in [0, t_end]."""
    return integrate(_system(mu), np.array([2.0, 0.0, 4.0]), t_end, max(1, round(steps_per_unit * t_end)))


def values(t: Float[np.ndarray, "..."], mu: float, t_end: float) -> dict[str, np.ndarray]:
    """x by name."""
    return {"x": trajectory(mu, t_end)(t)[..., 0]}


def reference(mu: float = 5.0, t_end: float = 10.0) -> Reference:
    """x(t) on [0, t_end]; the error is the distance from half the step."""
    mu, t_end = float(mu), float(t_end)
    times = np.linspace(0.0, t_end, 401)
    halved = relative_l2(trajectory(mu, t_end)(times)[:, 0], trajectory(mu, t_end, 2 * _STEPS_PER_UNIT)(times)[:, 0])
    solver = partial(values, mu=mu, t_end=t_end)
    return Reference(solver=solver, error=max(halved, 1e-12), source="Taylor series of order 24")
