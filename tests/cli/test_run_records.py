"""The settings of a run as its config.toml and back; what cannot be written is named when it is needed."""

import tomllib

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from sympy import Eq

import phijax as phi
from phijax.choice import choose
from phijax.evaluation import RunDirectoryError
from phijax.evaluation.run_directory import config_text
from phijax.record import choice_of, config_of, seed_of
from phijax.training.progress import Silent
from phijax.training.stages import Plan

t = phi.time("t")
y, z = phi.fields("y z", t)
span = phi.Interval(t, 0, 1)


@pytest.fixture(scope="module")
def problem():
    equations = {"ode": {"y": Eq(y.diff(t), z), "z": Eq(z.diff(t), -y)}}
    return phi.Problem(span, equations | {"start": phi.on(span.at(t=0), Eq(y, 0), Eq(z, 1))})


def written_and_read(problem, seed=0, optimizer=None, **given):
    choice = choose(problem, optimizer=optimizer, **given)
    config = config_of(choice, problem="spring", seed=seed, max_seconds=None, optimizer=optimizer)
    return choice, tomllib.loads(config_text(config))


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"network": phi.MLP(width=(4, 5), activation="sin"), "precision": "float32", "max_steps": 3},
        {"network": {"y": phi.MLP(width=4), "z": phi.ModifiedMLP(width=6)}, "points": {"ode": 7}},
        {"optimizer": phi.GaussNewton(damping=0.1), "balancer": phi.GradNorm(every=9), "points": 33},
        {"balancer": phi.Static({"start": 100.0})},
        {"optimizer": phi.LevenbergMarquardt(rule="target_ratio", correction=True)},
        {"optimizer": {"kind": "SPRING", "momentum": 0.5}},
        {"optimizer": phi.SSBFGS(refresh=50)},
        {"optimizer": {"kind": "SSBroyden"}, "precision": "float32"},
    ],
)
def test_a_choice_comes_back_as_it_was(problem, given):
    choice, config = written_and_read(problem, **given)
    assert choice_of(config) == choice


def test_the_rules_own_adam_and_one_that_was_asked_for_come_back(problem):
    for optimizer, network in ((None, phi.MLP(width=128)), ({"kind": "Adam", "peak": 3e-3}, None)):
        choice, config = written_and_read(problem, optimizer=optimizer, network=network)
        assert config["optimizer"] == (optimizer or {"kind": "Adam"})
        again = choice_of(config)
        assert again.optimizer.init(0.0).__class__ is choice.optimizer.init(0.0).__class__
        assert (again.precision, again.points) == (choice.precision, choice.points)


def test_stages_of_this_packages_optimizers_come_back_as_they_were(problem):
    stages = [(phi.GaussNewton(), 20), phi.Stage(phi.SSBroyden(refresh=50), hold=100)]
    choice, config = written_and_read(problem, optimizer=stages)
    assert config["optimizer"]["stages"][0]["steps"] == 20
    assert Plan.of(choice_of(config).optimizer) == Plan.of(stages)
    assert choice_of(config).max_steps == choice.max_steps
    single, config = written_and_read(problem, optimizer=phi.Stage(phi.GaussNewton(), 9))
    assert Plan.of(choice_of(config).optimizer) == Plan.of(single.optimizer)


def test_a_table_of_stages_comes_back_with_its_first_order_stages(problem):
    table = {"kind": "Stages", "stages": [{"kind": "SOAP", "steps": 30, "peak": 1e-2}, {"kind": "SSBroyden"}]}
    choice, config = written_and_read(problem, optimizer=table)
    assert config["optimizer"] == table
    (first, steps, _), (second, rest, _) = choice_of(config).optimizer
    assert (steps, rest, second) == (30, None, phi.SSBroyden())
    assert first.init(jnp.zeros(2)).__class__ is choice.optimizer[0][0].init(jnp.zeros(2)).__class__


def test_stages_with_an_optimizer_of_the_users_own_have_no_table(problem):
    _, config = written_and_read(problem, optimizer=[(optax.adam(1e-3), 5), (phi.GaussNewton(), 5)])
    assert "optimizer" not in config


TABLES = [
    {"kind": "SSBroyden"},
    {"kind": "Muon", "steps": 16},
    {"kind": "Stages", "stages": [{"kind": "SOAP", "steps": 5}, {"kind": "LevenbergMarquardt", "hold": 3}]},
]


class Fault(Exception):
    pass


class Faulty(Silent):
    """Raises where a run has come to step 7."""

    def update(self, step, loss):
        if step >= 7:
            raise Fault


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table["kind"])
def test_a_run_of_a_table_is_gone_on_with_from_its_folder_alone_bit_for_bit(problem, table, tmp_path):
    given = {"seed": 1, "optimizer": table, "network": phi.MLP(width=4, depth=1), "points": 16, "max_steps": 12}
    whole = phi.solve(problem, **given, progress=False)
    with pytest.raises(Fault):
        phi.solve(problem, **given, run_dir=tmp_path / "run", progress=Faulty())
    again = phi.resume(tmp_path / "run", progress=False)
    assert again.stop_reason == whole.stop_reason
    times = np.linspace(0, 1, 9)
    assert again.y(t=times).tobytes() == whole.y(t=times).tobytes()


@pytest.mark.parametrize("part", ["optimizer", "balancer", "network"])
def test_an_object_of_the_users_own_is_named_when_it_is_missed(problem, part):
    def network(key, inputs, outputs):
        return phi.MLP(width=3)(key, inputs, outputs)

    class Mine:  # has all that a balancer has, and is derived from none
        every, refresh = 0, False
        initialize, diagnostics, update = phi.Static.initialize, phi.Static.diagnostics, phi.Static.update
        weights, combine = phi.Static.weights, phi.Static.combine

    own = {"optimizer": optax.sgd(0.1), "balancer": Mine(), "network": network}
    _, config = written_and_read(problem, **{part: own[part]})
    assert part not in config
    with pytest.raises(RunDirectoryError, match=f"hold no {part}: it was an? .*of the user's own"):
        choice_of(config)


@pytest.mark.parametrize("implementation", ["threefry2x32", "rbg"])
def test_a_key_is_recorded_by_its_words(problem, implementation):
    key = jax.random.key(5, impl=implementation)
    _, config = written_and_read(problem, seed=key)
    assert (jax.random.key_data(seed_of(config)) == jax.random.key_data(key)).all()
    assert jax.random.key_impl(seed_of(config)) == jax.random.key_impl(key)
    assert seed_of(written_and_read(problem, seed=2**32 - 1)[1]) == 2**32 - 1


def test_what_is_no_seed_is_refused_before_a_folder_is_made(problem, tmp_path):
    with pytest.raises(ValueError, match="seed"):
        phi.solve(problem, seed=-1, run_dir=tmp_path / "run")
    assert list(tmp_path.iterdir()) == []
