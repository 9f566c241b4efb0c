"""Classical solvers of built-in problems that evolve."""

import numpy as np
import scipy.linalg
from scipy.integrate import solve_ivp

from phijax.problems.references import ginzburg_landau as vortex
from phijax.problems.references import gray_scott as reaction_of_two
from phijax.problems.references import kdv as solitons
from phijax.problems.references import kuramoto_sivashinsky as chaos
from phijax.problems.references import reaction_diffusion as fisher
from phijax.problems.references._collocation import Measured, against, line
from phijax.problems.references.allen_cahn import evaluate
from phijax.problems.references.make_allen_cahn import make


def heat_1d() -> Measured:
    x, slope = line(24, 0.0, 1.0)
    t = np.linspace(0, 1, 51)
    step = scipy.linalg.expm(0.1 * (slope @ slope)[1:-1, 1:-1] * t[1])
    u = [(np.sin(np.pi * x) + np.sin(3 * np.pi * x) / 2)[1:-1]]
    for _ in t[1:]:
        u.append(step @ u[-1])
    grid = np.meshgrid(t, x[1:-1], indexing="ij")
    return against("heat_1d", {"u": np.array(u)}, t=grid[0], x=grid[1]), "Chebyshev degree 24, matrix exponential"


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
    return against("wave_1d", {"u": u}, t=grid[0], x=grid[1]), "Chebyshev degree 32, matrix exponential"


def burgers_by_lines(
    lambda1: float, lambda2: float, t: np.ndarray, degree: int, tolerance: float
) -> tuple[np.ndarray, ...]:
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
    x, u = burgers_by_lines(1.0, 0.01 / np.pi, t, 96, 1e-7)
    grid = np.meshgrid(x, t, indexing="ij")
    return against("burgers", {"u": u}, x=grid[0], t=grid[1]), "Chebyshev degree 96 on the half, BDF 1e-7"


def allen_cahn() -> Measured:
    pieces = make("kink", 12, 10)
    x, t = np.meshgrid(np.linspace(-1, 1, 201), np.linspace(0, 1, 101))
    u = evaluate(pieces, "kink", x, t)
    return against("allen_cahn", {"u": u}, x=x, t=t), "spectral elements of degree 12, order 8 in time"


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
    error = against("schrodinger", {"h": np.array(kept)}, t=grid[0], x=grid[1])
    return error, "split step of order 4, 512 Fourier modes, 800 steps"


def lotka_volterra() -> Measured:
    def rate(t, y):
        return [1.5 * y[0] - y[0] * y[1], y[0] * y[1] - 3 * y[1]]

    t = np.linspace(0, 10, 201)
    x, y = solve_ivp(rate, (0, 10), [1.0, 1.0], method="DOP853", rtol=1e-10, atol=1e-12, t_eval=t).y
    return against("lotka_volterra", {"x": x, "y": y}, t=t), "Runge-Kutta of order 8, tolerance 1e-10"


def convection() -> Measured:
    x, t = 2 * np.pi * np.arange(64) / 64, np.linspace(0, 1, 101)[:, None]
    carried = np.fft.rfft(np.sin(x)) * np.exp(-50j * np.arange(33) * t)
    at = dict(zip("xt", np.broadcast_arrays(x, t), strict=True))
    return against("convection", {"u": np.fft.irfft(carried, 64)}, **at), "64 Fourier modes, each turned"


def kdv() -> Measured:
    x, t = np.meshgrid(np.linspace(-1, 1, 65), np.linspace(0, 1, 41))
    film = solitons.solved.__wrapped__(0.022, 1.0, points=192, steps=4000)
    return against("kdv", {"u": film(x, t)}, x=x, t=t), "192 Fourier modes, exponential time differencing"


def van_der_pol() -> Measured:
    def rate(t, y):
        return [y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]]

    t = np.linspace(0, 10, 201)
    x = solve_ivp(rate, (0, 10), [2.0, 0.0], method="DOP853", rtol=1e-10, atol=1e-12, t_eval=t).y[0]
    return against("van_der_pol", {"x": x}, t=t), "Runge-Kutta of order 8, tolerance 1e-10"


def reaction() -> Measured:
    x, t = np.linspace(0, 2 * np.pi, 201), np.linspace(0, 1, 101)
    start = np.exp(-8 * (x / np.pi - 1) ** 2)
    options = {"method": "DOP853", "rtol": 1e-10, "atol": 1e-12, "t_eval": t}
    u = solve_ivp(lambda t, u: 5 * u * (1 - u), (0, 1), start, **options).y
    grid = np.meshgrid(x, t, indexing="ij")
    return against("reaction", {"u": u}, x=grid[0], t=grid[1]), "Runge-Kutta of order 8, tolerance 1e-10"


def reaction_diffusion() -> Measured:
    x, t = np.meshgrid(np.linspace(0, 2 * np.pi, 65), np.linspace(0, 1, 41))
    film = fisher.solved.__wrapped__(5.0, 5.0, 128, 400)
    error = against("reaction_diffusion", {"u": film(x, t)}, x=x, t=t)
    return error, "128 Fourier modes, exponential time differencing"


def kuramoto_sivashinsky() -> Measured:
    x, t = np.meshgrid(np.linspace(0, 2 * np.pi, 65), np.linspace(0, 0.5, 41))
    film = chaos.solved.__wrapped__(0.5, 192, 4000)
    error = against("kuramoto_sivashinsky", {"u": film(x, t)}, x=x, t=t)
    return error, "192 Fourier modes, exponential time differencing"


def _in_square(t_end: float) -> dict[str, np.ndarray]:
    columns = np.random.default_rng(0).uniform([[-1], [-1], [0]], [[1], [1], [t_end]], (3, 4000))
    return dict(zip("xyt", columns, strict=True))


def ginzburg_landau() -> Measured:
    at = _in_square(0.2)
    film = vortex.solved.__wrapped__(10.0, 0.004, 0.2, points=128, steps=20)
    return against("ginzburg_landau", {"A": film(**at)[0]}, **at), "128 x 128 modes, exponential time differencing"


def gray_scott() -> Measured:
    at = _in_square(0.2)
    film = reaction_of_two.solved.__wrapped__(0.2, points=96, steps=20)
    values = dict(zip("uv", film(**at), strict=True))
    return against("gray_scott", values, **at), "96 x 96 modes, exponential time differencing"
