"""Points that crowd in a thin layer, by a sampler of one's own: `python custom_sampler.py`."""

import jax
import jax.numpy as jnp
from sympy import Eq, exp

import phijax as phi

EPS = 0.02
x = phi.coordinate("x")
u, rod = phi.field("u", x), phi.Interval(x, 0, 1)

layer = phi.Problem(
    rod,
    {"ode": Eq(-EPS * u.diff(x, 2) + u.diff(x), 1), "ends": phi.on(rod.boundary, Eq(u, 0), exact=True)},
    reference={u: x - (exp((x - 1) / EPS) - exp(-1 / EPS)) / (1 - exp(-1 / EPS))},
)


class NearTheEnd:
    """Half of the points are uniform, the others within a few widths of the layer at x = 1."""

    def sample(self, key, n):
        unit = jax.random.uniform(key, (n,))
        return phi.Points({"x": jnp.where(jnp.arange(n) % 2 == 0, unit, 1 - 5 * EPS * unit)})


def main(steps=300):
    own = {"samplers": {"ode": NearTheEnd()}, "precision": "float64"}
    compiled = phi.compile(layer, network=phi.MLP(width=16, depth=2), points=200, **own)
    run = {"datamodule": compiled.datamodule, "optimizer": phi.GaussNewton(), "seed": 0}
    result = phi.Trainer(max_steps=steps).fit(compiled.module, **run)
    solution = phi.Solution.from_result(compiled, result, seed=0)
    print(f"relative error {solution.errors()['u']['relative_l2']:.1e}")
    return solution


if __name__ == "__main__":
    main()
