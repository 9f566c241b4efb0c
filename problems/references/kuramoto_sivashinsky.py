"""u_t + (100/16) u u_x + (100/16^2) u_xx + (100/16^4) u_xxxx = 0 on [0, 2 pi], periodic, from cos x (1 + sin x)."""

from functools import lru_cache, partial

import numpy as np
from jaxtyping import Float

from phijax.formulation import Reference
from phijax.problems.references._etdrk4 import Evolution, evolve

# Distance to a run of more points and half the step, up to t = 1/2 and up to t = 1, where chaos has made more of it.
ERRORS = {0.5: 1e-8, 1.0: 5e-7}
_STEPS_PER_UNIT = 8000


@lru_cache
def solved(t_end: float, points: int = 256, steps_per_unit: int = _STEPS_PER_UNIT) -> Evolution:
    """The solution."""

    def nonlinear(u: np.ndarray, k: np.ndarray) -> np.ndarray:
        return -50j / 16 * k * np.fft.rfft(u**2)

    return evolve(
        lambda x: np.cos(x) * (1 + np.sin(x)),
        lambda k: 100 / 16**2 * k**2 - 100 / 16**4 * k**4,
        nonlinear,
        low=0.0,
        length=2 * np.pi,
        end=t_end,
        points=points,
        steps=max(1, round(steps_per_unit * t_end)),
    )


def values(x: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."], t_end: float) -> dict[str, np.ndarray]:
    """u by name."""
    return {"u": solved(t_end)(x, t)}


def reference(t_end: float) -> Reference:
    """u(x, t) for t in [0, t_end]."""
    error = min((error for end, error in ERRORS.items() if t_end <= end), default=max(ERRORS.values()))
    solver = partial(values, t_end=float(t_end))
    return Reference(solver=solver, error=error, source="256 Fourier modes, exponential time differencing of order 4")
