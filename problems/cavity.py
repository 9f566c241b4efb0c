"""Flow in a square under a lid: of velocity 4 x (1 - x) at Re = 100, and 16 x^2 (1 - x)^2, the regularized cavity, above."""

from sympy import Eq

import phijax as phi
from phijax.problems import Info
from phijax.problems.references import cavity as galerkin

INFO = Info(
    target={"u": 2e-3, "v": 2e-3, "p": 5e-2},
    published=({"u": 1.1e-4}, "403 s on a GPU"),
    classical=({"u": 5.5e-7, "v": 5.7e-7, "p": 2.8e-5}, 0.49, "Legendre-Galerkin stream function of degree 32, Newton"),
)


def problem(Re=100):
    x, y = phi.coordinates("x y")
    u, v, p = phi.fields("u v p", x, y)
    square = phi.Rectangle((x, 0, 1), (y, 0, 1))
    parabola = 4 * x * (1 - x)
    lid = parabola if Re == galerkin.PARABOLIC else parabola**2

    def momentum(w, axis):
        return Eq(u * w.diff(x) + v * w.diff(y), -p.diff(axis) + phi.laplacian(w) / Re)

    return phi.Problem(
        square,
        {
            "flow": {"momentum_x": momentum(u, x), "momentum_y": momentum(v, y), "continuity": phi.div((u, v))},
            "lid": phi.on(square.side("top"), {u: lid, v: 0}),
            "walls": phi.on(square.boundary(where=y < 1), {u: 0, v: 0}),
            "gauge": phi.on(square.at(x=0, y=0), Eq(p, 0)),
        },
        reference=galerkin.reference(Re),
    )
