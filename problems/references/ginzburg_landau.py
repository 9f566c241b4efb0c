"""A_t = eps lap A + k (A - (1 + 1.5 i) A |A|^2) on [-1, 1]^2, periodic, from 10 (y + i x) exp(-25 (x^2 + y^2))."""

from functools import lru_cache, partial

import numpy as np
from jaxtyping import Float

from phijax.formulation import Reference
from phijax.problems.references._etdrk4_square import Film, evolve_square

# Distance from a run of more points and half the step, at k = 10 and eps = k / 2500, up to t = 1.
ERROR = 5e-7
_SLAB = 0.1  # in which the phase turns by no more than 1.5 radians


def initial(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A at t = 0: one vortex."""
    return 10 * (y + 1j * x) * np.exp(-25 * (x**2 + y**2))


@lru_cache
def solved(k: float, eps: float, t_end: float, points: int = 160, steps: int = 50) -> Film:
    """The solution; `steps` a tenth of a unit of time."""
    return evolve_square(
        lambda x, y: initial(x, y)[None],
        lambda square: (k - eps * square)[None],
        lambda A: -k * (1 + 1.5j) * A * (A.real**2 + A.imag**2),
        low=-1.0,
        length=2.0,
        edges=np.linspace(0, t_end, 1 + int(np.ceil(t_end / _SLAB - 1e-9))),
        points=points,
        steps=steps,
    )


def values(
    x: Float[np.ndarray, "..."], y: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."], **constants: float
) -> dict[str, np.ndarray]:
    """A by name."""
    return {"A": solved(**constants)(x, y, t)[0]}


def reference(k: float, eps: float, t_end: float) -> Reference:
    """A(x, y, t) for t in [0, t_end]."""
    solver = partial(values, k=float(k), eps=float(eps), t_end=float(t_end))
    source = "160 Fourier modes in each direction, exponential time differencing of order 4"
    return Reference(solver=solver, error=ERROR, source=source)
