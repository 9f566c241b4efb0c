"""Classical solvers of the built-in problems, for their time and error: `python -m phijax.problems.references.classical`.

CPU seconds of one core, relative L2 error against the problem's reference; what it prints is kept in each `INFO`.
"""

import time
from collections.abc import Callable

import numpy as np
import scipy.linalg
from jaxtyping import Float
from numpy.polynomial import chebyshev
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, least_squares

from phijax import problems
from phijax.problems.references._norms import relative_l2
from phijax.problems.references.allen_cahn import evaluate
from phijax.problems.references.make_allen_cahn import make

Measured = tuple[float | dict[str, float], str]


def line(degree: int, low: float, high: float) -> tuple[np.ndarray, Float[np.ndarray, "n n"]]:
    """Chebyshev-Lobatto nodes of an interval and the matrix that differentiates there."""
    nodes = -np.cos(np.pi * np.arange(degree + 1) / degree)
    values = chebyshev.chebvander(nodes, degree)
    slopes = chebyshev.chebvander(nodes, degree - 1) @ chebyshev.chebder(np.eye(degree + 1))
    slope = np.linalg.solve(values.T, slopes.T).T
    return low + (high - low) * (1 + nodes) / 2, 2 / (high - low) * slope


def _helmholtz_on_square(name: str, degree: int, low: float, shift: float, source: Callable) -> Measured:
    """lap u + shift u = source with u = 0 on the sides, by the eigenvectors of one direction."""
    x, slope = line(degree, low, 1.0)
    inner = (slope @ slope)[1:-1, 1:-1]
    roots, modes = scipy.linalg.eig(inner)
    load = source(x[1:-1, None], x[None, 1:-1])
    inverse = np.linalg.inv(modes)
    middle = inverse @ load @ inverse.T / (roots[:, None] + roots[None, :] + shift)
    u = (modes @ middle @ modes.T).real
    grid = np.meshgrid(x[1:-1], x[1:-1], indexing="ij")
    return _against(name, {"u": u}, x=grid[0], y=grid[1]), f"Chebyshev collocation, degree {degree}"


def _against(name: str, values: dict[str, np.ndarray], **coordinates: np.ndarray) -> float:
    """Largest of the fields' errors at these points."""
    problem = problems.get(name).problem()
    flat = {key: np.ravel(column) for key, column in coordinates.items()}
    exact = problem.reference({key: field.coordinates for key, field in problem.fields.items()}, flat)
    return max(relative_l2(np.ravel(value), exact[key]) for key, value in values.items())


def poisson_2d() -> Measured:
    def source(x, y):
        return -2 * np.pi**2 * np.sin(np.pi * x) * np.sin(np.pi * y)

    return _helmholtz_on_square("poisson_2d", 20, 0.0, 0.0, source)


def helmholtz() -> Measured:
    def source(x, y):
        return (1 - 17 * np.pi**2) * np.sin(np.pi * x) * np.sin(4 * np.pi * y)

    return _helmholtz_on_square("helmholtz", 36, -1.0, 1.0, source)


def heat_1d() -> Measured:
    x, slope = line(24, 0.0, 1.0)
    t = np.linspace(0, 1, 51)
    step = scipy.linalg.expm(0.1 * (slope @ slope)[1:-1, 1:-1] * t[1])
    u = [(np.sin(np.pi * x) + np.sin(3 * np.pi * x) / 2)[1:-1]]
    for _ in t[1:]:
        u.append(step @ u[-1])
    grid = np.meshgrid(t, x[1:-1], indexing="ij")
    return _against("heat_1d", {"u": np.array(u)}, t=grid[0], x=grid[1]), "Chebyshev degree 24, matrix exponential"


def wave_1d() -> Measured:
    x, slope = line(32, 0.0, 1.0)
    second, size, t = 4 * (slope @ slope)[1:-1, 1:-1], 31, np.linspace(0, 1, 51)
    step = scipy.linalg.expm(
        t[1] * np.block([[np.zeros((size, size)), np.eye(size)], [second, np.zeros((size, size))]])
    )
    states = [np.concatenate([(np.sin(np.pi * x) + np.sin(4 * np.pi * x) / 2)[1:-1], np.zeros(size)])]
    for _ in t[1:]:
        states.append(step @ states[-1])
    grid = np.meshgrid(t, x[1:-1], indexing="ij")
    u = np.array(states)[:, :size]
    return _against("wave_1d", {"u": u}, t=grid[0], x=grid[1]), "Chebyshev degree 32, matrix exponential"


