"""A boundary layer for every diffusivity from 0.1 to 1, in one run: `python family.py`."""

from sympy import Eq, exp

import phijax as phi

x = phi.coordinate("x")
nu = phi.coordinate("nu", kind="parameter")
u = phi.field("u", x, nu)
family = phi.Interval(x, 0, 1) * phi.Interval(nu, 0.1, 1)

layers = phi.Problem(
    family,
    {
        "ode": Eq(-nu * u.diff(x, 2) + u.diff(x), 1),
        "ends": phi.on(family.boundary(x), Eq(u, 0), exact=True),
    },
    reference={u: x - (exp((x - 1) / nu) - exp(-1 / nu)) / (1 - exp(-1 / nu))},
)


def main(steps=150):
    network = phi.MLP(width=16, depth=2)
    solution = phi.solve(layers, seed=0, method="network", network=network, points=800, max_steps=steps)
    print(f"relative error {solution.errors()['u']['relative_l2']:.1e}")
    return solution


if __name__ == "__main__":
    main().plot("family.png")
