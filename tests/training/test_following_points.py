"""Points that follow the residual in whole runs, first-order and least-squares; conditions keep their points."""

import jax
import numpy as np
import optax
import pytest
from sympy import Eq, pi, sin

import phijax as phi

x, t = phi.coordinate("x"), phi.time("t")
u = phi.field("u", x, t)
spacetime = phi.Interval(x, -1, 1) * phi.Interval(t, 0, 1)
BURGERS = phi.Problem(
    spacetime,
    {
        "pde": Eq(u.diff(t) + u * u.diff(x), 0.01 / pi * u.diff(x, 2)),
        "initial": phi.on(spacetime.at(t=0), Eq(u, -sin(pi * x))),
        "walls": phi.on(spacetime.boundary(x), Eq(u, 0)),
    },
)
N = 64


def compiled(sampler=None, precision="float32"):
    points = {"pde": N + 50, "initial": 16, "walls": 16}
    samplers = None if sampler is None else {"pde": sampler(phi.RegionSampler(spacetime))}
    return phi.compile(
        BURGERS, network=phi.MLP(width=10, depth=2), points=points, samplers=samplers, precision=precision
    )


def refined(base):
    return phi.ResidualRefinement(base, start=N, add=10, period=3, greedy=True)


def fit(made, optimizer, steps, state=None):
    trainer = phi.Trainer(steps, progress=False, log_every=1)
    how = {"datamodule": made.datamodule, "optimizer": optimizer}
    return trainer.fit(made.module, seed=1, **how) if state is None else trainer.fit_state(made.module, state, **how)


def batch_of(made, state):
    """The batch of the last step."""
    source = made.datamodule.train_batch_source(made.module.objective.batch_keys, state.sampling_key)
    ones = lambda name, points: points.coordinates["x"] * 0 + 1
    return source.draw(state.sampler_state, state.step - 1, ones)[1]


def test_p27_the_ten_worst_points_are_added_five_times_and_a_second_run_works():
    made = compiled(refined)
    result = fit(made, optax.adam(1e-3), 17)
    assert result.status == "finished"
    assert np.isfinite(result.history.total).all()
    batch, plain = batch_of(made, result.state), batch_of(compiled(), result.state)
    assert np.count_nonzero(batch["pde"].weights) == N + 50
    for name in ("initial", "walls"):
        for one, other in zip(jax.tree.leaves(batch[name]), jax.tree.leaves(plain[name]), strict=True):
            np.testing.assert_array_equal(one, other)
        assert batch[name].weights is None
    again = fit(made, optax.adam(1e-3), 30, result.state)
    assert np.isfinite(again.history.total).all()
    np.testing.assert_array_equal(
        again.state.sampler_state["pde"].points.coordinates["x"], batch["pde"].coordinates["x"]
    )
    assert again.history.total[-1] < result.history.total[0]


SAMPLERS = {
    "refined": refined,
    "retained": lambda base: phi.RetainResampleRelease(base, period=3),
    "by importance": lambda base: phi.ImportanceSampler(base, period=3),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_least_squares_steps_take_points_that_follow_the_residual(name):
    made = compiled(SAMPLERS[name], "float64")
    result = fit(made, phi.GaussNewton(refresh=3), 16)
    assert np.isfinite(result.history.total).all()
    fresh = compiled(None, "float64")
    with jax.enable_x64(True):
        source = fresh.datamodule.train_batch_source(fresh.module.objective.batch_keys, jax.random.key(9))
        losses = fresh.module.objective.losses(result.model, source(0))
    assert {leaf.dtype.name for leaf in losses.values()} == {"float64"}
    assert sum(map(float, losses.values())) < 0.1 * result.history.total[0]


def test_first_order_steps_take_points_that_are_retained():
    made = compiled(SAMPLERS["retained"])
    result = fit(made, optax.adam(5e-3), 60)
    points = result.state.sampler_state["pde"].points
    assert {leaf.dtype.name for leaf in jax.tree.leaves(points)} == {"float32"}
    assert np.mean(result.history.total[-5:]) < 0.6 * result.history.total[0]
