"""Small systems whose minimum is known, and steps over them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax._precision import precision_scope
from phijax.optimizers import LeastSquaresSystem

ONE = {"fit": 1.0}


@pytest.fixture
def double():
    with precision_scope("float64"):
        yield


class Systems:
    """Makes a system, its batch and its weights."""

    def linear(self, rows=40, columns=7, seed=0, consistent=False):
        """(system, batch, weights, matrix, right side); consistent: the right side is that of 1 .. `columns`."""
        matrix = np.random.default_rng(seed).standard_normal((rows, columns + 1))
        left = matrix[:, :-1]
        right = left @ np.arange(1.0, columns + 1) if consistent else matrix[:, -1]

        def fit(params, point):
            return {"": point["row"] @ params - point["value"]}

        batch = {"fit": {"row": jnp.asarray(left), "value": jnp.asarray(right)}}
        return LeastSquaresSystem({"fit": fit}, jnp.zeros(columns)), batch, ONE, left, right

    def rosenbrock(self):
        def fit(params, point):
            x, y = params
            return {"slope": 10 * (y - x**2), "level": 1 - x}

        system = LeastSquaresSystem({"fit": fit}, jnp.array([-1.2, 1.0]))
        return system, {"fit": {"x": jnp.zeros(1)}}, {"fit/slope": 1.0, "fit/level": 1.0}

    def network(self, points=40, seed=1):
        """sin(3 x) by a network of 25 parameters."""
        keys = jax.random.split(jax.random.key(seed), 2)
        params = (jax.random.normal(keys[0], (8, 1)), jnp.zeros(8), jax.random.normal(keys[1], (1, 8)), jnp.zeros(1))

        def fit(params, point):
            w, b, v, c = params
            return {"": (v @ jnp.tanh(w @ point["x"][None] + b) + c)[0] - jnp.sin(3 * point["x"])}

        return LeastSquaresSystem({"fit": fit}, params), {"fit": {"x": jnp.linspace(-1, 1, points)}}, ONE

    def noisy(self):
        """(system, batches, weights): a slope seen through noise that is new every two steps."""

        def fit(params, point):
            return {"": params[0] * point["x"] - point["y"]}

        def batches(step):
            x = np.linspace(0, 1, 50)
            noise = np.random.default_rng(step // 2).standard_normal(50)
            return {"fit": {"x": jnp.asarray(x), "y": jnp.asarray(x + 0.1 * noise)}}

        return LeastSquaresSystem({"fit": fit}, jnp.asarray([-0.7])), batches, ONE


@pytest.fixture(scope="session")
def systems():
    return Systems()


@pytest.fixture(scope="session")
def steps():
    """steps(optimizer, system, batches, weights, count) -> (theta, state, what each step told)."""

    def run(optimizer, system, batches, weights, count, theta=None, state=None, start=0):
        theta = system.theta if theta is None else theta
        state = optimizer.init(theta) if state is None else state
        infos = []
        for step in range(start, count):
            batch = batches(step) if callable(batches) else batches
            theta, state, info = optimizer.step(system, theta, state, batch, weights)
            infos.append(info)
            if info.stop:
                break
        return theta, state, infos

    return run
