"""Classical solvers of built-in problems without time, and of linear ones on boxes in space and time."""

import numpy as np
import scipy.linalg

from phijax import problems
from phijax.problems.references._collocation import Measured, against, diffusion, line, solve_sum, time
from phijax.problems.references._legendre import basis, clamped, gauss
from phijax.problems.references.make_cavity import solve as solve_cavity


def nothing(*mesh: np.ndarray) -> np.ndarray:
    """Zero source, or zero values."""
    return np.zeros(())


def _poisson_on_square(name: str, degree: int, waves: tuple[int, ...]) -> Measured:
    def source(x, y):
        return -sum(2 * (w * np.pi) ** 2 * np.sin(w * np.pi * x) * np.sin(w * np.pi * y) for w in waves) / len(waves)

    (x, y), u = solve_sum([diffusion(degree, 0, 1)] * 2, nothing, source)
    return against(name, {"u": u}, x=x, y=y), f"Chebyshev collocation of degree {degree}"


def poisson_2d() -> Measured:
    return _poisson_on_square("poisson_2d", 20, (1,))


def poisson_multiscale() -> Measured:
    return _poisson_on_square("poisson_multiscale", 64, (4, 8, 12, 16))


def helmholtz() -> Measured:
    def source(x, y):
        return (1 - 17 * np.pi**2) * np.sin(np.pi * x) * np.sin(4 * np.pi * y)

    (x, y), u = solve_sum([diffusion(36, -1, 1)] * 2, nothing, source, shift=1.0)
    return against("helmholtz", {"u": u}, x=x, y=y), "Chebyshev collocation of degree 36"


def poisson_1d() -> Measured:
    (x,), u = solve_sum([diffusion(20, 0, 1)], nothing, lambda x: -(np.pi**2) * np.sin(np.pi * x))
    return against("poisson_1d", {"u": u}, x=x), "Chebyshev collocation of degree 20"


def poisson_5d() -> Measured:
    def exact(*x):
        return sum(np.cos(np.pi * a) for a in x)

    mesh, u = solve_sum([diffusion(10, 0, 1)] * 5, exact, lambda *x: -(np.pi**2) * exact(*x))
    named = {f"x{i + 1}": a for i, a in enumerate(mesh)}
    return against("poisson_5d", {"u": u}, **named), "Chebyshev collocation of degree 10 in each direction"


def poisson_10d() -> Measured:
    def exact(*x):
        return sum(a * b for a, b in zip(x[::2], x[1::2], strict=True))

    mesh, u = solve_sum([diffusion(2, 0, 1)] * 10, exact, nothing)
    named = {f"x{i + 1}": a for i, a in enumerate(mesh)}
    return against("poisson_10d", {"u": u}, **named), "Chebyshev collocation of degree 2 in each direction"


def poisson_100d(points: int = 100, walks: int = 100) -> Measured:
    """Each step of a walk goes to the largest sphere about its place that fits (Muller 1956)."""
    random = np.random.default_rng(0)

    def directions(*shape):
        normal = random.standard_normal((*shape, 100))
        return normal / np.linalg.norm(normal, axis=-1, keepdims=True)

    x = directions(points) * random.uniform(0, 1, (points, 1)) ** 0.01
    at, gained = np.repeat(x, walks, axis=0), np.zeros(points * walks)
    running = np.arange(points * walks)
    while running.size:
        room = 1 - np.linalg.norm(at[running], axis=1)
        gained[running] -= room**2  # lap u = 200: u is its mean over a sphere less the square of the radius
        at[running] += room[:, None] * directions(running.size)
        running = running[1 - np.linalg.norm(at[running], axis=1) > 1e-3]  # so near, a walk lingers
    u = (1 + gained).reshape(points, walks).mean(axis=1)
    named = {f"x{i + 1}": a for i, a in enumerate(x.T)}
    return against("poisson_100d", {"u": u}, **named), f"walks on spheres, {walks} from each of {points} points"


def biharmonic(degree: int = 24) -> Measured:
    """Galerkin's method; the functions are orthogonal in their second derivatives."""
    nodes, weights = gauss(2 * degree)
    free = clamped(degree)
    value, curve = basis(nodes, degree) @ free, basis(nodes, degree, 2) @ free
    mass, mixed, stiff = (
        left.T @ (weights[:, None] * right) for left, right in ((value, value), (curve, value), (curve, curve))
    )
    X, Y = np.cos(2 * np.pi * nodes)[:, None], np.cos(2 * np.pi * nodes)[None, :]
    load = value.T @ (np.outer(weights, weights) * 4 * np.pi**4 * (4 * X * Y - X - Y)) @ value
    matrix = np.kron(stiff, mass) + np.kron(mixed, mixed.T) + np.kron(mixed.T, mixed) + np.kron(mass, stiff)
    series = np.linalg.solve(matrix, load.ravel()).reshape(load.shape)
    x, y = np.meshgrid(nodes, nodes, indexing="ij")
    error = against("biharmonic", {"u": value @ series @ value.T}, x=x, y=y)
    return error, f"Legendre-Galerkin of degree {degree}"


