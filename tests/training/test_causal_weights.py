"""Causal weights in steps of every kind: which points have them, and that their gradient is that of fixed weights."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from sympy import Eq, pi, sin

import phijax as phi
from phijax._precision import precision_scope
from phijax.choice import choose
from phijax.record import choice_of, config_of

x, t = phi.coordinate("x"), phi.time("t")
u, v = phi.fields("u v", x, t)
SPACETIME = phi.Interval(x, 0, 1) * phi.Interval(t, 1, 3)
WAVE = phi.Problem(
    SPACETIME,
    {
        "first": Eq(u.diff(t), v),
        "second": Eq(v.diff(t), u.diff(x, 2)),
        "walls": phi.on(SPACETIME.boundary(x), Eq(u, 0)),
        "start": phi.on(SPACETIME.at(t=1), {u: sin(pi * x), v: 0}),
    },
)
CAUSAL = phi.Causal(chunks=4, tolerance=2.0)


def compiled(causal=CAUSAL, precision="float64", **settings):
    settings = {"points": 32, "network": phi.MLP(width=6, depth=1)} | settings
    return phi.compile(WAVE, causal=causal, precision=precision, **settings)


def drawn(made, key=0):
    model = made.module.factory(jax.random.key(key))
    source = made.datamodule.train_batch_source(made.module.objective.batch_keys, jax.random.key(5))
    return model, source(0)


def test_equations_share_weights_by_chunks_of_time_and_conditions_have_none():
    with precision_scope("float64"):
        made = compiled()
        model, batch = drawn(made)
        weighed = made.module.weighting(made.module.objective, model, batch, None)
        residuals = made.module.objective.residuals(model, batch)
        losses = np.zeros(4)
        chunks = {
            name: ((np.asarray(batch[name].coordinates["t"]) - 1) * 2).astype(int) for name in ("first", "second")
        }
        for name, chunk in chunks.items():
            squares = np.asarray(residuals[name]) ** 2
            losses += [squares[chunk == k].mean() for k in range(4)]
        expected = np.exp(-2.0 * (np.cumsum(losses) - losses))
        for name, chunk in chunks.items():
            np.testing.assert_allclose(weighed[name].weights, expected[chunk], rtol=1e-12)
        assert expected[-1] < 0.5 * expected[0]
        for name in ("walls", "start"):
            assert weighed[name].weights is None


@pytest.mark.parametrize("rows", [64, 8], ids=["whole", "in pieces"])
def test_a_step_goes_along_the_gradient_with_the_weights_held(rows):
    made = compiled(rows=rows)
    result = phi.Trainer(1, progress=False).fit(
        made.module, datamodule=made.datamodule, optimizer=optax.sgd(0.1), seed=3
    )
    with precision_scope("float64"):
        key = jax.random.split(jax.random.key(3), 4)
        model = made.module.factory(key[0])
        batch = made.datamodule.train_batch_source(made.module.objective.batch_keys, key[2])(0)
        held = made.module.weighting(made.module.objective, model, batch, None)
        arrays, static = eqx.partition(model, eqx.is_inexact_array)
        loss = lambda p: sum(made.module.objective.losses(eqx.combine(p, static), held).values())
        expected = jax.tree.map(lambda p, g: p - 0.1 * g, arrays, jax.grad(loss)(arrays))
        for one, other in zip(jax.tree.leaves(result.model), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
        assert result.history.total[0] == pytest.approx(float(loss(arrays)), rel=1e-12)


def test_least_squares_steps_weigh_anew_at_every_step_on_held_points():
    made = compiled()
    fit = lambda steps: phi.Trainer(steps, progress=False, log_every=1).fit(
        made.module, datamodule=made.datamodule, optimizer=phi.GaussNewton(refresh=12), seed=3
    )
    longer, shorter = fit(9), fit(8)
    with precision_scope("float64"):
        key = jax.random.split(jax.random.key(3), 4)
        batch = made.datamodule.train_batch_source(made.module.objective.batch_keys, key[2])(0)
        weigh = lambda model: made.module.weighting(made.module.objective, model, batch, None)
        last, first = weigh(shorter.model), weigh(made.module.factory(key[0]))
        assert longer.history.total[-1] == pytest.approx(
            float(sum(made.module.objective.losses(shorter.model, last).values())), rel=1e-9
        )
        assert np.min(last["second"].weights) > 1.2 * np.min(first["second"].weights)
    assert longer.history.total[-1] < 0.1 * longer.history.total[0]


def test_a_large_tolerance_leaves_later_times_out_of_the_gradient():
    with precision_scope("float64"):
        made = compiled(phi.Causal(chunks=4, tolerance=1e4))
        model, batch = drawn(made)
        weighed = made.module.weighting(made.module.objective, model, batch, None)
        late = batch["second"].coordinates["t"] > 1.5
        assert np.max(weighed["second"].weights[late]) < 1e-12
        np.testing.assert_array_equal(weighed["second"].weights[~late], 1.0)


def test_own_weights_of_points_are_kept():
    with precision_scope("float64"):
        made = compiled()
        model, batch = drawn(made)
        own = jnp.linspace(0.5, 1.5, 32)
        given = {name: dataclasses.replace(points, weights=own) for name, points in batch.items() if name != "start"}
        weighed = made.module.weighting(made.module.objective, model, batch | given, None)
        ratio = weighed["first"].weights / own
        chunk = ((np.asarray(batch["first"].coordinates["t"]) - 1) * 2).astype(int)
        assert [len(np.unique(np.round(np.asarray(ratio)[chunk == k], 12))) for k in range(4)] == [1, 1, 1, 1]
        np.testing.assert_allclose(ratio[chunk == 0], 1.0, rtol=1e-14)


def test_what_has_no_time_or_no_equation_in_it_is_refused():
    y = phi.coordinate("y")
    w = phi.field("w", y)
    line = phi.Interval(y, 0, 1)
    still = phi.Problem(line, {"law": Eq(w.diff(y), 1), "start": phi.on(line.at(y=0), Eq(w, 0))}, name="still")
    with pytest.raises(
        ValueError, match=r"causal weights follow the time of 'still', but there is none; declare it by"
    ):
        phi.compile(still, causal=True)
    with pytest.raises(TypeError, match="causal=3 must be True, False, or Causal"):
        phi.compile(WAVE, causal=3)
    with pytest.raises(ValueError, match="causal weights follow the time of 'still'"):
        phi.solve(still, seed=0, causal=True)


def test_solve_records_causal_weights_and_takes_time_as_a_whole():
    choice = choose(WAVE, causal=True)
    assert (choice.causal, choice.slabs) == (phi.Causal(), None)
    config = config_of(choice, problem="wave", seed=0, max_seconds=None, optimizer=None)
    assert choice_of({name: value for name, value in config.items() if value is not None}).causal == phi.Causal()
    assert choose(WAVE).causal is None
