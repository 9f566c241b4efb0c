"""A soliton of the nonlinear Schrodinger equation: `python schrodinger.py`."""

from sympy import Eq, I, exp, sech

import phijax as phi

x, t = phi.coordinate("x"), phi.time("t")
h = phi.field("h", x, t, complex=True)
spacetime = phi.Interval(x, -5, 5) * phi.Interval(t, 0, 1)
soliton = sech(x) * exp(I * t / 2)

schrodinger = phi.Problem(
    spacetime,
    {
        "pde": Eq(I * h.diff(t) + h.diff(x, 2) / 2 + abs(h) ** 2 * h, 0),
        "start": phi.on(spacetime.at(t=0), Eq(h, sech(x))),
        "ends": phi.on(spacetime.boundary(x), Eq(h, soliton)),
    },
    reference={h: soliton},
)


def main(steps=100):
    points = {"pde": 600, "start": 100, "ends": 60}
    network = phi.MLP(width=16, depth=2)
    solution = phi.solve(schrodinger, seed=0, network=network, points=points, slabs=1, max_steps=steps)
    print(f"relative error {solution.errors()['h']['relative_l2']:.1e}")
    return solution


if __name__ == "__main__":
    main().plot("schrodinger.png")
