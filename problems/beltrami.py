"""The decaying flow in which vorticity is parallel to velocity (Ethier and Steinman 1994)."""

from sympy import Eq, cos, exp, sin

import phijax as phi
from phijax.problems import Info

INFO = Info(target={"u": 1e-3, "v": 1e-3, "w": 1e-3, "p": 1e-2})


def problem(a=1, d=1, Re=1):
    x, y, z, t = *phi.coordinates("x y z"), phi.time("t")
    u, v, w, p = phi.fields("u v w p", x, y, z, t)
    box = phi.Box((x, -1, 1), (y, -1, 1), (z, -1, 1)) * phi.Interval(t, 0, 1)
    decay = exp(-(d**2) * t / Re)

    def velocity(x, y, z):
        return -a * (exp(a * x) * sin(a * y + d * z) + exp(a * z) * cos(a * x + d * y)) * decay

    def part(x, y, z):
        return exp(2 * a * x) + 2 * sin(a * x + d * y) * cos(a * z + d * x) * exp(a * (y + z))

    pressure = -(a**2) / 2 * (part(x, y, z) + part(y, z, x) + part(z, x, y)) * decay**2
    exact = {u: velocity(x, y, z), v: velocity(y, z, x), w: velocity(z, x, y), p: pressure}

    def momentum(c, axis):
        advected = u * c.diff(x) + v * c.diff(y) + w * c.diff(z)
        return Eq(c.diff(t) + advected, -p.diff(axis) + phi.laplacian(c) / Re)

    flow = {"momentum_x": momentum(u, x), "momentum_y": momentum(v, y), "momentum_z": momentum(w, z)}
    given = {c: exact[c] for c in (u, v, w)}
    return phi.Problem(
        box,
        {
            "flow": {**flow, "continuity": phi.div((u, v, w))},
            "initial": phi.on(box.at(t=0), {c: value.subs(t, 0) for c, value in given.items()}),
            "boundary": phi.on(box.boundary, given),
            "gauge": phi.on(box.at(x=0, y=0, z=0), Eq(p, pressure.subs({x: 0, y: 0, z: 0}))),
        },
        reference=exact,
    )