def rod_interface() -> Measured:
    conductivity = np.array([1.0, 10.0]) / 0.5
    middle = conductivity[1] / conductivity.sum()  # one unknown: flux in is flux out
    x = np.linspace(0, 0.5, 11)
    ends = {"T1": np.interp(x, [0, 0.5], [0, middle]), "T2": np.interp(x + 0.5, [0.5, 1], [middle, 1])}
    return max(against("rod_interface", {n: v}, x=x + s) for (n, v), s in zip(ends.items(), (0, 0.5), strict=True)), (
        "linear finite elements, one on each side"
    )


def fokker_planck(degree: int = 64) -> Measured:
    """No flux anywhere, for none enters; the integral sets the size."""
    x, slope = line(degree, -5.0, 5.0)
    antiderivative = np.linalg.pinv(slope)
    matrix = np.concatenate([slope + np.diag(x), antiderivative[-1:] - antiderivative[:1]])
    p = np.linalg.lstsq(matrix, np.append(np.zeros(degree + 1), 1.0), rcond=None)[0]
    return against("fokker_planck", {"p": p}, x=x), f"Chebyshev collocation of degree {degree}, least squares"


def volterra(degree: int = 20) -> Measured:
    """u' = 1 - v, v' = u from u = v = 0."""
    x, slope = line(degree, 0.0, 5.0)
    inner, one = slope[1:, 1:], np.eye(degree)
    matrix, right = np.block([[inner, one], [-one, inner]]), np.concatenate([np.ones(degree), np.zeros(degree)])
    u = np.append(0.0, np.linalg.solve(matrix, right)[:degree])
    return against("volterra", {"u": u}, x=x), f"Chebyshev collocation of degree {degree}"


def heat_4d() -> Measured:
    def exact(*at):
        return np.exp(-0.05 * np.pi**2 * at[-1]) * sum(np.cos(np.pi * a) for a in at[:-1])

    mesh, u = solve_sum([*[diffusion(10, 0, 1, 0.05)] * 4, time(8, 1)], exact, nothing)
    named = dict(zip(("x1", "x2", "x3", "x4", "t"), mesh, strict=True))
    return against("heat_4d", {"u": u}, **named), "Chebyshev collocation of degree 10 in space, 8 in time"


def heat_multiscale() -> Measured:
    def start(x, y, t):
        return np.sin(20 * np.pi * x) * np.sin(np.pi * y) * (t == 0)

    axes = [diffusion(64, 0, 1, 1 / (500 * np.pi) ** 2), diffusion(20, 0, 1, 1 / np.pi**2), time(20, 5)]
    (x, y, t), u = solve_sum(axes, start, nothing)
    return against("heat_multiscale", {"u": u}, x=x, y=y, t=t), "Chebyshev collocation of degrees 64, 20 and 20"


def heat_parametric() -> Measured:
    """A problem for each diffusivity, and between them a polynomial would do."""
    found, kappas = [], line(12, 0.05, 0.5)[0]
    for kappa in kappas:
        mesh, u = solve_sum(
            [diffusion(16, 0, 1, kappa), time(20, 1)], lambda x, t: np.sin(np.pi * x) * (t == 0), nothing
        )
        found.append(u)
    x, t = mesh
    shape = (kappas.size, *x.shape)
    at = {"x": np.broadcast_to(x, shape), "t": np.broadcast_to(t, shape)}
    error = against("heat_parametric", {"u": np.array(found)}, kappa=kappas[:, None, None] + 0 * at["x"], **at)
    return error, "Chebyshev collocation of degrees 16 and 20 at 13 diffusivities"


def cavity() -> Measured:
    x, y = np.meshgrid(*[(np.arange(100) + 0.5) / 100] * 2)
    flow = solve_cavity(32)(x, y)
    errors = {name: against("cavity", {name: value}, x=x, y=y) for name, value in flow.items()}
    return errors, "Legendre-Galerkin stream function of degree 32, Newton"


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
    return against("kovasznay", values, **flat), f"Chebyshev collocation of degree {degree}, least squares, Newton"
