"""-lap u = 1 on an L with u = 0 on its edges, by particular solutions (Fox, Henrici and Moler 1967; Betcke and
Trefethen 2005): a sum that solves the equation and vanishes at the reentrant corner's edges, fitted on the others.

With v = z exp(-3 pi i/4), whose argument is the angle from the diagonal, w = v^(2/3) takes the L into a half plane, its
reentrant edges onto the imaginary axis. Odd powers of w give r^(2k/3) cos(2k theta/3); the logarithms of the other five
corners are taken in w as well, reflected so that they vanish there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Complex, Float

from phijax.formulation import Reference

Values = Float[np.ndarray, " n"]
Places = Complex[np.ndarray, " n"]
_TURN = np.exp(-0.75j * np.pi)
_CORNERS = np.array([-1 + 1j, 1 + 1j, 1.0])  # those on and below the diagonal, counted from (-1, 1)
_POWERS = range(2, 6)  # of the singular terms w^m log w at a corner


def _halfplane(z: Places) -> Places:
    v = z * _TURN
    # On the reentrant edges rounding would put the argument on the other side of the cut.
    angle = np.clip(np.angle(v), -0.75 * np.pi, 0.75 * np.pi)
    return np.abs(v) ** (2 / 3) * np.exp(2j / 3 * angle)


def _singular(w: Places, corner: complex, power: int) -> Places:
    """(corner - w)^m log (corner - w), turned so that its cut points away from the L."""
    away = (corner - w) / corner
    return away**power * np.log(np.where(away == 0, 1.0, away))


def _columns(z: Places, terms: int) -> Float[np.ndarray, "n k"]:
    """Functions that are even about the diagonal and odd about the axis of w."""
    w = _halfplane(z)
    columns = [(w ** (2 * k + 1)).real / np.sqrt(2) ** ((4 * k + 2) / 3) for k in range(terms)]
    for corner in _halfplane(_CORNERS):
        for power in _POWERS:
            term = sum(_singular(p, corner, power) - _singular(-p.conj(), corner, power) for p in (w, w.conj()))
            columns += [term.real, term.imag]
    return np.stack(columns, axis=1)


def _particular(z: Places) -> Values:
    """-r^2/4 + r^2 (log r cos 2 theta - theta sin 2 theta) / (3 pi): -lap = 1, zero on the reentrant edges."""
    v = z * _TURN
    r, angle = np.abs(v), np.clip(np.angle(v), -0.75 * np.pi, 0.75 * np.pi)
    log = np.log(np.where(r == 0, 1.0, r))
    return r**2 * (-1 / 4 + (log * np.cos(2 * angle) - angle * np.sin(2 * angle)) / (3 * np.pi))


def edge(count: int) -> Places:
    """Points of the outer edges on one side of the diagonal, dense at the corners."""
    s = (1 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2
    return np.concatenate([1 + 1j * s, 1j + (1 - 2 * s)])


@dataclass(frozen=True)
class Torsion:
    """The sum of particular solutions."""

    terms: int
    series: Values

    def __call__(self, x: Float[np.ndarray, "..."], y: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """u at any points of the closed L."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        z = x.ravel() + 1j * y.ravel()
        return (_columns(z, self.terms) @ self.series + _particular(z)).reshape(x.shape)


@lru_cache
def solved(terms: int = 30) -> Torsion:
    """By least squares on the outer edges."""
    z = edge(4 * terms + 100)
    columns = _columns(z, terms)
    sizes = np.linalg.norm(columns, axis=0) + 1e-9  # some vanish by symmetry
    series = np.linalg.lstsq(columns / sizes, -_particular(z), rcond=1e-15)[0] / sizes
    return Torsion(terms, series)


def values(x: Float[np.ndarray, "..."], y: Float[np.ndarray, "..."]) -> dict[str, np.ndarray]:
    """u by name."""
    return {"u": solved()(x, y)}


@lru_cache
def _error() -> float:
    z, inside = edge(1777), np.linspace(-0.95, 0.95, 39)
    size = np.sqrt(np.mean(solved()(inside, np.abs(inside)) ** 2))
    return float(np.abs(solved()(z.real, z.imag)).max() / size)


def reference() -> Reference:
    """u on the L; by the maximum principle no point's error is larger than the largest on the edges, over its mean size."""
    return Reference(solver=values, error=_error(), source="particular solutions of all six corners")
