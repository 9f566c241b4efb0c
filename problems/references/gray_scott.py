"""u_t = 0.2 lap u + 40 (1 - u) - 1000 u v^2, v_t = 0.1 lap v - 100 v + 1000 u v^2 on [-1, 1]^2, periodic."""

from functools import lru_cache, partial

import numpy as np
from jaxtyping import Float

from phijax.formulation import Reference
from phijax.problems.references._etdrk4_square import Film, evolve_square

# Distance from a run of more points and half the step, up to t = 0.2 and up to t = 2.
ERRORS = {0.2: 2e-7, 2.0: 2e-6}
_SLAB = 0.0125
# Where v is near 1, u falls a thousandfold faster at first: slabs that double.
_FIRST = (0.0, _SLAB / 8, _SLAB / 4, _SLAB / 2)


def initial(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """u and v at t = 0: bumps and their nearest images."""
    near = lambda a, centre: sum(np.exp(-10 * (a - centre - shift) ** 2) for shift in (-2, 0, 2))
    return np.stack([1 - near(x, -0.05) * near(y, -0.02), near(x, 0.05) * near(y, 0.02)])


def reaction(fields: np.ndarray) -> np.ndarray:
    """What is not linear in the two equations, and the feed."""
    u, v = fields
    turned = 1000 * u * v**2
    return np.stack([40 - turned, turned])


@lru_cache
def solved(t_end: float, points: int = 128, steps: int = 30) -> Film:
    """The solution; `steps` a slab, of an eightieth of a unit of time."""
    edges = np.append(_FIRST, np.arange(_SLAB, t_end, _SLAB))
    return evolve_square(
        initial,
        lambda square: np.stack([-0.2 * square - 40, -0.1 * square - 100]),
        reaction,
        low=-1.0,
        length=2.0,
        edges=np.append(edges[edges < t_end - 1e-9], t_end),
        points=points,
        steps=steps,
    )


def values(
    x: Float[np.ndarray, "..."], y: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."], t_end: float
) -> dict[str, np.ndarray]:
    """u and v by name."""
    return dict(zip("uv", solved(t_end)(x, y, t), strict=True))


def reference(t_end: float) -> Reference:
    """u and v for t in [0, t_end]."""
    error = min((error for end, error in ERRORS.items() if t_end <= end), default=max(ERRORS.values()))
    source = "128 Fourier modes in each direction, exponential time differencing of order 4"
    return Reference(solver=partial(values, t_end=float(t_end)), error=error, source=source)
