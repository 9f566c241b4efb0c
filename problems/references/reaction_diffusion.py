"""u_t = nu u_xx + rho u (1 - u) on a ring of length 2 pi, from the Gaussian exp(-(x - pi)^2 / (2 (pi/4)^2))."""

from functools import lru_cache, partial

import numpy as np
from jaxtyping import Float

from phijax.formulation import Reference
from phijax.problems.references._etdrk4 import Evolution, evolve
from phijax.problems.references._norms import relative_l2

_POINTS, _STEPS = 1024, 2000  # a Gaussian of a ring has a kink, of 2e-3 in the slope


@lru_cache
def solved(nu: float, rho: float, points: int = _POINTS, steps: int = _STEPS) -> Evolution:
    """The solution to t = 1."""
    return evolve(
        lambda x: np.exp(-8 * (x / np.pi - 1) ** 2),
        lambda k: rho - nu * k**2,
        lambda u, k: -rho * np.fft.rfft(u**2),
        low=0.0,
        length=2 * np.pi,
        end=1.0,
        points=points,
        steps=steps,
    )


def values(x: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."], nu: float, rho: float) -> dict[str, np.ndarray]:
    """u by name."""
    return {"u": solved(nu, rho)(x, t)}


def reference(nu: float = 5.0, rho: float = 5.0) -> Reference:
    """u(x, t) for t in [0, 1]; the error is the distance from half as many points and steps."""
    nu, rho = float(nu), float(rho)
    x, t = np.meshgrid(np.linspace(0, 2 * np.pi, 65), np.linspace(0, 1, 41) + 1e-3)
    halved = solved(nu, rho, _POINTS // 2, _STEPS // 2)
    error = max(relative_l2(halved(x, t), solved(nu, rho)(x, t)), 1e-13)
    source = f"{_POINTS} Fourier modes, exponential time differencing of order 4"
    return Reference(solver=partial(values, nu=nu, rho=rho), error=error, source=source)
