"""A loss balancer of one's own: weights that draw the terms together: `python custom_balancer.py`."""

import jax.numpy as jnp
import optax
from sympy import Eq, pi, sin

import phijax as phi
from phijax.balancing import BalancerState

x = phi.coordinate("x")
u, rod = phi.field("u", x), phi.Interval(x, 0, 1)
equations = {"ode": Eq(-u.diff(x, 2), pi**2 * sin(pi * x)), "ends": phi.on(rod.boundary, Eq(u, 0))}
poisson = phi.Problem(rod, equations, reference={u: sin(pi * x)})


class Even(phi.LossBalancer):
    """weight_i <- square root of the mean loss over loss i, but at most 100, every ten steps."""

    every, refresh = 10, False

    def initialize(self, terms=()):
        return BalancerState({term: jnp.ones(()) for term in terms}, {})

    def diagnostics(self, params, *, losses, residuals):
        return {}  # the training losses are enough

    def update(self, state, losses, diagnostics, *, key, step):
        mean = sum(losses.values()) / len(losses)
        return state._replace(weights={term: jnp.minimum(jnp.sqrt(mean / losses[term]), 100.0) for term in losses})


def main(steps=2000):
    compiled = phi.compile(poisson, network=phi.MLP(width=16, depth=2), points=100)
    run = {"datamodule": compiled.datamodule, "optimizer": optax.adam(3e-3), "balancer": Even(), "seed": 0}
    solution = phi.Solution.from_result(compiled, phi.Trainer(max_steps=steps).fit(compiled.module, **run), seed=0)
    print(f"relative error {solution.errors()['u']['relative_l2']:.1e}")


if __name__ == "__main__":
    main()
