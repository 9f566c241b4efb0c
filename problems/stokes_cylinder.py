"""Slow flow through a channel past a cylinder."""

from sympy import Eq, Rational

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import stokes_cylinder as goursat

INFO = Info(target=1e-2, classical=({"u": 7.4e-5, "v": 2.4e-4, "p": 1.5e-3}, 1.1, "elements of Taylor and Hood"))


def problem():
    x, y = phi.coordinates("x y")
    u, v, p = phi.fields("u v p", x, y)
    box = phi.Rectangle((x, 0, 2), (y, 0, 1)).named(left="inlet", right="outlet", bottom="walls", top="walls")
    half, radius = Rational(1, 2), Rational(3, 20)
    channel = box - phi.Disk((x, y), (half, half), radius).named("cylinder")
    return phi.Problem(
        channel,
        {
            "flow": {
                "momentum_x": Eq(-phi.laplacian(u) + p.diff(x), 0),
                "momentum_y": Eq(-phi.laplacian(v) + p.diff(y), 0),
                "continuity": phi.div((u, v)),
            },
            "inlet": phi.on(channel.side("inlet"), {u: 4 * y * (1 - y), v: 0}),
            "walls": phi.on(channel.side("walls"), {u: 0, v: 0}),
            "cylinder": phi.on(channel.side("cylinder"), {u: 0, v: 0}),
            "outlet": phi.on(channel.side("outlet"), {"x": Eq(u.diff(x), p), "y": Eq(v.diff(x), 0)}),
        },
        reference=goursat.reference(),
    )
