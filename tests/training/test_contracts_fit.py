"""The contracts R, N, T, S as a fit holds them, each in a test of its name."""

import os
import random
import re
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from training_toy import Adaptive, Uniform, curves, differing, factory, toy

from phijax.balancing import GradNorm, Static
from phijax.optimizers import GaussNewton
from phijax.sampling.points import Points
from phijax.training import KeepBest, Module, Objective, Trainer, initialize_train_state
from phijax.training.keys import split_root
from phijax.training.loop import FirstOrderEngine
from phijax.training.schedule import Pace

ADAM = optax.adam(1e-2)
WIDE_REFUSED = factory(jax.random.key(0))  # made outside the run, in float32


def train(steps=6, module=None, datamodule=None, optimizer=None, balancer=None, seed=0, **settings):
    settings = {"progress": False, "log_every": 3} | settings
    return Trainer(steps, **settings).fit(
        module or toy(),
        datamodule=datamodule or Uniform(),
        optimizer=optimizer or ADAM,
        balancer=balancer,
        seed=seed,
    )


def test_r1_an_int_and_its_key_give_bit_equal_runs():
    assert differing(train(seed=11).state, train(seed=jax.random.key(11)).state) == []


@pytest.mark.parametrize("implementation", ["rbg", "unsafe_rbg"])
def test_r1_every_key_implementation_trains_and_repeats(implementation):
    seed = jax.random.key(1, impl=implementation)
    first = train(seed=seed)
    assert differing(first.state, train(seed=seed).state) == []
    assert str(jax.random.key_impl(first.state.rng_key)) == implementation
    assert np.isfinite(first.history.total).all()


def test_r1_a_missing_seed_is_refused():
    with pytest.raises(ValueError, match="fit needs seed="):
        train(seed=None)


def test_r2_global_generators_are_neither_read_nor_changed():
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].copy()
    first = train(seed=3)
    assert random.getstate() == before[0]
    assert (np.random.get_state()[1] == before[1]).all()
    random.seed(2)
    np.random.seed(2)
    assert differing(first.state, train(seed=3).state) == []


def test_r3_r4_each_stream_goes_where_it_belongs():
    received = []

    def recording(key):
        received.append(key)
        return factory(key)

    data, root = Uniform(), jax.random.key(4)
    result = train(module=toy(factory=recording), datamodule=data, balancer=GradNorm(every=3), seed=root)
    streams = split_root(root)
    assert len(received) == 1
    assert differing(received[0], streams.model) == []
    assert differing(data.keys, [streams.sampling, streams.balancer]) == []
    assert differing([result.state.sampling_key, result.state.balancer_key], [streams.sampling, streams.balancer]) == []
    advanced = streams.runtime
    for _ in range(6):
        advanced = jax.random.split(advanced)[0]
    assert differing(result.state.rng_key, advanced) == []


class Noisy(eqx.Module):
    """A stochastic model: half of its units are dropped where a key is given."""

    net: eqx.Module

    def __call__(self, x, key=None):
        mask = jnp.ones(3) if key is None else 2.0 * jax.random.bernoulli(key, 0.5, (3,))
        return jnp.sum(mask * self.net.outer * jnp.tanh(self.net.inner * x + self.net.shift))


def noisy_fit(model, batch, key):
    return jax.vmap(lambda x: model(x, key=key))(batch["x"]) - jnp.sin(batch["x"])


def test_r4_a_stochastic_model_draws_from_the_runtime_stream():
    module = Module(lambda key: Noisy(factory(key)), Objective.from_functions({"fit": noisy_fit}))
    fixed = train(module=module, seed=0)
    assert differing(fixed.state, train(module=module, seed=0).state) == []
    streams = split_root(jax.random.key(0))
    other = initialize_train_state(
        module.factory(streams.model), ADAM, None, jax.random.key(99), streams.sampling, streams.balancer
    )
    moved = Trainer(6, progress=False).fit_state(module, other, datamodule=Uniform(), optimizer=ADAM)
    assert ".outer" in "".join(differing(fixed.state.model_state, moved.state.model_state))


def test_r5_samplers_change_no_initial_weight():
    learning_nothing = optax.sgd(0.0)
    plain = train(steps=1, optimizer=learning_nothing)
    other = train(steps=1, optimizer=learning_nothing, datamodule=Uniform(n=5))
    assert differing(plain.model, other.model) == []
    assert differing(plain.model, factory(split_root(jax.random.key(0)).model)) == []


class Recorded(Uniform):
    """Records the points of every batch that is drawn, with the step."""

    def __init__(self):
        super().__init__(n=3)
        self.drawn = []

    def train_batch_source(self, names, key):
        source = super().train_batch_source(names, key)
        mine = len(self.keys)

        def recorded(step):
            batch = source(step)
            jax.debug.callback(lambda s, x: self.drawn.append((mine, int(s), np.asarray(x))), step, batch["fit"]["x"])
            return batch

        return recorded


