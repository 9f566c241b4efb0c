"""The lid-driven cavity at Re = 100: `phijax run cavity.py`."""

from sympy import Eq

import phijax as phi

x, y = phi.coordinates("x y")
u, v, p = phi.fields("u v p", x, y)
square = phi.Rectangle((x, 0, 1), (y, 0, 1))


def cavity(Re=100):
    def momentum(w, axis):
        return Eq(u * w.diff(x) + v * w.diff(y), -p.diff(axis) + phi.laplacian(w) / Re)

    lid, still = {u: 4 * x * (1 - x), v: 0}, {u: 0, v: 0}
    flow = {"momentum_x": momentum(u, x), "momentum_y": momentum(v, y), "continuity": phi.div((u, v))}
    conditions = {
        "lid": phi.on(square.side("top"), lid),
        "walls": phi.on(square.boundary(where=y < 1), still),
        "gauge": phi.on(square.at(x=0, y=0), Eq(p, 0)),
    }
    return phi.Problem(square, {"flow": flow, **conditions})
