"""Ensembles: each member is its own single run, whatever happens to the others."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import sympy
from resume_cases import CASES, HALF, WHOLE, adaptive, point_fit, point_unknown, points_toy
from training_toy import Net, Uniform, curves, differing, factory, toy

from phijax.balancing import GradNorm
from phijax.optimizers import GaussNewton, LinearLeastSquares
from phijax.training import Callback, CheckpointError, Trainer, loop, read_metrics
from phijax.training.loop import FirstOrderEngine

SEEDS = (3, 8)
SOME = (0, 2, 3)  # of which the first begins with a first weight above one half
QUICK = "stages_retention"


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


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An ensemble that was left alone: steps in the compiled loop, then by least squares, on points that follow the residual."""
    return fit(QUICK, checkpoint=tmp_path_factory.mktemp("whole") / "run")


def test_each_member_is_its_single_run_bit_for_bit(whole):
    assert whole.seeds == SEEDS
    assert_same(whole.members[1], alone(QUICK, SEEDS[1]))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_so_it_is_for_every_optimizer_balancer_sampler_and_callback(case):
    for seed, member in zip(SEEDS, fit(case).members, strict=True):
        assert_same(member, alone(case, seed))


def test_members_in_turn_and_side_by_side_are_single_runs_on_one_program(monkeypatch):
    engines, original = [], FirstOrderEngine.__init__

    def remembered(self, *arguments):
        engines.append(self)
        original(self, *arguments)

    parts = {"datamodule": adaptive(7), "optimizer": optax.adam(1e-2), "balancer": GradNorm(every=5, refresh=True)}
    trainer = Trainer(30, progress=False, log_every=10, precision="float64")
    single = trainer.fit(points_toy(), **parts, seed=3)
    monkeypatch.setattr(FirstOrderEngine, "__init__", remembered)
    for in_turn in (True, False):
        monkeypatch.setattr(loop, "in_turn", lambda in_turn=in_turn: in_turn)
        engines.clear()
        member = trainer.fit_ensemble(points_toy(), **parts, seeds=range(4)).members[3]
        assert len(engines) == 1
        assert engines[0].traces <= 3  # what a while loop takes, whatever the number of seeds
        if in_turn:
            assert_same(member, single)
        for record, own in zip(member.history.records, single.history.records, strict=True):
            assert record["total"] == pytest.approx(own["total"], rel=1e-9)
            assert record["weights"] == pytest.approx(own["weights"], rel=1e-9)
        found, known = (jax.tree.leaves(result.state.model_state) for result in (member, single))
        for a, b in zip(found, known, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)


def sinking(model, batch):
    """Its square falls with c at a steady rate, and is no number below c = 0."""
    return jnp.sqrt(model.c) + 0 * batch.coordinates["x"]


def uneven(key):
    net = factory(key)
    return Net(net.inner, net.shift, net.outer, jax.random.uniform(key))


def broken_by_half(key):
    net = factory(key)
    return Net(net.inner, net.shift, net.outer, jnp.where(jax.random.uniform(key) < 0.5, jnp.nan, 1.0))


@pytest.mark.parametrize(
    ("module", "optimizer"),
    [
        (toy(factory=uneven, fit=sinking), optax.sgd(1e-2)),
        pytest.param(
            toy(factory=broken_by_half, fit=point_fit, unknown=point_unknown), GaussNewton(), marks=pytest.mark.slow
        ),
    ],
    ids=["in the loop", "on the host"],
)
def test_a_member_that_is_not_finite_ends_alone_and_is_named(module, optimizer, capsys):
    parts = {"datamodule": adaptive(10**6), "optimizer": optimizer}
    ensemble = Trainer(40, log_every=10).fit_ensemble(module, **parts, seeds=range(4))
    told = capsys.readouterr().err
    status = {seed: member.status for seed, member in zip(ensemble.seeds, ensemble.members, strict=True)}
    diverged = [seed for seed, how in status.items() if how == "diverged"]
    assert 0 < len(diverged) < 4
    assert ensemble.status != "diverged"
    for seed in status:
        assert (f"seed {seed}: diverged: loss term" in told) == (seed in diverged)
    single = Trainer(40, progress=False, log_every=10).fit(module, **parts, seed=diverged[0])
    assert_same(ensemble.members[diverged[0]], single)
    assert f"{diverged[-1]}: diverged: loss term" in ensemble.stop_reason


class StopSome(Callback):
    """Stops a run at step 10 where its first weight began well above zero."""

    every = 10

    def init(self, model):
        return model.inner[0] > 0.5

    def step(self, state, event):
        return state, "began above" if bool(state) and event.step >= 10 else None


def test_members_stop_by_their_own_rules_and_are_not_taken_up_again(tmp_path):
    parts = {"datamodule": adaptive(10**6), "optimizer": optax.adam(3e-2)}
    trainers = [Trainer(n, progress=False, callbacks=[StopSome()], checkpoint=tmp_path / "run") for n in (20, 30)]
    first = trainers[0].fit_ensemble(points_toy(), **parts, seeds=SOME)
    assert [member.step for member in first.members] == [10, 20, 20]
    assert [member.stop_reason[:11] for member in first.members] == ["began above", "all 20 step", "all 20 step"]
    assert first.status == "stopped"
    second = trainers[1].fit_ensemble(points_toy(), **parts, ckpt_path=tmp_path / "run")
    assert [member.step for member in second.members] == [10, 30, 30]
    assert second.members[0].stop_reason == first.members[0].stop_reason
    assert differing(second.members[0].state, first.members[0].state) == []
    assert second.step == 70


def test_a_resumed_ensemble_reaches_the_bits_of_one_that_was_left_alone(whole, tmp_path):
    fit(QUICK, HALF, checkpoint=tmp_path / "halves")
    resumed = fit(QUICK, seeds=None, ckpt_path=tmp_path / "halves", checkpoint=tmp_path / "halves")
    assert resumed.seeds == SEEDS
    for position, seed in enumerate(SEEDS):
        assert differing(resumed.members[position].state, whole.members[position].state) == []
        assert curves(resumed.members[position].history) == curves(whole.members[position].history)
        kept = read_metrics(tmp_path / "halves" / "metrics.jsonl", seed=seed)
        assert curves(kept) == curves(whole.members[position].history)


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
    assert_same(ensemble.members[2], trainer.fit(compiled.module, **parts, seed=2))


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
