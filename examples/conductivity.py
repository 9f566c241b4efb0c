"""The conductivity of a heated rod, from five noisy sensors: `python conductivity.py`."""

import numpy as np
from sympy import Eq, pi, sin

import phijax as phi

x = phi.coordinate("x")
T = phi.field("T", x)
k = phi.parameter("k", initial=2.0, positive=True)
rod = phi.Interval(x, 0, 1)

places = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
noise = 0.01 * np.random.default_rng(0).normal(size=5)
readings = np.sin(np.pi * places) / 0.7 + noise  # the rod has k = 0.7

inverse = phi.Problem(
    rod,
    {
        "conduction": Eq(-k * T.diff(x, 2), pi**2 * sin(pi * x)),
        "ends": phi.on(rod.boundary, Eq(T, 0)),
        "sensors": phi.data({x: places, T: readings}),
    },
)


def main(steps=60):
    solution = phi.solve(inverse, seed=0, network=phi.MLP(width=8, depth=2), points=100, max_steps=steps)
    print(f"conductivity {solution.parameters['k']:.4f}")
    return solution


if __name__ == "__main__":
    main().report()  # with the standard error
