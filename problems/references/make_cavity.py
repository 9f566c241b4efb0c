"""Makes the flows in the cavity: `python -m phijax.problems.references.make_cavity [RE ...]` (some minutes)."""

import sys
import time
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from jaxtyping import Float

from phijax.problems.references._legendre import basis, clamped, ends, gauss
from phijax.problems.references._norms import relative_l2
from phijax.problems.references.cavity import (
    DEGREES,
    PARABOLIC,
    Flow,
    Stream,
    corner,
    corner_pressure,
    corners,
    stored,
)

Square = Float[np.ndarray, "n n"]
_STILL = Stream(*[np.zeros(())] * 5)
# Newton's method goes from one to the next, by series of this degree.
_REYNOLDS_ON_THE_WAY, _DEGREE_ON_THE_WAY = (100, 400, 1000, 2000, 3200), 40


@dataclass(frozen=True)
class Grid:
    """Gauss points of the square and the series' derivatives there, `at[k]` of order k in one direction."""

    degree: int
    nodes: Float[np.ndarray, " q"]
    weights: Float[np.ndarray, "q q"]
    at: tuple[Float[np.ndarray, "q n"], ...]

    @classmethod
    def of(cls, degree: int) -> "Grid":
        """A grid that integrates products of three series."""
        nodes, weights = gauss(2 * degree)
        return cls(degree, nodes, np.outer(weights, weights), tuple(basis(nodes, degree, k) for k in range(4)))

    def derivative(self, series: Square, in_x: int, in_y: int) -> Square:
        return self.at[in_x] @ series @ self.at[in_y].T

    def project(self, values: Square, in_x: int, in_y: int) -> Square:
        """Integrals of the values against every product of derivatives."""
        return self.at[in_x].T @ (self.weights * values) @ self.at[in_y]


def corner_sides(t: Float[np.ndarray, " n"]) -> tuple[Float[np.ndarray, "4 n"], Float[np.ndarray, "n 4"]]:
    """What the corner flows leave on the sides x = 0, 1 and on y = 0, 1: value at 0, value at 1, slope at 0, slope at 1.

    A corner flow fits its own wall and the lid.
    """
    one = np.ones_like(t)
    far, low, low_mirrored = corner(one, 1 - t), corner(t, one), corner(1 - t, one)
    sides = np.stack([-far.value, -far.value, far.a, -far.a])
    return sides, np.stack([-low.value - low_mirrored.value, 0 * t, low.b + low_mirrored.b, -4 * one], axis=1)


def lift(degree: int, cornered: bool) -> Square:
    """A series with the values and slopes on the four sides that are left to it (Coons's blend)."""
    t = gauss(degree + 1)[0]
    to_series = np.linalg.inv(basis(t, degree))
    sides, floor_and_lid = corner_sides(t) if cornered else (np.zeros((4, t.size)), np.zeros((t.size, 4)))
    floor_and_lid[:, 3] += 4 * t * (1 - t) if cornered else (4 * t * (1 - t)) ** 2
    sides, floor_and_lid = sides @ to_series.T, to_series @ floor_and_lid
    hermite = np.zeros((degree + 1, 4))
    hermite[:4] = np.linalg.inv(ends(degree)[:, :4])
    return hermite @ sides + floor_and_lid @ hermite.T - hermite @ (sides @ ends(degree).T) @ hermite.T


