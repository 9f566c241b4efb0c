"""Periodic evolutions u_t = L u + N(u) in one dimension by exponential time differencing, order 4 (Cox & Matthews 2002),
with its coefficients by contour integrals (Kassam & Trefethen 2005)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float

Array = Float[np.ndarray, "..."]
Modes = Complex[np.ndarray, "*m"]
Nonlinear = Callable[[Modes], Modes]
_CONTOUR = np.exp(2j * np.pi * (np.arange(64) + 0.5) / 64)
_CHUNK = 4096  # points whose modes are summed together


@dataclass(frozen=True)
class Evolution:
    """A solution of period `length` from x = `low`: its modes and their rates at equal times from 0 to `end`."""

    low: float
    length: float
    end: float
    modes: Complex[np.ndarray, "k m"]
    rates: Complex[np.ndarray, "k m"]

    def __call__(self, x: Array, t: Array) -> Array:
        """u at any points, with a cubic between two times."""
        x, t = np.broadcast_arrays(np.asarray(x, float), np.asarray(t, float))
        flat = [
            self._at(x.ravel()[i : i + _CHUNK], t.ravel()[i : i + _CHUNK]) for i in range(0, max(x.size, 1), _CHUNK)
        ]
        return np.concatenate(flat).reshape(x.shape)

    def _at(self, x: Float[np.ndarray, " n"], t: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        last = len(self.modes) - 1
        step = self.end / last
        k = np.clip((t / step).astype(int), 0, last - 1)
        s = (t / step - k)[:, None]
        before = self.modes[k] * (1 + 2 * s) * (1 - s) ** 2 + step * self.rates[k] * s * (1 - s) ** 2
        after = self.modes[k + 1] * s**2 * (3 - 2 * s) - step * self.rates[k + 1] * s**2 * (1 - s)
        count = self.modes.shape[1]
        waves = np.exp(2j * np.pi / self.length * np.outer(x - self.low, np.arange(count)))
        halved = np.where(np.arange(count) == 0, 1.0, 2.0)  # modes of a real function come in pairs
        return np.sum(halved * ((before + after) * waves).real, axis=1)


def evolve(
    initial: Callable[[Array], Array],
    linear: Callable[[Array], Array],
    nonlinear: Callable[[Array, Array], Modes],
    *,
    low: float,
    length: float,
    end: float,
    points: int,
    steps: int,
) -> Evolution:
    """Integrates by `points` points in x and `steps` steps in time.

    linear: wave numbers -> the symbol of L. nonlinear: (u on 3/2 as many points, wave numbers) -> N as modes of that grid.
    """
    numbers = 2 * np.pi / length * np.arange(points // 2)
    symbol = np.asarray(linear(numbers), complex)
    wide = 3 * points // 2
    wide_numbers = 2 * np.pi / length * np.arange(wide // 2 + 1)

    def rate(modes: Modes) -> Modes:
        padded = np.zeros(wide // 2 + 1, complex)
        padded[: len(modes)] = modes
        u = np.fft.irfft(padded * wide, wide)
        return (nonlinear(u, wide_numbers) / wide)[: len(modes)]

    grid = low + length * np.arange(points) / points
    now = (np.fft.rfft(initial(grid)) / points)[: points // 2]
    parts = coefficients(symbol, end / steps)
    modes, rates = [now], [symbol * now + rate(now)]
    for _ in range(steps):
        now = advance(now, rate, *parts)
        modes.append(now)
        rates.append(symbol * now + rate(now))
    return Evolution(low, length, end, np.array(modes), np.array(rates))


def coefficients(symbol: Modes, step: float) -> tuple[Modes, ...]:
    """What `advance` multiplies by in steps of this length, of the symbol of L."""
    around = step * symbol[..., None] + _CONTOUR

    def mean(function: Callable[[Array], Array]) -> Modes:
        return step * np.mean(function(around), axis=-1)

    return (
        np.exp(step * symbol),
        np.exp(step * symbol / 2),
        mean(lambda z: (np.exp(z / 2) - 1) / z),
        mean(lambda z: (-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3),
        mean(lambda z: (2 + z + np.exp(z) * (z - 2)) / z**3),
        mean(lambda z: (-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3),
    )


def advance(
    u: Modes, rate: Nonlinear, whole: Modes, half: Modes, q: Modes, first: Modes, middle: Modes, last: Modes
) -> Modes:
    """The modes one step later; rate: modes -> those of N. The rest are `coefficients`."""
    start = rate(u)
    a = half * u + q * start
    at_a = rate(a)
    b = half * u + q * at_a
    at_b = rate(b)
    c = half * a + q * (2 * at_b - start)
    return whole * u + first * start + 2 * middle * (at_a + at_b) + last * rate(c)
