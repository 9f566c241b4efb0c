"""lap u = 0 on the square [-1/2, 1/2]^2 less four disks of radius 0.1 at (+-0.3, +-0.3); u = 1 outside, 0 on the disks.

1 - u vanishes on the square's sides, so that it goes on beyond them with other sign at each step of one side's length:
the series of the disks is taken with its nearest images, and the rest of the lattice is a harmonic polynomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Complex, Float

from phijax.formulation import Reference

Values = Float[np.ndarray, " n"]
Places = Complex[np.ndarray, " n"]
RADIUS, CENTRE = 0.1, 0.3 + 0.3j
_DIAGONAL = CENTRE / abs(CENTRE)
# (shift, turn, sign) of a disk and its images: the four disks, and those beyond the sides and corners.
_IMAGES = [(p + 1j * q, 1j**turn, (-1) ** (p + q)) for p in (-1, 0, 1) for q in (-1, 0, 1) for turn in range(4)]


def _columns(z: Places, terms: int, polynomials: int) -> Float[np.ndarray, "n k"]:
    """log |v|, Re v^-1 .. about all disks, and Re z^4j; v is measured along the diagonal, about which all is even."""
    columns = np.zeros((z.size, terms + polynomials))
    for shift, turn, sign in _IMAGES:
        v = ((z - shift) / turn - CENTRE) / _DIAGONAL / RADIUS
        v = np.where(v == 0, 1.0, v)  # a centre is outside, and its value nobody's
        columns[:, 0] += sign * np.log(np.abs(v))
        inverse = power = 1 / v
        for k in range(1, terms):
            columns[:, k] += sign * power.real
            power = power * inverse
    for j in range(polynomials):
        columns[:, terms + j] = ((np.sqrt(2) * z) ** (4 * j)).real
    return columns


def edge(count: int) -> tuple[Places, Places]:
    """Points of half of a disk's circle and of half of a side: an eighth of the boundary, that stands for all of it."""
    s = (np.arange(count) + 0.5) / count
    return CENTRE + RADIUS * _DIAGONAL * np.exp(1j * np.pi * s), 0.5 + 0.5j * s


@dataclass(frozen=True)
class Potential:
    """The series of 1 - u."""

    terms: int
    polynomials: int
    series: Values

    def __call__(self, x: Float[np.ndarray, "..."], y: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """u at any points of the square outside the disks."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        z = x.ravel() + 1j * y.ravel()
        return (1 - _columns(z, self.terms, self.polynomials) @ self.series).reshape(x.shape)


@lru_cache
def solved(terms: int = 16, polynomials: int = 8) -> Potential:
    """By least squares on the boundary."""
    circle, side = edge(8 * terms)
    columns = _columns(np.concatenate([circle, side]), terms, polynomials)
    given = np.repeat([1.0, 0.0], circle.size)
    return Potential(terms, polynomials, np.linalg.lstsq(columns, given, rcond=1e-15)[0])


def values(x: Float[np.ndarray, "..."], y: Float[np.ndarray, "..."]) -> dict[str, np.ndarray]:
    """u by name."""
    return {"u": solved()(x, y)}


@lru_cache
def _error() -> float:
    circle, side = edge(777)
    u = solved()
    largest = max(np.abs(u(circle.real, circle.imag)).max(), np.abs(u(side.real, side.imag) - 1).max())
    return float(largest) / 0.5


def reference() -> Reference:
    """u between the disks; by the maximum principle no point's error is larger than the largest on the boundary."""
    return Reference(solver=values, error=_error(), source="series about the disks and their images")
