"""Optimizers from tables: kinds, schedules, stages, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from phijax._precision import precision_scope
from phijax.optimizers import LevenbergMarquardt, SSBroyden, optimizer_from_config, optimizer_to_config, steps_of
from phijax.optimizers.config import warmed


def moves(optimizer, params, gradients):
    state = optimizer.init(params)
    moved = []
    for gradient in gradients:
        updates, state = optimizer.update(gradient, state, params)
        moved.append(np.asarray(jax.tree.leaves(updates)[0]))
    return moved


@pytest.mark.parametrize("kind", ["Adam", "SOAP", "Muon"])
def test_the_rate_of_a_schedule_rises_and_falls_over_its_steps(kind):
    """Equal gradients make a step of Adam, SOAP or Muon as long as the rate, up to a factor that stays."""
    with precision_scope("float64"):
        table = {"kind": kind, "peak": 0.1, "warmup": 10, "steps": 100, "end": 0.01}
        params = {"w": jnp.zeros((3, 3))}
        gradient = {"w": jnp.asarray(np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0])}
        lengths = [np.linalg.norm(moved) for moved in moves(optimizer_from_config(table), params, [gradient] * 120)]
    assert lengths[0] == 0
    assert np.argmax(lengths) in (9, 10, 11)
    assert lengths[5] == pytest.approx(0.5 * lengths[10], rel=0.2)
    assert lengths[-1] == pytest.approx(0.1 * lengths[10], rel=0.2)
    assert lengths[-1] == pytest.approx(lengths[-10], rel=1e-6)


def test_the_warm_up_is_a_tenth_of_few_steps_and_500_of_many():
    assert float(warmed(1.0, None, 200, 0.0)(20)) == pytest.approx(1.0)
    assert float(warmed(1.0, None, 20_000, 0.0)(500)) == pytest.approx(1.0)
    assert float(warmed(1.0, None, 20_000, 0.0)(250)) == pytest.approx(0.5)


def test_lbfgs_keeps_as_many_pairs_as_it_is_told():
    state = optimizer_from_config({"kind": "LBFGS", "memory": 7}).init(jnp.zeros(3))
    assert optax.tree.get(state, "diff_params_memory").shape == (7, 3)


def test_stages_become_optimizers_with_their_steps_and_holds():
    table = {
        "kind": "Stages",
        "stages": [
            {"kind": "Adam", "steps": 40, "peak": 0.1},
            {"kind": "SSBroyden", "refresh": 50, "steps": 300, "hold": 100},
            {"kind": "LevenbergMarquardt"},
        ],
    }
    (adam, *first), second, third = optimizer_from_config(table)
    assert first == [40, None]
    assert second == (SSBroyden(refresh=50), 300, 100)
    assert third == (LevenbergMarquardt(), None, None)
    # The schedule is that of the stage: at its end the rate is the least.
    moved = moves(adam, jnp.zeros(1), [jnp.ones(1)] * 41)
    assert float(np.abs(moved[-1][0])) == pytest.approx(1e-6, rel=1e-3)
    assert float(np.abs(moved[4][0])) == pytest.approx(0.1, rel=1e-3)


def test_only_this_packages_own_optimizers_say_what_they_are():
    assert optimizer_to_config(optax.adam(1e-3)) is None
    assert optimizer_to_config(SSBroyden(refresh=9)) == {
        "kind": "SSBroyden", "refresh": 9, "patience": 20, "tolerance": 0.0
    }  # fmt: skip


def test_the_steps_of_a_schedule_are_found_and_no_others():
    assert steps_of({"kind": "Adam", "steps": 70}) == 70
    assert [steps_of(what) for what in ({"kind": "Adam"}, {"kind": "SSBroyden"}, SSBroyden(), None)] == [None] * 4


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"kind": "SSBroiden"}, "optimizer: kind='SSBroiden' is not known. Did you mean 'SSBroyden'? Known: Adam, "),
        ({}, "optimizer: kind='' is not known."),
        ({"kind": "SOAP", "precondition_evry": 3}, "SOAP has no option 'precondition_evry'."),
        (
            {"kind": "Adam", "warmup": 50, "steps": 40},
            "a schedule: warmup=50 must be a whole number below its steps=40",
        ),
        ({"kind": "Adam", "steps": 0}, "a schedule: steps=0 must be a whole number of at least 1."),
        ({"kind": "LBFGS", "memory": 0}, "LBFGS: memory=0 must be a whole number of at least 1."),
        ({"kind": "Stages"}, "Stages: stages=None must be a list of tables"),
        ({"kind": "Stages", "stages": ["Adam"]}, "Stages: stages=['Adam'] must be a list of tables"),
        ({"kind": "Stages", "stages": [{"kind": "Adam"}], "step": 3}, "Stages has no option 'step'."),
        ({"kind": "Stages", "stages": [{"kind": "Stages"}]}, "Stages: a stage can't have stages of its own"),
    ],
)
def test_what_is_no_table_is_refused_by_name(table, message):
    with pytest.raises(ValueError) as caught:
        optimizer_from_config(table)
    assert str(caught.value).startswith(message)