def _burgers(lambda1: float, lambda2: float, t: np.ndarray, degree: int, tolerance: float) -> tuple[np.ndarray, ...]:
    """u at Chebyshev nodes of [0, 1], which the odd solution does not leave, and times."""
    x, slope = line(degree, 0.0, 1.0)
    first, second = slope[1:-1, 1:-1], (slope @ slope)[1:-1, 1:-1]

    def rate(t, u):
        return -lambda1 * u * (first @ u) + lambda2 * (second @ u)

    def jacobian(t, u):
        return -lambda1 * (np.diag(first @ u) + u[:, None] * first) + lambda2 * second

    options = {"method": "BDF", "jac": jacobian, "rtol": tolerance, "atol": tolerance / 100}
    inner = solve_ivp(rate, (0.0, t[-1]), -np.sin(np.pi * x[1:-1]), t_eval=t, **options).y
    return x, np.pad(inner, ((1, 1), (0, 0)))


def burgers() -> Measured:
    t = np.linspace(0, 1, 51)
    x, u = _burgers(1.0, 0.01 / np.pi, t, 96, 1e-7)
    grid = np.meshgrid(x, t, indexing="ij")
    return _against("burgers", {"u": u}, x=grid[0], t=grid[1]), "Chebyshev degree 96 on the half, BDF 1e-7"


def burgers_inverse() -> Measured:
    seen = problems.get("burgers_inverse").observations(0.0)
    order, sign = np.argsort(seen["t"]), np.sign(seen["x"])
    times = seen["t"][order]

    def misfit(unknown):
        x, u = _burgers(unknown[0], np.exp(unknown[1]), times, 80, 1e-6)
        series = np.linalg.solve(chebyshev.chebvander(2 * x - 1, 80), u)
        at = chebyshev.chebvander(2 * np.abs(seen["x"][order]) - 1, 80)
        return sign[order] * np.sum(at * series.T, axis=1) - seen["u"][order]

    found = least_squares(misfit, [0.5, np.log(0.01)], diff_step=1e-4, xtol=1e-8).x
    errors = {"lambda1": abs(found[0].item() - 1), "lambda2": abs(np.exp(found[1]).item() * 100 * np.pi - 1)}
    return errors, "least squares over Chebyshev and BDF, initial value and walls known"


def diffusion_inverse() -> Measured:
    x, slope = line(24, -1.0, 1.0)
    second, source = (slope @ slope)[1:-1, 1:-1], np.sin(np.pi * x[1:-1]) * (np.pi**2 - 1)

    def at_end(diffusivity):
        def rate(t, u):
            return diffusivity * (second @ u) + np.exp(-t) * source

        options = {"method": "Radau", "jac": diffusivity * second, "rtol": 1e-9, "atol": 1e-11}
        return solve_ivp(rate, (0.0, 1.0), np.sin(np.pi * x[1:-1]), **options).y[:, -1]

    seen = np.exp(-1) * np.sin(np.pi * x[1:-1])
    found = brentq(lambda d: seen @ (at_end(d) - seen), 0.5, 2.0, xtol=1e-10)
    return {"D": abs(found - 1)}, "Chebyshev degree 24, Radau, Brent's root"


def allen_cahn() -> Measured:
    pieces = make("kink", 12, 10)
    x, t = np.meshgrid(np.linspace(-1, 1, 201), np.linspace(0, 1, 101))
    u = evaluate(pieces, "kink", x, t)
    return _against("allen_cahn", {"u": u}, x=x, t=t), "spectral elements of degree 12, order 8 in time"


