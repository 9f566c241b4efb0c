"""What tests of points that follow the residual have in common: steps of a source, and a residual with a front."""

import jax
import numpy as np

import phijax.geometry as geo
from phijax.sampling import NamedBatchSource
from phijax.symbolic import coordinates

x, y = coordinates("x y")
line = geo.Interval(x, 0, 1)
arc = geo.Disk((x, y)).boundary(where=x > y)  # by acceptance, with normals
KEY = jax.random.key(2)


def front(name, points):
    """Residuals of one on [0, 1/4], zero elsewhere."""
    return (points.coordinates["x"] < 0.25).astype(points.coordinates["x"].dtype)


def batches(sampler, n, steps, residuals=front, key=KEY):
    """The batches of so many steps, drawn by one compiled function."""
    source = NamedBatchSource({"pde": sampler}, {"pde": n}, key)
    draw = jax.jit(lambda state, step: source.draw(state, step, residuals))
    state, found = source.init(), []
    for step in range(steps):
        state, batch = draw(state, step)
        found.append(jax.tree.map(np.asarray, batch["pde"]))
    return found


def check_arc(points):
    """Points of the half of the unit circle with x > y, each with its own outward normal."""
    at = np.stack([points.coordinates[name] for name in "xy"])
    np.testing.assert_allclose(np.hypot(*at), 1, rtol=1e-6)
    assert np.all(at[0] > at[1] - 1e-6)
    np.testing.assert_allclose(np.stack([points.normals[name] for name in "xy"]), at, atol=1e-6)