def test_r5_diagnostics_never_move_a_training_batch():
    plain, balanced = Recorded(), Recorded()
    train(datamodule=plain)
    train(datamodule=balanced, balancer=GradNorm(every=2))
    jax.effects_barrier()
    points = {step: x.tolist() for who, step, x in plain.drawn if who == 1}
    assert {step: x.tolist() for who, step, x in balanced.drawn if who == 1} == points
    assert sorted(points) == list(range(6))


@pytest.mark.parametrize(("refresh", "steps"), [(False, {0}), (True, {0, 2, 4})])
def test_r4_diagnostic_batches_are_those_of_the_balancer_key(refresh, steps):
    data = Recorded()
    train(datamodule=data, balancer=GradNorm(every=2, refresh=refresh))
    jax.effects_barrier()
    source = Uniform(n=3).train_batch_source(("fit", "unknown"), split_root(jax.random.key(0)).balancer)
    drawn = [(step, x) for who, step, x in data.drawn if who == 2]
    assert {step for step, _ in drawn} == steps
    for step, x in drawn:
        assert x.tolist() == np.asarray(source(jnp.int32(step))["fit"]["x"]).tolist()


@pytest.mark.parametrize("optimizer", [ADAM, [(ADAM, 4), (ADAM, 2)]], ids=["one stage", "two stages"])
def test_r6_s1_a_training_batch_is_a_function_of_sampling_key_and_step(optimizer):
    data = Recorded()
    train(datamodule=data, optimizer=optimizer)
    jax.effects_barrier()
    assert sorted(step for _, step, _ in data.drawn) == list(range(6))
    source = Uniform(n=3).train_batch_source(("fit", "unknown"), split_root(jax.random.key(0)).sampling)
    for _, step, x in data.drawn:
        assert x.tolist() == np.asarray(source(jnp.int32(step))["fit"]["x"]).tolist()


def test_r6_an_adaptive_sampler_sees_the_model_of_its_own_step():
    module, fast = toy(), optax.adam(0.3)
    before, after = (train(n, module=module, datamodule=Adaptive(), optimizer=fast) for n in (4, 5))
    source = Adaptive().train_batch_source(("fit", "unknown"), split_root(jax.random.key(0)).sampling)

    def points_by(model):
        magnitude = lambda name, pool: jnp.abs(
            module.objective.residuals(model, dict.fromkeys(source.names, pool))[name]
        )
        return source.draw(before.state.sampler_state, jnp.int32(4), magnitude)[0]["fit"].tolist()

    assert after.state.sampler_state["fit"].tolist() == points_by(before.model)
    assert points_by(before.model) != points_by(factory(split_root(jax.random.key(0)).model))


def test_s1_batches_are_drawn_inside_the_compiled_step():
    data = Uniform()
    train(steps=9, datamodule=data, log_every=2)
    assert data.traces <= 2  # once for its shapes, once in the compiled loop


def test_s2_a_state_placed_anew_goes_on_as_it_was():
    module, data = toy(), Uniform()
    half = train(3, module=module)
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(half.state))
    placed = jax.tree.map(lambda leaf: jax.device_put(leaf, jax.devices()[0]), half.state)
    rest = Trainer(6, progress=False).fit_state(module, placed, datamodule=data, optimizer=ADAM)
    assert differing(rest.state, train(6, module=module).state) == []


def test_t3_any_chunking_gives_the_same_bits_and_one_executable(monkeypatch):
    engines = []
    original = FirstOrderEngine.__init__

    def remembered(self, *args):
        engines.append(self)
        original(self, *args)

    monkeypatch.setattr(FirstOrderEngine, "__init__", remembered)
    states = [train(24, log_every=every).state for every in (1, 7, 1000)]
    assert differing(states[0], states[1]) == []
    assert differing(states[0], states[2]) == []
    assert [engine.traces for engine in engines] == [1, 1, 1]
    assert [engine._run._cache_size() for engine in engines] == [1, 1, 1]


def test_t3_a_step_on_the_host_is_traced_once_whatever_the_number_of_steps():
    def traces(steps):
        calls = []

        def counted(model, batch):
            calls.append(None)
            return model.c * batch["x"] - 2.0 * batch["x"]

        data = Uniform()
        train(steps, module=toy(fit=counted), datamodule=data, optimizer=GaussNewton(refresh=1))
        return len(calls), data.traces

    assert traces(3) == traces(7)


def test_r14_the_clock_changes_no_number(monkeypatch):
    fast = train(24, balancer=GradNorm(every=5))
    monkeypatch.setattr(Pace, "steps", lambda self: 2)
    monkeypatch.setattr(Pace, "save_due", lambda self: True)
    slow = train(24, balancer=GradNorm(every=5))
    assert differing(fast.state, slow.state) == []
    assert curves(fast.history) == curves(slow.history)


