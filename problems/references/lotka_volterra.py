"""x' = 1.5 x - x y, y' = x y - 3 y from x = y = 1: predator and prey."""

from functools import lru_cache, partial

import numpy as np
from jaxtyping import Float

from phijax.formulation import Reference
from phijax.problems.references._norms import relative_l2
from phijax.problems.references._taylor import Quadratic, Trajectory, integrate

_SYSTEM = Quadratic(
    linear=np.diag([1.5, -3.0]),
    product=np.array([[[0.0, -1.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]]),
)
_STEPS_PER_UNIT = 10


@lru_cache
def trajectory(t_end: float, steps_per_unit: int = _STEPS_PER_UNIT) -> Trajectory:
    """(x, y) at times in [0, t_end]."""
    return integrate(_SYSTEM, np.ones(2), t_end, max(1, round(steps_per_unit * t_end)))


def _estimate(t_end: float) -> float:
    times = np.linspace(0.0, t_end, 401)
    halved = relative_l2(trajectory(t_end)(times), trajectory(t_end, 2 * _STEPS_PER_UNIT)(times))
    return max(halved, 1e-13)  # the rounding that both share, as it grows over ten turns


def values(t: Float[np.ndarray, "..."], t_end: float) -> dict[str, np.ndarray]:
    """x and y by name."""
    pair = trajectory(t_end)(t)
    return {"x": pair[..., 0], "y": pair[..., 1]}


def reference(t_end: float = 10.0) -> Reference:
    """x(t) and y(t) on [0, t_end]; the error is the distance from half the step."""
    t_end = float(t_end)
    source = "Taylor series of order 24"
    return Reference(solver=partial(values, t_end=t_end), error=_estimate(t_end), source=source)
