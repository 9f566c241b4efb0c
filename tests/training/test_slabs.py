"""Slabs of time: each solved from the end of the one before, on one compiled program, resumable, and honest where it fails."""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

import phijax as phi
from phijax._precision import precision_scope
from phijax.choice import choose
from phijax.networks.slabs import SlabNetworks
from phijax.training.session import Session

t, x = phi.time("t"), phi.coordinate("x")
y = phi.field("y", t)
SPAN = phi.Interval(t, 1, 4)
DECAY = phi.Problem(SPAN, {"law": y.diff(t) + y**2, "start": phi.on(SPAN.at(t=1), {y: 1})}, name="decay")  # y = 1/t
SMALL = phi.MLP(width=8, depth=1)


def solved(problem=DECAY, slabs=3, seed=0, max_steps=200, **settings):
    settings = {"network": SMALL, "points": 40, "progress": False} | settings
    return phi.solve(problem, seed=seed, slabs=slabs, max_steps=max_steps, **settings)


def test_slabs_join_to_the_solution_of_the_whole_time():
    solution = solved()
    assert solution.stop_reason.startswith("all 3 slabs are solved")
    times = np.linspace(1, 4, 61)
    assert np.max(np.abs(solution.y(t=times) - 1 / times)) < 1e-5
    assert np.max(np.abs(solution.evaluate(y.diff(t), t=times) + 1 / times**2)) < 1e-3


def test_slabs_of_a_wave_hand_on_value_and_velocity():
    u = phi.field("u", x, t)
    string, span = phi.Interval(x, 0, 1), phi.Interval(t, 0, 1)
    problem = phi.Problem(
        string * span,
        {
            "wave": sympy.Eq(u.diff(t, 2), u.diff(x, 2)),
            "ends": phi.on(string.boundary * span, {u: 0}),
            "start": phi.on(string * span.at(t=0), {u: sympy.sin(sympy.pi * x), u.diff(t): 0}),
        },
    )
    solution = solved(
        problem,
        phi.Slabs(2, solved=1e-2),
        network=phi.MLP(width=12, depth=1),
        points=150,
        optimizer=[(phi.GaussNewton(refresh=2), 40)],
    )
    assert solution.stop_reason.startswith("all 2 slabs are solved")
    at = {"x": np.linspace(0, 1, 21), "t": 0.9}
    exact = np.sin(np.pi * at["x"]) * np.cos(np.pi * 0.9)
    assert np.max(np.abs(solution.u(**at) - exact)) < 2e-3


def test_nothing_is_traced_anew_from_slab_to_slab(monkeypatch):
    sessions = []
    run = Session.run
    monkeypatch.setattr(Session, "run", lambda self, state: (sessions.append(self), run(self, state))[1])
    solved(slabs=4)
    (session,) = sessions
    (engine,) = session._engines.values()
    assert engine.traces == 1
    assert engine._system._jacobian._cache_size() == 1


@pytest.mark.parametrize("optimizer", [phi.GaussNewton(refresh=2, tolerance=1e-8), [(phi.GaussNewton(refresh=2), 6)]])
def test_a_run_that_is_resumed_within_a_later_slab_gives_the_same_bits(tmp_path, optimizer):
    compiled = phi.compile(DECAY, network=SMALL, points=40, precision="float64", slabs=phi.Slabs(3, solved=1e3))

    def fit(folder, steps, **start):
        trainer = phi.Trainer(steps, checkpoint=tmp_path / folder, checkpoint_every=5, log_every=5, progress=False)
        return trainer.fit(compiled.module, datamodule=compiled.datamodule, optimizer=optimizer, **start)

    whole = fit("whole", 60, seed=1)
    moved = next(event["step"] for event in whole.history.events if event["event"] == "stage")
    fit("cut", moved + 2, seed=1)
    resumed = fit("cut", 60, ckpt_path=tmp_path / "cut")
    assert resumed.stop_reason == whole.stop_reason
    for one, other in zip(jax.tree.leaves(whole.state), jax.tree.leaves(resumed.state), strict=True):
        if jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        assert np.array_equal(one, other)