def test_r14_max_seconds_decides_only_where_the_run_stops(monkeypatch):
    monkeypatch.setattr(Pace, "out_of_time", property(lambda self: self.max_seconds is not None))
    cut = train(24, max_seconds=5.0)
    assert (cut.status, cut.step) == ("stopped", 1)
    assert re.fullmatch(r"max_seconds reached, after \S+ s of training \(step 1\)", cut.stop_reason)
    assert differing(cut.state, train(1).state) == []


def test_r13_n1_a_fit_leaves_flags_and_environment_alone():
    before, flags = dict(os.environ), dict(jax.config.values.items())
    train(precision="float64")
    assert dict(os.environ) == before
    assert dict(jax.config.values.items()) == flags


def test_n1_importing_the_package_leaves_the_flags_alone():
    script = "import jax; a = dict(jax.config.values); import phijax.training; assert dict(jax.config.values) == a"
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", script], timeout=300).returncode == 0


def float_dtypes(tree):
    leaves = jax.tree.leaves(tree)
    return {str(leaf.dtype) for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.inexact)}


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("flag", [False, True])
def test_n1_every_floating_leaf_has_the_precision_that_was_asked_for(precision, flag):
    seen = set()

    def residual(model, batch):
        seen.add(str(batch["x"].dtype))
        return model.c * 2.0 * batch["x"] - np.float64(4.0) * batch["x"]

    with jax.enable_x64(flag):
        result = train(
            module=toy(fit=residual),
            precision=precision,
            balancer=GradNorm(every=2),
            callbacks=(KeepBest(every=2),),
            datamodule=Adaptive(),
        )
    assert float_dtypes(result.state) == {precision}
    assert seen == {precision}


def test_n1_losses_weights_and_their_sum_have_all_digits_of_float64():
    third = lambda model, batch: 0.0 * model.c * batch["x"] + 1.0 / 3.0
    record = train(1, module=toy("float64", fit=third), balancer=Static({"fit": 1 / 7})).metrics
    found = record["losses"]["fit"], record["weights"]["fit"], record["weighted"]["fit"], record["total"]
    assert found == pytest.approx((1 / 9, 1 / 7, 1 / 63, 1 / 63), rel=4e-16, abs=0)


def test_n1_a_leaf_of_another_precision_is_refused_by_name():
    with pytest.raises(
        TypeError, match=r"state\.model_state\.inner is float32 in a float64 run\. Make it inside the run"
    ):
        train(module=toy(factory=lambda key: WIDE_REFUSED), precision="float64")


def test_n1_points_of_another_precision_are_refused_by_name():
    pool = jnp.linspace(-1.0, 1.0, 4)

    class Single:
        def train_batch_source(self, names, key):
            return lambda step: {name: {"x": pool} for name in names}

    with pytest.raises(TypeError, match=r"batch\['fit'\]\['x'\] is float32 in a float64 run"):
        train(datamodule=Single(), precision="float64")


def test_n1_precisions_that_disagree_are_refused():
    with pytest.raises(ValueError, match=r"precision='float32'.*compiled for float64"):
        train(module=toy("float64"), precision="float32")


class Weighted:
    def train_batch_source(self, names, key):
        return lambda step: {"fit": Points({"x": jnp.array([0.0, 1.0, 2.0])}, weights=jnp.array([0.5, 1.0, 1.5]))}


def test_n2_a_loss_is_the_mean_of_weight_times_squared_residual():
    module = toy(fit=lambda model, batch: 0.0 * model.c + batch.coordinates["x"] + 1.0)
    record = train(1, module=module, datamodule=Weighted(), balancer=Static({"fit": 3.0})).metrics
    raw = (0.5 * 1 + 1.0 * 4 + 1.5 * 9) / 3
    assert record["losses"] == {"fit": pytest.approx(raw)}
    assert record["weights"] == {"fit": 3.0}
    assert record["weighted"] == {"fit": pytest.approx(3 * raw)}
    assert record["total"] == pytest.approx(3 * raw)


def test_a_source_that_lacks_a_batch_is_answered_by_name():
    class Lacking:
        def train_batch_source(self, names, key):
            return lambda step: {"fit": {"x": jnp.zeros(3)}}

    with pytest.raises(ValueError, match="gives 'fit', but the objective needs a batch for 'unknown'"):
        train(datamodule=Lacking())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_steps": 0}, r"Trainer\(max_steps=0\): give a whole number of at least 1"),
        ({"max_steps": 5, "log_every": 1.5}, r"log_every=1\.5"),
        ({"max_steps": 5, "keep": True}, "keep=True"),
        ({"max_steps": 5, "max_seconds": 0}, "max_seconds=0.*positive number"),
        ({"max_steps": 5, "precision": "double"}, "'float32' or 'float64'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Trainer(**settings)
