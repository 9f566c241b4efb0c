"""u_t + u u_x + delta^2 u_xxx = 0 on [-1, 1], periodic, from cos(pi x): a wave that breaks up into solitons."""

from functools import lru_cache, partial

import numpy as np
from jaxtyping import Float

from phijax.formulation import Reference
from phijax.problems.references._etdrk4 import Evolution, evolve

# Distance to a run of twice as many points and steps, at delta = 0.022.
ERROR = 1e-8


@lru_cache
def solved(delta: float, t_end: float, points: int = 256, steps: int = 4000) -> Evolution:
    """The solution; `steps` in all of the time."""

    def nonlinear(u: np.ndarray, k: np.ndarray) -> np.ndarray:
        return -0.5j * k * np.fft.rfft(u**2)

    return evolve(
        lambda x: np.cos(np.pi * x),
        lambda k: 1j * delta**2 * k**3,
        nonlinear,
        low=-1.0,
        length=2.0,
        end=t_end,
        points=points,
        steps=steps,
    )


def values(x: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."], delta: float, t_end: float) -> dict:
    """u by name."""
    return {"u": solved(delta, t_end)(x, t)}


def reference(delta: float, t_end: float) -> Reference:
    """u(x, t) for t in [0, t_end]."""
    solver = partial(values, delta=float(delta), t_end=float(t_end))
    return Reference(solver=solver, error=ERROR, source="256 Fourier modes, exponential time differencing of order 4")
