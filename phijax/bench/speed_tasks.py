"""The speed tasks: declared problems with sizes, as `phijax bench speed` times them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import sympy
from sympy import Eq, Piecewise, pi, sin

import phijax as phi


@dataclass(frozen=True)
class SpeedTask:
    """A problem, a tanh network of `depth` hidden layers of `width` units, points by constraint, and steps to time."""

    problem: Callable[[], phi.Problem]
    width: int
    points: dict[str, int]
    steps: int
    depth: int = 4


def burgers() -> phi.Problem:
    """Burgers' equation, viscosity 0.01/pi."""
    u, spacetime, conditions = _evolution()
    x, t = u.coordinates
    return phi.Problem(spacetime, {"pde": Eq(u.diff(t) + u * u.diff(x), 0.01 / pi * u.diff(x, 2)), **conditions})


def kuramoto_sivashinsky() -> phi.Problem:
    """The Kuramoto-Sivashinsky equation, of fourth order in space."""
    u, spacetime, conditions = _evolution()
    x, t = u.coordinates
    return phi.Problem(spacetime, {"pde": Eq(u.diff(t) + u * u.diff(x) + u.diff(x, 2) + u.diff(x, 4), 0), **conditions})


def navier_stokes() -> phi.Problem:
    """Steady flow in the square at Reynolds number 100 under a moving lid."""
    x, y = phi.coordinates("x y")
    u, v, p = phi.fields("u v p", x, y)
    square = phi.Rectangle((x, 0, 1), (y, 0, 1))
    flow = {
        "momentum_x": u * u.diff(x) + v * u.diff(y) + p.diff(x) - phi.laplacian(u) / 100,
        "momentum_y": u * v.diff(x) + v * v.diff(y) + p.diff(y) - phi.laplacian(v) / 100,
        "continuity": phi.div((u, v)),
    }
    lid = Piecewise((1, y > 0.999), (0, True))
    walls = phi.on(square.boundary, {"u": Eq(u, lid), "v": Eq(v, 0)})
    return phi.Problem(square, {"flow": flow, "walls": walls, "gauge": phi.free(square.at(x=0, y=0))})


def poisson(dimension: int) -> phi.Problem:
    """-laplacian u = d pi^2 prod sin(pi x_i) in the unit cube, zero on its boundary."""
    axes = phi.coordinates(" ".join(f"x{i}" for i in range(dimension)))
    u = phi.field("u", *axes)
    cube = phi.Box(*((axis, 0, 1) for axis in axes))
    source = dimension * pi**2 * sympy.Mul(*(sin(pi * axis) for axis in axes))
    return phi.Problem(cube, {"pde": Eq(-phi.laplacian(u), source), "walls": phi.on(cube.boundary, Eq(u, 0))})


def _evolution() -> tuple:
    x, t = phi.coordinate("x"), phi.time("t")
    u = phi.field("u", x, t)
    spacetime = phi.Interval(x, -1, 1) * phi.Interval(t, 0, 1)
    conditions = {
        "initial": phi.on(spacetime.at(t=0), Eq(u, -sin(pi * x))),
        "walls": phi.on(spacetime.boundary(x), Eq(u, 0)),
    }
    return u, spacetime, conditions


_EVOLUTION = {"initial": 256, "walls": 256}

SPEED_TASKS = {
    "T1": SpeedTask(burgers, 64, {"pde": 2048, **_EVOLUTION}, 200),
    "T1c": SpeedTask(burgers, 20, {"pde": 2048, **_EVOLUTION}, 400),
    "T1d": SpeedTask(burgers, 64, {"pde": 10_000, **_EVOLUTION}, 60),
    "T2": SpeedTask(navier_stokes, 128, {"flow": 4096, "walls": 256}, 40),
    "T3": SpeedTask(kuramoto_sivashinsky, 64, {"pde": 2048, **_EVOLUTION}, 100),
    "T4a": SpeedTask(partial(poisson, 10), 128, {"pde": 512, "walls": 128}, 80),
    "T4b": SpeedTask(partial(poisson, 100), 128, {"pde": 512, "walls": 128}, 20),
}
