"""x' = 1.5 x - x y, y' = x y - 3 y from x = y = 1: predator and prey."""

import numpy as np

from phijax.problems import NumericReference
from phijax.problems._references import relative_l2
from phijax.problems.references._taylor import Quadratic, Trajectory, integrate

_SYSTEM = Quadratic(
    linear=np.diag([1.5, -3.0]),
    product=np.array([[[0.0, -1.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]]),
)
_STEPS_PER_UNIT = 10


def trajectory(t_end: float, steps_per_unit: int = _STEPS_PER_UNIT) -> Trajectory:
    """(x, y) at times in [0, t_end]."""
    return integrate(_SYSTEM, np.ones(2), t_end, max(1, round(steps_per_unit * t_end)))


def _errors(t_end: float) -> dict[str, float]:
    times = np.linspace(0.0, t_end, 401)
    kept, finer = trajectory(t_end)(times), trajectory(t_end, 2 * _STEPS_PER_UNIT)(times)
    # Two runs of one method share some rounding: no estimate goes below that.
    return {name: max(relative_l2(kept[:, i], finer[:, i]), 1e-14) for i, name in enumerate("xy")}


def reference(t_end: float = 10.0) -> NumericReference:
    """x(t) and y(t) on [0, t_end]."""
    curve = trajectory(t_end)

    def values(t):
        pair = curve(t)
        return {"x": pair[..., 0], "y": pair[..., 1]}

    return NumericReference(values, _errors(t_end), "Taylor series of order 24; error from halving the step")
