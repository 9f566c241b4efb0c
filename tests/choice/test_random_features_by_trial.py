"""Linear problems: random features by trial, one outcome for every seed; others, and rough ones, go to a trained network."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from sympy import Abs, Eq, Heaviside, Rational, exp, pi, sin

import phijax as phi
from phijax.choice import choose, features, settled
from phijax.choice.choice import NETWORK, RANDOM_FEATURES, TO_BE_TRIED
from phijax.choice.given import rates
from phijax.evaluation import RunDirectory
from phijax.networks import MLP, RandomFeatures
from phijax.optimizers import GaussNewton, LinearLeastSquares
from phijax.record import choice_of, config_of

x, t = phi.coordinate("x"), phi.time("t")
u = phi.field("u", x)
line = phi.Interval(x, 0, 1)
ENDS = {"ends": phi.on(line.boundary, Eq(u, 0))}


def bits(leaf):
    return jax.random.key_data(leaf) if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf


def poisson(source, **conditions):
    return phi.Problem(line, {"law": Eq(-u.diff(x, 2), source), **(conditions or ENDS)})


SMOOTH = phi.Problem(line, {"law": Eq(-u.diff(x, 2), pi**2 * sin(pi * x)), **ENDS}, reference={u: sin(pi * x)})
CUBIC = phi.Problem(line, {"law": Eq(-u.diff(x, 2) + u**3, sin(pi * x)), **ENDS})


def test_a_linear_problem_is_solved_to_rounding_by_one_solve():
    solution = phi.solve(SMOOTH, seed=0, progress=False)
    assert solution.choice.method == RANDOM_FEATURES
    assert isinstance(solution.choice.network, RandomFeatures)
    assert solution.steps == 2
    assert solution.errors()["u"]["relative_l2"] < 1e-12
    assert solution.stop_reason.startswith("The linear problem is solved: the loss fell from")
    assert any("scales that were tried" in reason for reason in solution.choice.reasons)


def test_convection_of_many_waves_round_a_ring_needs_a_scale_for_each_coordinate():
    w = phi.field("w", x, t)
    ring = phi.Interval(x, 0, 2 * pi, periodic=True) * phi.Interval(t, 0, 1)
    problem = phi.Problem(
        ring,
        {"law": Eq(w.diff(t) + 20 * w.diff(x), 0), "start": phi.on(ring.at(t=0), Eq(w, sin(x)))},
        reference={w: sin(x - 20 * t)},
    )
    solution = phi.solve(problem, seed=1, progress=False)
    around, again, along = solution.choice.network.scale  # cosine and sine of x, and t
    assert around == again
    assert along > 4 * around
    assert solution.errors()["w"]["relative_l2"] < 1e-9


def test_what_is_tried_does_not_hang_on_the_seed():
    first, second = (settled(SMOOTH, choose(SMOOTH)) for _ in range(2))
    assert first == second
    assert choose(SMOOTH).method == TO_BE_TRIED


@pytest.mark.parametrize(
    ("problem", "settings"),
    [
        (CUBIC, {}),
        (SMOOTH, {"method": "network"}),
        (SMOOTH, {"network": MLP(width=8, depth=2)}),
        (SMOOTH, {"optimizer": GaussNewton()}),
        (SMOOTH, {"points": 100}),
        (SMOOTH, {"max_steps": 10}),
        (SMOOTH, {"precision": "float32"}),
        (SMOOTH, {"max_seconds": 5.0}),
    ],
    ids=str,
)
def test_a_network_is_trained_where_that_is_asked_for_or_nothing_else_can_be(problem, settings):
    chosen = choose(problem, **settings)
    assert chosen.method == NETWORK
    assert settled(problem, chosen) is chosen


def test_a_jump_in_the_source_leaves_the_problem_to_a_network_and_says_so():
    rough = poisson(Heaviside(x - Rational(1, 3), 0) * 50)
    chosen = settled(rough, choose(rough))
    assert chosen.method == NETWORK
    assert isinstance(chosen.network, MLP)
    assert chosen.reasons[-1].startswith("a trained network, though the problem is linear: of")


def test_observed_values_and_unknown_parameters_are_not_tried():
    columns = {"x": np.linspace(0, 1, 9), "u": np.sin(np.linspace(0, 3, 9))}
    assert choose(poisson(1, ends=ENDS["ends"], seen=phi.data(columns))).method == NETWORK
    lam = phi.parameter("lam", initial=1.0)
    assert choose(poisson(lam, ends=ENDS["ends"], seen=phi.data(columns))).method == NETWORK


@pytest.mark.parametrize(
    ("problem", "settings", "message"),
    [
        (CUBIC, {}, 'cannot be solved by method="random_features": it is not linear in its fields'),
        (poisson(Abs(u)), {}, "it is not linear in its fields"),
        (poisson(phi.parameter("k", initial=1.0)), {}, "the parameter 'k' is unknown as well"),
        (SMOOTH, {"optimizer": GaussNewton()}, "it settles the optimizer itself; leave optimizer= out"),
        (SMOOTH, {"network": MLP()}, "leave network= out, or give phi.RandomFeatures"),
        (SMOOTH, {"slabs": 4}, "it settles the slabs itself"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
def test_what_cannot_be_done_by_random_features_is_refused(problem, settings, message):
    with pytest.raises(ValueError, match=message):
        choose(problem, method="random_features", **settings)


def test_a_method_that_is_none_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="method='random_feature' is no way to solve; did you mean 'random_features'"):
        choose(SMOOTH, method="random_feature")


def test_features_of_the_users_own_are_taken_as_they_are():
    own = RandomFeatures(200, scale=3.0)
    solution = phi.solve(SMOOTH, seed=0, method="random_features", network=own, progress=False)
    assert solution.choice.network is own
    assert solution.errors()["u"]["relative_l2"] < 1e-9


def test_a_run_folder_holds_what_trials_have_settled_and_one_that_stopped_before_them_makes_them(tmp_path):
    whole = phi.solve(SMOOTH, seed=3, run_dir=tmp_path / "whole", progress=False)
    kept = choice_of(RunDirectory.open(tmp_path / "whole").config)
    assert replace(kept, balancer=whole.choice.balancer) == replace(whole.choice, optimizer=LinearLeastSquares())
    open_choice = choose(SMOOTH)
    config = config_of(open_choice, problem=SMOOTH.name, seed=3, max_seconds=None, optimizer=None)
    RunDirectory.create(tmp_path / "cut", SMOOTH, config)  # as if the run had been killed in its trials
    resumed = phi.resume(tmp_path / "cut", progress=False)
    at = np.linspace(0, 1, 50)
    np.testing.assert_array_equal(resumed.u(x=at), whole.u(x=at))
    loaded = phi.load_solution(tmp_path / "cut")
    np.testing.assert_array_equal(loaded.u(x=at), whole.u(x=at))


@pytest.mark.parametrize("length", [1e-9, 1e6])
def test_units_in_which_equation_and_conditions_lie_far_apart_cost_nothing(length):
    space = phi.Interval(x, 0, length)
    problem = phi.Problem(
        space,
        {
            "law": Eq(-u.diff(x, 2), (pi / length) ** 2 * sin(pi * x / length)),
            "ends": phi.on(space.boundary, Eq(u, 0)),
        },
        reference={u: sin(pi * x / length)},
    )
    solution = phi.solve(problem, seed=0, progress=False)
    assert solution.choice.method == RANDOM_FEATURES
    assert any("terms are of very different size as declared" in reason for reason in solution.choice.reasons)
    assert solution.errors()["u"]["relative_l2"] < 1e-12
    own = settled(problem, choose(problem, method="random_features", balancer=phi.Static({"ends": 3.0})))
    assert own.balancer == phi.Static({"ends": 3.0})


def test_a_problem_that_has_no_solution_is_not_said_to_be_solved():
    clash = poisson(1, **ENDS, middle=phi.on(line.side("left"), Eq(u.diff(x), 3)))
    solution = phi.solve(clash, seed=0, method="random_features", network=RandomFeatures(50), progress=False)
    assert solution.stop_reason.startswith("The linear problem is solved in the sense of least squares alone: the loss")


def test_two_fields_and_a_field_of_fewer_coordinates_are_solved_together():
    w, k = phi.field("w", x, t), phi.field("k", x)
    strip = line * phi.Interval(t, 0, 1)
    problem = phi.Problem(
        strip,
        {
            "source": phi.on(line, Eq(k.diff(x), exp(x))),
            "inlet": phi.on(line.side("left"), Eq(k, 1)),
            "law": Eq(w.diff(t), k),
            "start": phi.on(strip.at(t=0), Eq(w, 0)),
        },
        reference={w: t * exp(x), k: exp(x)},
    )
    solution = phi.solve(problem, seed=0, progress=False)
    assert solution.choice.method == RANDOM_FEATURES
    assert max(e["relative_l2"] for e in solution.errors().values()) < 1e-10


def test_the_flags_of_the_process_are_left_alone():
    before = jax.config.jax_enable_x64
    settled(SMOOTH, choose(SMOOTH))
    assert jax.config.jax_enable_x64 == before


def test_a_run_that_is_cut_between_the_solve_and_the_look_at_new_points_is_resumed_bit_for_bit(tmp_path):
    compiled = phi.compile(SMOOTH, network=RandomFeatures(40), points=100, precision="float64")
    parts = {"datamodule": compiled.datamodule, "optimizer": LinearLeastSquares()}
    whole = phi.Trainer(2, progress=False).fit(compiled.module, seed=5, **parts)
    phi.Trainer(1, checkpoint=tmp_path, progress=False).fit(compiled.module, seed=5, **parts)
    trainer = phi.Trainer(2, checkpoint=tmp_path, progress=False)
    resumed = trainer.fit(compiled.module, seed=5, ckpt_path=tmp_path, **parts)
    assert resumed.stop_reason == whole.stop_reason
    for ours, theirs in zip(jax.tree.leaves(resumed.state), jax.tree.leaves(whole.state), strict=True):
        np.testing.assert_array_equal(bits(ours), bits(theirs))


def test_how_fast_given_things_vary_is_told_for_each_coordinate():
    strip = line * phi.Interval(t, 0, 2)
    w = phi.field("w", x, t)
    equations = {
        "law": Eq(w.diff(t), w.diff(x, 2) + 5 * sin(40 * x + 1)),
        "start": phi.on(strip.at(t=0), Eq(w, 3)),
        "ends": phi.on(strip.boundary(x), Eq(w, 3 + sin(7 * t))),
    }
    found = rates(phi.Problem(strip, equations))
    assert found[x] == pytest.approx(40 / 2, rel=0.05)  # radians over half of [0, 1]
    assert found[t] == pytest.approx(
        7 / np.sqrt(2 * 9.5), rel=0.1
    )  # slope 7 / sqrt 2 over a size of sqrt 9.5, half of [0, 2]
    assert max(rates(SMOOTH).values()) == pytest.approx(np.pi / 2, rel=0.05)


def test_what_few_features_cannot_tell_is_looked_at_with_more_where_the_source_varies_fast(monkeypatch):
    monkeypatch.setattr(features, "TRIAL_FEATURES", 20)
    monkeypatch.setattr(features, "SECOND_LOOK_FEATURES", 200)
    fast = poisson((30 * pi) ** 2 * sin(30 * pi * x))
    assert choose(fast, max_seconds=60).method == features.TO_BE_TRIED_ONCE
    chosen = settled(fast, choose(fast))
    assert chosen.method == RANDOM_FEATURES
    assert chosen.network.features == 200
    assert "on 20 features" in chosen.reasons[-1]
    assert "on 200 features" in chosen.reasons[-1]
    assert settled(fast, choose(fast, max_seconds=60)).method == NETWORK
