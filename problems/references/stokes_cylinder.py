"""Stokes flow on [0, 2] x [0, 1] less the disk of radius 0.15 at (0.5, 0.5), by Goursat's functions with poles that crowd
at the corners (Brubeck and Trefethen 2022), fitted on the boundary.

With z from the disk's centre, u - i v = z* f' - f* + g and p = 4 Re f' solve the equations for any analytic f and g. The
flow mirrors itself about y = 1/2, so that all coefficients are real.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from phijax.formulation import Reference
from phijax.problems.references._norms import relative_l2

Values = Float[np.ndarray, " n"]
Places = Complex[np.ndarray, " n"]
RADIUS, MIDDLE, STRETCH = 0.15, 0.5, 2.0
_CORNERS = ((-0.5 + 0.5j, -1 + 1j), (1.5 + 0.5j, 1 + 1j))  # above the axis, and the direction out
_CHUNK = 4096  # points at a time


class Size(NamedTuple):
    """Numbers of polynomials, of powers about the disk, and of poles at each corner."""

    polynomials: int
    powers: int
    poles: int


FINE, COARSE = Size(50, 30, 30), Size(44, 24, 16)


def _analytic(z: Places, size: Size) -> list[Complex[np.ndarray, "n k"]]:
    """Functions that are real on the axis, and their first and second derivatives."""
    columns = [_chebyshev(z - MIDDLE, size.polynomials)]
    k = np.arange(1, size.powers + 1)
    power = (RADIUS / z[:, None]) ** k
    columns.append([power, -k * power / z[:, None], k * (k + 1) * power / z[:, None] ** 2])
    for corner, outward in _CORNERS:
        away = np.exp(-4 * (np.sqrt(size.poles) - np.sqrt(np.arange(1, size.poles + 1))))
        pole = corner + 0.5 * away * outward / abs(outward)
        for turn in (1, 1j):
            columns.append(_poles(z, pole, away * turn))
    return [np.concatenate(parts, axis=1) for parts in zip(*columns, strict=True)]


def _chebyshev(z: Places, count: int) -> list[Complex[np.ndarray, "n k"]]:
    """T_0 .. and derivatives, by the recurrence, each of size one or so at the corners."""
    zero, one = np.zeros_like(z), np.ones_like(z)
    rows = [(one, zero, zero), (z / STRETCH, one / STRETCH, zero)]
    for _ in range(2, count):
        (a, a1, a2), (b, b1, b2) = rows[-2:]
        rows.append(
            (
                (2 * z * b - a / STRETCH) / STRETCH,
                (2 * (b + z * b1) - a1 / STRETCH) / STRETCH,
                (2 * (2 * b1 + z * b2) - a2 / STRETCH) / STRETCH,
            )
        )
    return [np.stack(part, axis=1) for part in zip(*rows, strict=True)]


def _poles(z: Places, pole: Places, weight: Places) -> list[Complex[np.ndarray, "n k"]]:
    """weight / (z - pole) with its mirror image."""
    found = []
    for order, factor in ((1, 1.0), (2, -1.0), (3, 2.0)):
        upper, lower = (
            factor * w / (z[:, None] - p) ** order for w, p in ((weight, pole), (weight.conj(), pole.conj()))
        )
        found.append(upper + lower)
    return found


class Columns(NamedTuple):
    """What each unknown contributes to the velocity, to its slope along the channel and to the pressure."""

    velocity: Complex[np.ndarray, "n k"]
    along: Complex[np.ndarray, "n k"]
    pressure: Float[np.ndarray, "n k"]


def _columns(z: Places, size: Size) -> Columns:
    """Unknowns: f, g, and the force on the disk, which is a logarithm in both."""
    h, h1, h2 = _analytic(z, size)
    mirrored, nothing, log, inverse = z.conj()[:, None], np.zeros(h.shape), np.log(z)[:, None], 1 / z[:, None]
    velocity = [mirrored * h1 - h.conj(), h, mirrored * inverse - log.conj() - log]
    along = [h1 - h1.conj() + mirrored * h2, h1, -inverse.conj() - mirrored * inverse**2]
    pressure = [4 * h1.real, nothing, 4 * inverse.real]
    return Columns(*(np.concatenate(parts, axis=1) for parts in (velocity, along, pressure)))


@dataclass(frozen=True)
class Flow:
    """The unknowns."""

    size: Size
    unknowns: Values

    def __call__(self, x: Float[np.ndarray, "..."], y: Float[np.ndarray, "..."]) -> dict[str, Float[np.ndarray, "..."]]:
        """u, v and p at any points of the closed channel outside the disk."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        z = (x.ravel() - 0.5) + 1j * (y.ravel() - 0.5)
        parts = [self._at(z[i : i + _CHUNK]) for i in range(0, max(z.size, 1), _CHUNK)]
        return dict(zip("uvp", np.concatenate(parts, axis=1).reshape(3, *x.shape), strict=True))

    def _at(self, z: Places) -> Float[np.ndarray, "3 n"]:
        columns = _columns(np.where(z == 0, RADIUS, z), self.size)  # the centre is outside, and its value nobody's
        velocity = columns.velocity @ self.unknowns
        return np.stack([velocity.real, -velocity.imag, columns.pressure @ self.unknowns])


def edges(count: int) -> dict[str, Places]:
    """Points of the upper half of each edge from the disk's centre, dense at the corners."""
    out = 1 / (1 + np.exp(-np.linspace(-1, 1, count) * 16))  # to 1e-7 of a corner
    inlet, outlet, wall = -0.5 + 0.5j * out, 1.5 + 0.5j * out, -0.5 + 2 * out + 0.5j
    angle = np.pi * (np.arange(count) + 0.5) / count
    return {"inlet": inlet, "outlet": outlet, "wall": wall, "cylinder": RADIUS * np.exp(1j * angle)}


@lru_cache
def solved(size: Size = FINE) -> Flow:
    """By least squares on the boundary."""
    rows, given = [], []
    for name, z in edges(240).items():
        velocity, along, pressure = _columns(z, size)
        values = along.real - pressure if name == "outlet" else velocity.real
        rows += [values, along.imag if name == "outlet" else velocity.imag]
        given += [1 - 4 * z.imag**2 if name == "inlet" else np.zeros(z.size), np.zeros(z.size)]
    matrix = np.concatenate(rows)
    sizes = np.linalg.norm(matrix, axis=0) + 1e-300
    return Flow(size, np.linalg.lstsq(matrix / sizes, np.concatenate(given), rcond=1e-14)[0] / sizes)


def values(x: Float[np.ndarray, "..."], y: Float[np.ndarray, "..."]) -> dict[str, np.ndarray]:
    """u, v and p by name."""
    return solved()(x, y)


@lru_cache
def _errors() -> dict[str, float]:
    x, y = np.random.default_rng(0).uniform(0, 1, (2, 2000)) * [[2], [1]]
    out = np.hypot(x - 0.5, y - 0.5) > RADIUS
    coarse, fine = solved(COARSE)(x[out], y[out]), solved()(x[out], y[out])
    return {name: relative_l2(coarse[name], fine[name]) for name in fine}


def reference() -> Reference:
    """u, v and p; each error is the distance from a smaller sum, and the one that is stated the largest."""
    parts = ", ".join(f"{name} {error:.0e}" for name, error in _errors().items())
    source = f"Goursat's functions with poles at the corners ({parts})"
    return Reference(solver=values, error=max(_errors().values()), source=source)