def flow_at(grid: Grid, series: Square, cornered: bool) -> Stream:
    """Derivatives of the whole stream function at the points of the grid."""
    singular = corners(grid.nodes[:, None], grid.nodes[None, :]) if cornered else _STILL
    orders = ((1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
    return Stream(*(grid.derivative(series, *order) + part for order, part in zip(orders, singular, strict=True)))


def solve_stream(degree: int, reynolds: float, cornered: bool, start: Square | None = None) -> Square:
    """Stream function psi, less the corner flows, by Newton's method on the weak form

    (lap psi, lap w) / Re + (lap psi, psi_y w_x - psi_x w_y) = 0 for all clamped w;

    the corner flows are biharmonic and drop out of the first term. start: a series of no higher degree for the same lid.
    """
    grid, free = Grid.of(degree), clamped(degree)
    series = lift(degree, cornered)
    if start is not None:
        lower = start.shape[0]
        series = np.pad(start, (0, degree + 1 - lower))
    stokes = _matrix(grid, free, _laplacian_pairs(1.0))
    for _ in range(20):
        now = flow_at(grid, series, cornered)
        own = grid.derivative(series, 2, 0) + grid.derivative(series, 0, 2)
        whole = now.xx + now.yy
        residual = (grid.project(own, 2, 0) + grid.project(own, 0, 2)) / reynolds
        residual += grid.project(whole * now.y, 1, 0) - grid.project(whole * now.x, 0, 1)
        convection = [
            ((1, 0), (2, 0), now.y), ((1, 0), (0, 2), now.y), ((1, 0), (0, 1), whole),
            ((0, 1), (2, 0), -now.x), ((0, 1), (0, 2), -now.x), ((0, 1), (1, 0), -whole),
        ]  # fmt: skip
        system = stokes / reynolds + _matrix(grid, free, convection)
        change = np.linalg.solve(system, -(free.T @ residual @ free).ravel()).reshape(degree - 3, degree - 3)
        series = series + free @ change @ free.T
        if np.abs(change).max() < 1e-8 * np.abs(series).max():  # the next would be as its square
            return series
    raise ArithmeticError(f"Newton's method did not end at degree {degree}.")


def _laplacian_pairs(value: float) -> list:
    pure = ((2, 0), (0, 2))
    return [(test, trial, value) for test in pure for trial in pure]


def _matrix(grid: Grid, free: Float[np.ndarray, "n m"], terms: list) -> Float[np.ndarray, "m*m m*m"]:
    """Sum over (test orders, trial orders, weight) of the integrals of weight x test x trial."""
    at = [values @ free for values in grid.at[:3]]
    size = free.shape[1]
    total = np.zeros((size * size, size * size))
    for test, trial, weight in terms:
        along_x, along_y = (
            np.einsum("qa,qc->qac", at[i], at[j]).reshape(grid.nodes.size, -1) for i, j in zip(test, trial, strict=True)
        )
        block = along_x.T @ (grid.weights * weight) @ along_y
        total += block.reshape(size, size, size, size).transpose(0, 2, 1, 3).reshape(size * size, size * size)
    return total


def solve_pressure(series: Square, reynolds: float, cornered: bool) -> Square:
    """Pressure, less that of the corner flows: the series whose gradient is nearest that of the momentum equation."""
    grid = Grid.of(series.shape[0] - 1)
    now, third = flow_at(grid, series, cornered), lambda i, j: grid.derivative(series, i, j) / reynolds
    in_x = third(2, 1) + third(0, 3) - (now.y * now.xy - now.x * now.yy)
    in_y = -third(3, 0) - third(1, 2) + (now.y * now.xx - now.x * now.xy)
    line = np.diag(gauss(grid.nodes.size)[1])
    roots, modes = scipy.linalg.eigh(grid.at[1].T @ line @ grid.at[1], grid.at[0].T @ line @ grid.at[0])
    sums = roots[:, None] + roots[None, :]
    sums[0, 0] = np.inf  # the constant, set below
    loads = modes.T @ (grid.project(in_x, 1, 0) + grid.project(in_y, 0, 1)) @ modes
    pressure = modes @ (loads / sums) @ modes.T
    floor = basis(np.zeros(1), grid.degree)
    pressure[0, 0] -= (floor @ pressure @ floor.T).item()
    if cornered:
        pressure[0, 0] -= corner_pressure(np.zeros(1), np.zeros(1), reynolds).item()
    return pressure


def solve(degree: int, reynolds: float = PARABOLIC, start: Square | None = None) -> Flow:
    """The flow by series of one degree."""
    cornered = reynolds == PARABOLIC
    series = solve_stream(degree, reynolds, cornered, start)
    return Flow(reynolds, cornered, series, solve_pressure(series, reynolds, cornered))


def regularized(reynolds: float) -> Square:
    """A series of low degree under the regularized lid, to start from."""
    series = None
    for number in (*(n for n in _REYNOLDS_ON_THE_WAY if n < reynolds), reynolds):
        series = solve_stream(_DEGREE_ON_THE_WAY, number, cornered=False, start=series)
    assert series is not None
    return series


def main(reynolds: int) -> None:
    """Solve at rising degree, compare, store the last."""
    points, last = (np.arange(200) + 0.5) / 200, DEGREES[reynolds]
    start = None if reynolds == PARABOLIC else regularized(reynolds)
    found = {}
    for degree in (last - 24, last - 16, last - 8, last):
        began = time.perf_counter()
        flow = solve(degree, reynolds, start)
        start, found[degree] = flow.stream, flow(points[:, None], points[None, :])
        print(f"Re {reynolds}, degree {degree}: {time.perf_counter() - began:.1f} s", flush=True)
    errors = {d: [relative_l2(values[f], found[last][f]) for f in "uvp"] for d, values in found.items()}
    for degree, row in errors.items():
        print(degree, " ".join(f"{name} {value:.1e}" for name, value in zip("uvp", row, strict=True)))
    path = stored(reynolds)
    np.savez_compressed(
        path, reynolds=flow.reynolds, stream=flow.stream, pressure=flow.pressure, errors=errors[last - 8]
    )
    print(f"{path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    for number in map(int, sys.argv[1:] or DEGREES):
        main(number)
