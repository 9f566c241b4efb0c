"""Ensembles: each member is its own single run, whatever happens to the others."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import sympy
from resume_cases import CASES, HALF, WHOLE, adaptive, points_toy
from training_toy import Net, Uniform, curves, differing, factory, toy

from phijax.balancing import GradNorm
from phijax.optimizers import GaussNewton, LinearLeastSquares
from phijax.training import Average, CheckpointError, EarlyStopping, Trainer, loop, read_metrics
from phijax.training.loop import FirstOrderEngine

SEEDS = (3, 0, 8)
# Batches that are shared and batches that are not; balancers, stages with ends of their own, least squares.
QUICK = ("stages_lbfgs_softadapt_adaptive", "gauss_newton_adaptive")


def given(case):
    module, data, optimizer, balancer, callbacks = CASES[case]
    parts = {"datamodule": data(), "optimizer": optimizer(), "balancer": balancer()}
    return module(), parts, {"callbacks": callbacks(), "precision": "float64"}


def fit(case, steps=WHOLE, seeds=SEEDS, ckpt_path=None, **more):
    module, parts, settings = given(case)
    trainer = Trainer(steps, progress=False, log_every=1, **settings, **more)
    return trainer.fit_ensemble(module, **parts, seeds=seeds, ckpt_path=ckpt_path)


def alone(case, seed, steps=WHOLE):
    module, parts, settings = given(case)
    return Trainer(steps, progress=False, log_every=1, **settings).fit(module, **parts, seed=seed)


def assert_same(member, single):
    assert differing(member.state, single.state) == []
    assert curves(member.history) == curves(single.history)
    assert member.history.events[-1]["reason"] == single.history.events[-1]["reason"]
    assert (member.status, member.stop_reason) == (single.status, single.stop_reason)


@pytest.mark.parametrize("case", [c if c in QUICK else pytest.param(c, marks=pytest.mark.slow) for c in CASES])
def test_each_member_is_its_single_run_bit_for_bit(case):
    ensemble = fit(case)
    assert ensemble.seeds == SEEDS
    for seed, member in zip(SEEDS, ensemble.members, strict=True):
        assert_same(member, alone(case, seed))


def adam(seeds, steps=30, **more):
    parts = {"datamodule": adaptive(7), "optimizer": optax.adam(1e-2), "balancer": GradNorm(every=5, refresh=True)}
    trainer = Trainer(steps, progress=False, log_every=10, precision="float64")
    if len(seeds) == 1:
        return trainer.fit(points_toy(), **parts, seed=seeds[0])
    return trainer.fit_ensemble(points_toy(), **parts, seeds=seeds, **more)


def test_side_by_side_members_agree_with_single_runs_to_rounding(monkeypatch):
    monkeypatch.setattr(loop, "in_turn", lambda: False)
    for seed, member in zip(SEEDS, adam(SEEDS).members, strict=True):
        single = adam((seed,))
        for a, b in zip(
            jax.tree.leaves(member.state.model_state), jax.tree.leaves(single.state.model_state), strict=True
        ):
            np.testing.assert_allclose(a, b, rtol=1e-9)
        for record, own in zip(member.history.records, single.history.records, strict=True):
            assert record["total"] == pytest.approx(own["total"], rel=1e-9)
            assert record["weights"] == pytest.approx(own["weights"], rel=1e-9)


@pytest.mark.parametrize("in_turn", [True, False])
def test_a_step_is_traced_once_for_all_seeds(monkeypatch, in_turn):
    engines, original = [], FirstOrderEngine.__init__

    def remembered(self, *arguments):
        engines.append(self)
        original(self, *arguments)

    monkeypatch.setattr(FirstOrderEngine, "__init__", remembered)
    monkeypatch.setattr(loop, "in_turn", lambda: in_turn)
    adam(range(5), steps=25)
    assert len(engines) == 1
    traced = engines[0].traces
    engines.clear()
    adam((0, 1), steps=25)
    assert engines[0].traces == traced <= 3  # what a while loop takes, for two as for five


def sinking(model, batch):
    """Its square falls with c at a steady rate, and is no number below c = 0."""
    return jnp.sqrt(model.c) + 0 * batch["x"]


def uneven(key):
    net = factory(key)
    return Net(net.inner, net.shift, net.outer, jax.random.uniform(key))


@pytest.mark.parametrize("optimizer", [optax.sgd(1e-2), GaussNewton()], ids=["sgd", "gauss_newton"])
def test_a_member_that_is_not_finite_ends_alone_and_is_named(optimizer, capsys):
    broken = toy(factory=uneven, sink=sinking) if not isinstance(optimizer, GaussNewton) else toy(factory=bad_seed)
    trainer = Trainer(40, progress=None, log_every=10)
    ensemble = trainer.fit_ensemble(broken, datamodule=Uniform(), optimizer=optimizer, seeds=range(4))
    ended = dict(zip(ensemble.seeds, ensemble.members, strict=True))
    told = capsys.readouterr().err
    diverged = [seed for seed, member in ended.items() if member.status == "diverged"]
    assert 0 < len(diverged) < 4
    assert ensemble.status != "diverged"
    for seed, member in ended.items():
        single = Trainer(40, progress=False, log_every=10).fit(
            broken, datamodule=Uniform(), optimizer=optimizer, seed=seed
        )
        assert_same(member, single)
        assert (f"seed {seed}: diverged: loss term" in told) == (seed in diverged)
    assert f"seed {diverged[0]}" in ensemble.stop_reason or f"seeds {diverged[0]}" in ensemble.stop_reason


def bad_seed(key):
    net = factory(key)
    return Net(net.inner, net.shift, net.outer, jnp.where(jax.random.uniform(key) < 0.5, jnp.nan, 1.0))


def test_members_stop_by_their_own_rules_at_their_own_steps():
    trainer = Trainer(300, progress=False, callbacks=[EarlyStopping(every=5, patience=1, min_delta=1e-3), Average()])
    parts = {"datamodule": adaptive(10**6), "optimizer": optax.adam(3e-2)}
    ensemble = trainer.fit_ensemble(points_toy(), **parts, seeds=range(3))
    for seed, member in enumerate(ensemble.members):
        assert_same(member, trainer.fit(points_toy(), **parts, seed=seed))
    assert len({member.step for member in ensemble.members}) > 1
    assert ensemble.step == sum(member.step for member in ensemble.members)


def test_a_resumed_ensemble_reaches_the_bits_of_one_that_was_left_alone(tmp_path):
    case = "stages_lbfgs_softadapt_adaptive"
    whole = fit(case, checkpoint=tmp_path / "whole")
    fit(case, HALF, checkpoint=tmp_path / "halves")
    resumed = fit(case, seeds=None, ckpt_path=tmp_path / "halves", checkpoint=tmp_path / "halves")
    assert resumed.seeds == SEEDS
    for position, seed in enumerate(SEEDS):
        assert differing(resumed.members[position].state, whole.members[position].state) == []
        assert curves(resumed.members[position].history) == curves(whole.members[position].history)
        kept = read_metrics(tmp_path / "halves" / "metrics.jsonl", seed=seed)
        assert curves(kept) == curves(whole.members[position].history)


def test_a_member_that_had_ended_is_not_taken_up_again(tmp_path):
    def trained(steps, **start):
        settings = {"callbacks": [EarlyStopping(every=5, patience=1, min_delta=1e-3)], "checkpoint": tmp_path / "run"}
        parts = {"datamodule": adaptive(10**6), "optimizer": optax.adam(3e-2)}
        return Trainer(steps, progress=False, **settings).fit_ensemble(points_toy(), **parts, **start)

    first = trained(60, seeds=range(3))
    early = [i for i, member in enumerate(first.members) if member.status == "stopped"]
    assert 0 < len(early) < 3
    second = trained(80, ckpt_path=tmp_path / "run")
    for i, (before, after) in enumerate(zip(first.members, second.members, strict=True)):
        assert (after.step == before.step) == (i in early)
        assert i not in early or after.stop_reason == before.stop_reason


def test_what_is_no_ensemble_is_answered(tmp_path):
    trainer = Trainer(2, progress=False, checkpoint=tmp_path / "run")
    parts = {"datamodule": Uniform(), "optimizer": optax.adam(1e-2)}
    for seeds, message in (
        ([5], "at least two seeds"),
        ([1, 2, 1], "has 1 twice"),
        ("12", "write seeds=range"),
        (3, "write seeds=range"),
        ([0, True], r"seeds\[1\]=True is a bool"),
        (None, "needs seeds="),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            trainer.fit_ensemble(toy(), **parts, seeds=seeds)
    trainer.fit_ensemble(toy(), **parts, seeds=[0, jax.random.key(7)])
    with pytest.raises(CheckpointError, match="holds the seeds 0, key 0-7: go on with all by fit_ensemble"):
        trainer.fit(toy(), **parts, ckpt_path=tmp_path / "run")
    single = Trainer(2, progress=False, checkpoint=tmp_path / "single")
    single.fit(toy(), **parts, seed=0)
    with pytest.raises(CheckpointError, match="holds one run: go on with it by fit"):
        single.fit_ensemble(toy(), **parts, ckpt_path=tmp_path / "single")


def test_linear_problems_take_features_of_their_own():
    import phijax as phi

    x = phi.coordinate("x")
    u, unit = phi.field("u", x), phi.Interval(x, 0, 1)
    conditions = {"equation": sympy.Eq(u.diff(x, 2), sympy.sin(x)), "ends": phi.on(unit.boundary, sympy.Eq(u, 0))}
    problem = phi.Problem(unit, conditions)
    compiled = phi.compile(problem, network=phi.RandomFeatures(20, 2.0), points=40, precision="float64")
    parts = {"datamodule": compiled.datamodule, "optimizer": LinearLeastSquares()}
    trainer = Trainer(2, progress=False)
    ensemble = trainer.fit_ensemble(compiled.module, **parts, seeds=range(3))
    features = [member.state.model_state for member in ensemble.members]
    assert differing(features[0], features[1]) != []
    for seed, member in enumerate(ensemble.members):
        assert_same(member, trainer.fit(compiled.module, **parts, seed=seed))


def test_members_tell_and_are_recorded_by_their_seed(tmp_path, capsys):
    trainer = Trainer(3, checkpoint=tmp_path, log_every=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trainer.fit_ensemble(toy(), datamodule=Uniform(), optimizer=optax.adam(1e-2), seeds=[4, 9])
    told = capsys.readouterr().err
    assert "2 seeds on the same compiled programs; the loss shown is their median" in told
    assert "seed 4: finished: all 3 steps done (step 3)" in told
    assert "seed 9: finished" in told
    history = {seed: read_metrics(tmp_path / "metrics.jsonl", seed=seed) for seed in (4, 9)}
    assert [list(own.steps) for own in history.values()] == [[0, 1, 2]] * 2
    assert history[4].total[0] != history[9].total[0]
