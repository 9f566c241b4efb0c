"""Taylor series for y' = A y + Q(y, y), and their sum at any time."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Quadratic:
    """y' = A y + Q(y, y)."""

    linear: Float[np.ndarray, "d d"]
    product: Float[np.ndarray, "d d d"]

    def series(self, start: Float[np.ndarray, " d"], order: int) -> Float[np.ndarray, "order+1 d"]:
        """Coefficients of y about a time at which y = start: Cauchy products give each from those before it."""
        terms = np.zeros((order + 1, start.size))
        terms[0] = start
        quadratic = self.product.reshape(start.size, -1)
        for k in range(order):
            pairs = terms[: k + 1].T @ terms[k::-1]
            terms[k + 1] = (self.linear @ terms[k] + quadratic @ pairs.ravel()) / (k + 1)
        return terms


@dataclass(frozen=True)
class Trajectory:
    """y(t) on [0, steps x step], one power series a step."""

    step: float
    terms: Float[np.ndarray, "steps order+1 d"]

    def __call__(self, t: Float[np.ndarray, "..."]) -> Float[np.ndarray, "... d"]:
        t = np.asarray(t, float)
        index = np.clip((t / self.step).astype(int), 0, len(self.terms) - 1)
        away = (t - index * self.step)[..., None]
        total = np.zeros((*t.shape, self.terms.shape[-1]))
        for k in reversed(range(self.terms.shape[1])):
            total = total * away + self.terms[index, k]
        return total


def integrate(
    system: Quadratic, start: Float[np.ndarray, " d"], t_end: float, steps: int, order: int = 24
) -> Trajectory:
    """y on [0, t_end] from y(0) = start, by `steps` equal steps."""
    step = t_end / steps
    powers = step ** np.arange(order + 1)
    pieces = []
    for _ in range(steps):
        pieces.append(system.series(start, order))
        start = powers @ pieces[-1]
    return Trajectory(step, np.stack(pieces))
