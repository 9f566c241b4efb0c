"""T_t = 0.1 lap T on the unit square less the disk of radius 0.2 at its centre, from T = 0, insulated outside; on the hole
0.1 dT/dn = sin(pi t) - T.

One curved element, an eighth of the plate, carries a Legendre series in both directions (all is even about the other
seven's edges, and goes on evenly beyond the insulated side: there is no singular corner). In the eigenvectors of the
discrete operator time is solved for exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.linalg
from jaxtyping import Float

from phijax.formulation import Reference
from phijax.problems.references._legendre import basis, gauss
from phijax.problems.references._norms import relative_l2

Values = Float[np.ndarray, " n"]
RADIUS, CONDUCTIVITY = 0.2, 0.1
_DEGREE = 14
_CHUNK = 8192  # points at a time


@dataclass(frozen=True)
class Modes:
    """Eigenvectors as series, how fast each fades, and how strongly the air drives it."""

    degree: int
    rates: Values
    drive: Values
    series: Float[np.ndarray, "n n"]

    def __call__(
        self, x: Float[np.ndarray, "..."], y: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."]
    ) -> Float[np.ndarray, "..."]:
        """T at any points of the plate and times."""
        x, y, t = np.broadcast_arrays(*(np.asarray(a, float) for a in (x, y, t)))
        columns = [a.ravel() for a in (x - 0.5, y - 0.5, t)]
        parts = [slice(i, i + _CHUNK) for i in range(0, max(x.size, 1), _CHUNK)]
        return np.concatenate([self._at(*(c[part] for c in columns)) for part in parts]).reshape(x.shape)

    def _at(self, x: Values, y: Values, t: Values) -> Values:
        far, near = np.maximum(np.abs(x), np.abs(y)), np.minimum(np.abs(x), np.abs(y))
        angle = np.arctan2(near, far)
        across = (np.hypot(x, y) - RADIUS) / (0.5 / np.cos(angle) - RADIUS)
        left, right = basis(across, self.degree), basis(4 / np.pi * angle, self.degree)
        return np.sum(
            ((left[:, :, None] * right[:, None, :]).reshape(x.size, -1) @ self.series) * self._when(t), axis=1
        )

    def _when(self, t: Values) -> Float[np.ndarray, "n m"]:
        """c(t) of c' = -rate c + drive sin(pi t) from 0."""
        t, rate = t[:, None], self.rates
        swing = rate * np.sin(np.pi * t) - np.pi * np.cos(np.pi * t) + np.pi * np.exp(-rate * t)
        return self.drive * swing / (rate**2 + np.pi**2)


@lru_cache
def solved(degree: int = _DEGREE) -> Modes:
    """By Galerkin's method on r = (1 - s) 0.2 + s / (2 cos a), 0 <= s <= 1, 0 <= a <= pi/4."""
    nodes, weights = gauss(2 * degree + 8)
    s, angle = nodes[:, None], np.pi / 4 * nodes[None, :]
    reach = 0.5 / np.cos(angle)
    r, r_s, r_a = RADIUS + s * (reach - RADIUS), reach - RADIUS + 0 * s, s * reach * np.tan(angle)
    # Gradient in polar parts: radial f_s / r_s, and (f_a - r_a f_s / r_s) / r across.
    area = np.outer(weights, weights) * np.pi / 4 * r * r_s
    value, slope = basis(nodes, degree), basis(nodes, degree, 1)

    def table(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.einsum("qa,pb->qpab", left, right).reshape(nodes.size**2, -1)

    here, in_s, in_a = table(value, value), table(slope, value), table(value, slope) * 4 / np.pi
    radial = in_s / r_s.reshape(-1, 1)
    around = (in_a - r_a.reshape(-1, 1) * radial) / r.reshape(-1, 1)
    mass, stiff = (sum(p.T @ (area.reshape(-1, 1) * p) for p in parts) for parts in ((here,), (radial, around)))
    hole = np.einsum("qa,pb->qpab", basis(np.zeros(1), degree), value).reshape(nodes.size, -1)
    length = RADIUS * np.pi / 4 * weights
    rates, series = scipy.linalg.eigh(CONDUCTIVITY * stiff + hole.T @ (length[:, None] * hole), mass)
    return Modes(degree, rates, series.T @ (hole.T @ length), series)


def values(
    x: Float[np.ndarray, "..."], y: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."]
) -> dict[str, np.ndarray]:
    """T by name."""
    return {"T": solved()(x, y, t)}


def points(count: int) -> tuple[Values, Values, Values]:
    """Points of the plate and times, the same at each call."""
    x, y, t = np.random.default_rng(0).uniform(0, 1, (3, count))
    out = np.hypot(x - 0.5, y - 0.5) > RADIUS
    return x[out], y[out], t[out]


@lru_cache
def _error() -> float:
    at = points(1000)
    return relative_l2(solved(_DEGREE - 4)(*at), solved()(*at))


def reference() -> Reference:
    """T for t in [0, 1]; the error is the distance from four degrees less."""
    return Reference(solver=values, error=_error(), source=f"Galerkin's method of degree {_DEGREE} on a curved element")
