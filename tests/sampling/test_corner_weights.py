"""Weights of points near corners, and the density that follows the residual as they make it."""

import jax
import jax.numpy as jnp
import numpy as np

import phijax as phi
from phijax._precision import precision_scope
from phijax.choice import choose, samplers_of
from phijax.problems import get
from phijax.sampling import CornerWeights, Points, RegionSampler, ResidualAdaptive
from phijax.sampling.candidates import Candidates

x, y = phi.coordinates("x y")
SQUARE = RegionSampler(phi.Rectangle((x, -1, 1), (y, -1, 1)))


def test_weights_are_products_over_the_corners_and_points_are_those_of_the_base():
    corners = ((("x", 0.0), ("y", 0.0)), (("x", 0.5), ("y", 0.25)))
    with precision_scope("float64"):
        key = jax.random.key(3)
        base, points = SQUARE.sample(key, 50), CornerWeights(SQUARE, corners, 0.1).sample(key, 50)
        px, py = (np.asarray(points.coordinates[name]) for name in "xy")
        np.testing.assert_array_equal(px, np.asarray(base.coordinates["x"]))
        one, two = px**2 + py**2, (px - 0.5) ** 2 + (py - 0.25) ** 2
        factors = one / (one + 0.01) * two / (two + 0.01)
        np.testing.assert_allclose(points.weights, factors / factors.mean(), rtol=1e-12)


def test_the_density_is_that_of_the_weighted_residual():
    pool = Points({"x": jnp.arange(4.0)}, weights=jnp.array([1.0, 0.25, 0.0, 1.0]))
    state = Candidates(pool, jnp.ones(4))
    found = ResidualAdaptive(SQUARE).update(state, jnp.array([1.0, 2.0, 9.0, 2.0]))
    np.testing.assert_allclose(found.density, np.array([1, 1, 0, 2]) / 1 + 1, rtol=1e-6)


def test_equations_weigh_less_where_solutions_have_no_bounded_derivatives_and_nowhere_else():
    lid = ((("x", 0.0), ("y", 1.0)), (("x", 1.0), ("y", 1.0)))
    known = {
        "poisson_lshape": (((("x", 0.0), ("y", 0.0)),), ["at (0, 0)"]),
        "cavity": (lid, ["at (0, 1) and (1, 1)"]),
        "poisson_disks": (None, []),
        "kovasznay": (None, []),
    }
    for name, (corners, places) in known.items():
        problem = get(name).problem()
        choice = choose(problem)
        base = samplers_of(problem, choice)[next(iter(problem.trained))].base
        assert getattr(base, "corners", None) == corners
        told = "equations weigh less near corners without bounded derivatives, "
        assert [r.removeprefix(told) for r in choice.reasons if r.startswith(told)] == places