def schrodinger() -> Measured:
    modes, steps = 512, 800
    x, h = -15 + 30 * np.arange(modes) / modes, np.pi / 2 / steps
    waves = np.fft.fftfreq(modes, 1 / modes) * np.pi / 15
    parts = np.array([1.0, -(2 ** (1 / 3)), 1.0]) / (2 - 2 ** (1 / 3))  # three Strang steps make order 4 (Yoshida 1990)
    now, kept, t = 2 / np.cosh(x) + 0j, [], []
    for index in range(steps):
        for part in parts:
            half = np.exp(-0.25j * waves**2 * part * h)
            now = np.fft.ifft(half * np.fft.fft(now))
            now = now * np.exp(1j * np.abs(now) ** 2 * part * h)
            now = np.fft.ifft(half * np.fft.fft(now))
        if index % 20 == 19:
            kept.append(now)
            t.append((index + 1) * h)
    grid = np.meshgrid(t, x, indexing="ij")
    error = _against("schrodinger", {"h": np.array(kept)}, t=grid[0], x=grid[1])
    return error, "split step of order 4, 512 Fourier modes, 800 steps"


def lotka_volterra() -> Measured:
    def rate(t, y):
        return [1.5 * y[0] - y[0] * y[1], y[0] * y[1] - 3 * y[1]]

    t = np.linspace(0, 10, 201)
    x, y = solve_ivp(rate, (0, 10), [1.0, 1.0], method="DOP853", rtol=1e-10, atol=1e-12, t_eval=t).y
    return _against("lotka_volterra", {"x": x, "y": y}, t=t), "Runge-Kutta of order 8, tolerance 1e-10"


def kovasznay() -> Measured:
    """Collocation at all nodes, solved by least squares, Newton from the boundary's own values."""
    degree = 18
    x, along = line(degree, -0.5, 1.0)
    y, across = line(degree, -0.5, 1.5)
    one, size = np.eye(degree + 1), (degree + 1) ** 2
    dx, dy = np.kron(along, one), np.kron(one, across)
    grid = np.meshgrid(x, y, indexing="ij")
    edge = np.zeros((degree + 1, degree + 1), bool)
    edge[[0, -1]] = edge[:, [0, -1]] = True
    problem = problems.get("kovasznay").problem()
    flat = {"x": grid[0].ravel(), "y": grid[1].ravel()}
    exact = problem.reference({key: field.coordinates for key, field in problem.fields.items()}, flat)
    given = np.concatenate([np.where(edge.ravel(), exact[key], 0.0) for key in "uvp"])
    fixed = np.tile(edge.ravel(), 3)
    state, viscous, none = given.copy(), (dx @ dx + dy @ dy) / 40, np.zeros((size, size))
    for convected in (0, *[1] * 9):  # Stokes flow first
        u, v, p = np.split(state, 3)
        carry = convected * (u[:, None] * dx + v[:, None] * dy) - viscous
        residual = np.concatenate([carry @ u + dx @ p, carry @ v + dy @ p, dx @ u + dy @ v])
        matrix = np.block(
            [
                [carry + np.diag(convected * (dx @ u)), np.diag(convected * (dy @ u)), dx],
                [np.diag(convected * (dx @ v)), carry + np.diag(convected * (dy @ v)), dy],
                [dx, dy, none],
            ]
        )
        change = scipy.linalg.lstsq(matrix[:, ~fixed], -residual, lapack_driver="gelsy")[0]
        state[~fixed] += change
        if np.abs(change).max() < 1e-11:
            break
    values = dict(zip("uvp", np.split(state, 3), strict=True))
    return _against("kovasznay", values, **flat), f"Chebyshev collocation of degree {degree}, least squares, Newton"


SOLVERS = [
    allen_cahn, burgers, burgers_inverse, diffusion_inverse, heat_1d, helmholtz, kovasznay, lotka_volterra, poisson_2d,
    schrodinger, wave_1d,
]  # fmt: skip


def main() -> None:
    """Run each twice; the second is timed, with imports and caches behind it."""
    for solver in SOLVERS:
        solver()
        began = time.process_time()
        error, method = solver()
        print(f"{solver.__name__}: {error}, {time.process_time() - began:.2g} s, {method}", flush=True)


if __name__ == "__main__":
    main()