def test_a_slab_that_is_not_solved_is_begun_anew_and_then_ends_the_run():
    solution = solved(slabs=phi.Slabs(3, solved=1e-30, tries=2))
    begun = [e["reason"] for e in solution.history.events if e["event"] == "stage"]
    assert len(begun) == 1
    assert begun[0].startswith("slab 1 of 3 is begun anew")
    assert re.match(r"slab 1 of 3 is not solved after 2 tries: .*give more slabs", solution.stop_reason)


def test_a_run_whose_steps_end_says_in_which_slab_it_is():
    assert "in slab 1 of 3" in solved(max_steps=3).stop_reason


def test_a_run_folder_holds_how_time_was_cut(tmp_path):
    solution = solved(run_dir=tmp_path / "run")
    loaded = phi.load_solution(tmp_path / "run")
    times = np.linspace(1, 4, 7)
    assert np.array_equal(loaded.y(t=times), solution.y(t=times))


def test_the_report_tells_the_largest_jump_between_slabs():
    facts = solved().make_report().facts
    size, begin = re.match(r"largest jump (\S+) \(rms\), where one begins at (\S+)", facts["slabs"]).groups()
    assert 0 < float(size) < 1e-5
    assert float(begin) in (2.0, 3.0)


def test_networks_of_slabs_agree_with_each_slab_alone():
    with precision_scope("float64"):
        keys = jax.random.split(jax.random.key(0), 3)
        nets = [eqx.nn.Linear(2, 1, key=key) for key in keys]
        slabs = SlabNetworks.of(nets[0], 3, position=1).next().again(nets[1]).next().again(nets[2])
        for index, local in ((0, -0.5), (1, 0.2), (2, 1.0)):
            whole = (2 * index + 1 + local) / 3 - 1
            assert np.allclose(slabs(jnp.array([0.3, whole])), nets[index](jnp.array([0.3, local])), rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"end": phi.on(SPAN.at(t=4), {y: 1})}, "'end' is prescribed neither at the start nor at all times"),
        ({"seen": phi.data({"t": [2.0], "y": [0.5]})}, "'seen' compares with measured values of all times"),
        ({"again": sympy.Eq(y.subs(t, 2), 1)}, "'again' takes y at t = 2"),
        ({"more": y - phi.parameter("k", initial=1.0)}, "the unknown parameter k is one number for all times"),
        ({"sum": sympy.Eq(phi.integral(y, (t, 1, 4)), 1)}, "'sum' integrates over t"),
    ],
)
def test_what_ties_all_times_together_is_named(constraints, message):
    law = {"law": y.diff(t) + y**2, "start": phi.on(SPAN.at(t=1), {y: 1})}
    problem = phi.Problem(SPAN, law | constraints)
    with pytest.raises(ValueError, match=re.escape(message)):
        phi.compile(problem, slabs=3)
    assert choose(problem).slabs is None


def test_solve_cuts_nonlinear_initial_value_problems_alone():
    assert choose(DECAY).slabs.count == 8
    linear = phi.Problem(SPAN, {"law": y.diff(t, 2) + t * y, "start": phi.on(SPAN.at(t=1), {y: 1, y.diff(t): 0})})
    assert choose(linear).slabs is None
    assert choose(DECAY, network=phi.MLP(width=64, depth=4)).slabs is None  # too many parameters for least squares
    hidden = phi.Problem(SPAN, {"law": sympy.Derivative(y**2, t) + y, "start": phi.on(SPAN.at(t=1), {y: 1})})
    assert choose(hidden).slabs.count == 8


def test_an_optimizer_without_an_end_needs_steps_for_each_slab():
    import optax

    with pytest.raises(ValueError, match=re.escape("optimizer=[(optimizer, steps)]")):
        solved(optimizer=optax.adam(1e-3))
    assert choose(DECAY, optimizer=optax.adam(1e-3)).slabs is None
    staged = solved(optimizer=[(optax.adam(1e-2), 4)], slabs=phi.Slabs(2, solved=1e6), max_steps=50)
    assert staged.steps == 8
    assert staged.stop_reason.startswith("all 2 slabs are solved")


def test_settings_that_are_none_are_refused():
    for settings, message in (({"count": 0}, "count=0"), ({"solved": 0.0}, "solved=0.0"), ({"tries": 0}, "tries=0")):
        with pytest.raises(ValueError, match=message):
            phi.Slabs(**{"count": 2, **settings})
