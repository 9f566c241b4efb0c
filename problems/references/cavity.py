"""Steady flow in the unit square under a lid that moves with 4 x (1 - x); pressure zero at (0, 0)."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from phijax.formulation import Reference
from phijax.problems.references._legendre import basis

Array = Float[np.ndarray, "..."]
_STORED = Path(__file__).with_name("cavity.npz")
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
    """Legendre series of the stream function and of the pressure, less their singular parts at the lid's ends."""

    reynolds: float
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
        singular = corners(x, y)
        u = np.sum(left @ self.stream * basis(y, degree, 1), axis=1) + singular.y
        v = -np.sum(basis(x, degree, 1) @ self.stream * right, axis=1) - singular.x
        p = np.sum(left @ self.pressure * right, axis=1) + corner_pressure(x, y, self.reynolds)
        return np.stack([u, v, p])


def stored() -> Path:
    """Where the flow is kept."""
    return _STORED


@lru_cache
def _kept() -> tuple[Flow, dict[str, float]]:
    with np.load(stored()) as kept:
        flow = Flow(float(kept["reynolds"]), kept["stream"], kept["pressure"])
        return flow, dict(zip("uvp", map(float, kept["errors"]), strict=True))


def values(x: Array, y: Array) -> dict[str, Array]:
    """u, v and p at Re = 100, by name."""
    return _kept()[0](x, y)


def reference() -> Reference:
    """u, v and p at Re = 100; each error is the distance from degree 40 to 48, and the one that is stated that of p."""
    errors = _kept()[1]
    parts = ", ".join(f"{name} {error:.0e}" for name, error in errors.items())
    source = f"Legendre-Galerkin stream function, the corner flows split off ({parts})"
    return Reference(solver=values, error=max(errors.values()), source=source)
