"""Steady flow in the unit square under a lid that moves; pressure zero at (0, 0).

The lid's velocity is 4 x (1 - x) at Reynolds number 100, where corner flows are split off, and the regularized
16 x^2 (1 - x)^2 at 1000 and 3200, whose series need no such help.
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from phijax.formulation import Reference
from phijax.problems.references._legendre import basis

Array = Float[np.ndarray, "..."]
DEGREES = {100: 48, 1000: 64, 3200: 72}  # of the series that is kept, by Reynolds number
PARABOLIC = 100  # the Reynolds number of the lid 4 x (1 - x)
_CHUNK = 20_000  # points at a time


class Corner(NamedTuple):
    """S and its derivatives."""

    value: Array
    a: Array
    b: Array
    aa: Array
    ab: Array
    bb: Array


def corner(a: Array, b: Array) -> Corner:
    """Stokes flow where a lid (b = 0) with velocity 4 a meets a wall (a = 0) at rest, by its stream function
    S = pi b^2 - 2 a b - 2 r^2 atan(b / a), which has r^2 times an angle and so a pressure that is logarithmic.

    Lid velocity is -dS/db, for b counts down from the lid. At the corner itself second derivatives have no value.
    """
    angle, square = np.arctan2(b, a), np.maximum(a * a + b * b, 1e-300)
    return Corner(
        value=np.pi * b * b - 2 * a * b - 2 * square * angle,
        a=-4 * a * angle,
        b=2 * np.pi * b - 4 * a - 4 * b * angle,
        aa=-4 * angle + 4 * a * b / square,
        ab=-4 * a * a / square,
        bb=2 * np.pi - 4 * angle - 4 * a * b / square,
    )


class Stream(NamedTuple):
    """Derivatives of a stream function in x and y: the velocity is (y, -x)."""

    x: Array
    y: Array
    xx: Array
    xy: Array
    yy: Array


def corners(x: Array, y: Array) -> Stream:
    """Both ends of the lid, at (0, 1) and (1, 1), together."""
    left, right = corner(x, 1 - y), corner(1 - x, 1 - y)
    return Stream(left.a - right.a, -left.b - right.b, left.aa + right.aa, right.ab - left.ab, left.bb + right.bb)


def corner_pressure(x: Array, y: Array, reynolds: float) -> Array:
    """Pressure of `corners`; infinite at both ends of the lid, as that of the flow is."""
    with np.errstate(divide="ignore"):
        return 4 / reynolds * (np.log(x**2 + (1 - y) ** 2) - np.log((1 - x) ** 2 + (1 - y) ** 2))


@dataclass(frozen=True)
class Flow:
    """Legendre series of the stream function and of the pressure, less `corners` where the lid calls for them."""

    reynolds: float
    cornered: bool
    stream: Float[np.ndarray, "n+1 n+1"]
    pressure: Float[np.ndarray, "n+1 n+1"]

    def __call__(self, x: Array, y: Array) -> dict[str, Array]:
        """u, v and p at any points of the closed square."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        flat_x, flat_y = x.ravel(), y.ravel()
        parts = [slice(start, start + _CHUNK) for start in range(0, max(flat_x.size, 1), _CHUNK)]
        columns = np.concatenate([self._at(flat_x[part], flat_y[part]) for part in parts], axis=1)
        return dict(zip("uvp", columns.reshape(3, *x.shape), strict=True))

    def _at(self, x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> Float[np.ndarray, "3 n"]:
        degree = self.stream.shape[0] - 1
        left, right = basis(x, degree), basis(y, degree)
        u = np.sum(left @ self.stream * basis(y, degree, 1), axis=1)
        v = -np.sum(basis(x, degree, 1) @ self.stream * right, axis=1)
        p = np.sum(left @ self.pressure * right, axis=1)
        if self.cornered:
            singular = corners(x, y)
            u, v, p = u + singular.y, v - singular.x, p + corner_pressure(x, y, self.reynolds)
        return np.stack([u, v, p])


def stored(reynolds: int) -> Path:
    """Where the flow at a Reynolds number is kept."""
    return Path(__file__).with_name("cavity.npz" if reynolds == PARABOLIC else f"cavity_{reynolds}.npz")


@lru_cache
def _kept(reynolds: int) -> tuple[Flow, dict[str, float]]:
    with np.load(stored(reynolds)) as kept:
        flow = Flow(float(kept["reynolds"]), reynolds == PARABOLIC, kept["stream"], kept["pressure"])
        return flow, dict(zip("uvp", map(float, kept["errors"]), strict=True))


def values(x: Array, y: Array, reynolds: int = PARABOLIC) -> dict[str, Array]:
    """u, v and p by name."""
    return _kept(reynolds)[0](x, y)


def reference(reynolds: int = PARABOLIC) -> Reference:
    """u, v and p; each error is the distance from a lower degree, and the one that is stated the largest.

    Raises ValueError for a Reynolds number that no flow is kept of.
    """
    if reynolds not in DEGREES:
        known = ", ".join(map(str, DEGREES))
        raise ValueError(f"cavity has no reference at Re = {reynolds:g}; there are Re = {known}.")
    errors = _kept(int(reynolds))[1]
    parts = ", ".join(f"{name} {error:.0e}" for name, error in errors.items())
    split = ", the corner flows split off" if reynolds == PARABOLIC else ", the lid regularized"
    source = f"Legendre-Galerkin stream function{split} ({parts})"
    return Reference(solver=partial(values, reynolds=int(reynolds)), error=max(errors.values()), source=source)
