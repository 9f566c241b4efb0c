"""Evolutions u_t = L u + N(u) of one or more fields on a periodic square, by the method of `_etdrk4`.

Modes are kept at a few even times of each slab of time. In between a polynomial runs through all of a slab's; between the
points of a grid twice as fine as that of the run, polynomials run through the ten that are nearest in each direction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float, Inexact
from scipy import fft

from phijax.problems.references._etdrk4 import advance, coefficients

Points = Float[np.ndarray, " n"]
Fields = Inexact[np.ndarray, "f n n"]
Modes = Complex[np.ndarray, "f n m"]
_NEAREST = np.arange(-4, 6)  # of the points of the fine grid, from the one on the left
_CHUNK = 4096  # points at a time


@dataclass(frozen=True)
class Film:
    """Solutions on a square of the given lower corner and length; `modes[i]` at even times from edge i to the next."""

    low: float
    length: float
    real: bool
    edges: Float[np.ndarray, " slabs+1"]
    modes: Complex[np.ndarray, "slabs frames f n m"]

    def __call__(
        self, x: Float[np.ndarray, "..."], y: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."]
    ) -> Inexact[np.ndarray, "f ..."]:
        """The fields at any points and times."""
        x, y, t = np.broadcast_arrays(*(np.asarray(a, float) for a in (x, y, t)))
        columns = [a.ravel() for a in (x, y, t)]
        slab = np.clip(np.searchsorted(self.edges, columns[2], side="right") - 1, 0, len(self.modes) - 1)
        found = np.empty((self.modes.shape[2], x.size), float if self.real else complex)
        for index in np.unique(slab):
            fine, own = _fine(self.modes[index], self.real), np.flatnonzero(slab == index)
            for part in np.array_split(own, 1 + own.size // _CHUNK):
                found[:, part] = self._at(fine, index, *(column[part] for column in columns))
        return found.reshape(-1, *x.shape)

    def _at(self, fine: np.ndarray, slab: int, x: Points, y: Points, t: Points) -> Inexact[np.ndarray, "f n"]:
        size, frames = fine.shape[-1], len(fine)
        start, end = self.edges[slab : slab + 2]
        in_time = _lagrange(np.arange(frames), (t - start) / (end - start) * (frames - 1))
        (row, in_x), (column, in_y) = (_stencil((a - self.low) / self.length * size, size) for a in (x, y))
        near = fine[:, :, row[:, :, None], column[:, None, :]]
        return np.einsum("kfnab,nk,na,nb->fn", near, in_time, in_x, in_y, optimize=True)


def evolve_square(
    initial: Callable[[np.ndarray, np.ndarray], Fields],
    linear: Callable[[Float[np.ndarray, "n m"]], Inexact[np.ndarray, "f n m"]],
    nonlinear: Callable[[Fields], Fields],
    *,
    low: float,
    length: float,
    edges: Float[np.ndarray, " slabs+1"],
    points: int,
    steps: int,
    frames: int = 10,
) -> Film:
    """Integrates by `points` points in each direction and `steps` steps a slab, a multiple of `frames`.

    linear: squares of wave numbers -> the symbols of L. initial and nonlinear give values at the points, of all fields.
    """
    line = low + length * np.arange(points) / points
    values = initial(*np.meshgrid(line, line, indexing="ij"))
    real = np.isrealobj(values)
    numbers = 2 * np.pi / length * np.fft.fftfreq(points, 1 / points)
    symbol = linear(numbers[:, None] ** 2 + numbers[: points // 2 + 1 if real else points] ** 2)

    def rate(modes: Modes) -> Modes:
        return _modes(nonlinear(_values(modes, points, real)))

    now, film, parts = _modes(values), [], {}
    for duration in np.round(np.diff(edges), 12).tolist():
        if duration not in parts:
            parts[duration] = coefficients(symbol, duration / steps)
        slab = [now]
        for _ in range(frames):
            for _ in range(steps // frames):
                now = advance(now, rate, *parts[duration])
            slab.append(now)
        film.append(slab)
    return Film(low, length, real, edges, np.array(film))


def _modes(values: Fields) -> Modes:
    return (fft.rfft2 if np.isrealobj(values) else fft.fft2)(values, norm="forward")


def _values(modes: Modes, points: int, real: bool) -> Fields:
    back = fft.irfft2 if real else fft.ifft2
    return back(modes, s=(points, points), norm="forward")


def _fine(modes: Complex[np.ndarray, "frames f n m"], real: bool) -> Inexact[np.ndarray, "frames f 2n 2n"]:
    """Values on a grid of twice as many points."""
    points = modes.shape[-2]
    rows = np.fft.fftfreq(points, 1 / points).astype(int)
    columns = np.arange(modes.shape[-1]) if real else rows
    wide = np.zeros((*modes.shape[:-2], 2 * points, points + 1 if real else 2 * points), complex)
    wide[..., rows[:, None], columns] = modes
    return _values(wide, 2 * points, real)


def _stencil(place: Points, size: int) -> tuple[np.ndarray, Float[np.ndarray, "n 10"]]:
    """The nearest points of a ring of so many, and their weights; place: in distances between them."""
    left = np.floor(place).astype(int)
    return (left[:, None] + _NEAREST) % size, _lagrange(_NEAREST, place - left)


def _lagrange(nodes: np.ndarray, at: Points) -> Float[np.ndarray, "n k"]:
    """Weights at nodes of the polynomial through values there."""
    gaps = nodes[:, None] - nodes + np.eye(nodes.size)
    away = np.repeat((at[:, None] - nodes)[:, None, :], nodes.size, axis=1)
    away[:, np.arange(nodes.size), np.arange(nodes.size)] = 1.0
    return np.prod(away, axis=2) / np.prod(gaps, axis=1)
