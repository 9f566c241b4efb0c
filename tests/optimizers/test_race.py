"""A race: every candidate starts from the same parameters, and the one that leads on new points goes on."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phijax.optimizers import GaussNewton, LeastSquaresSystem, LevenbergMarquardt, Race, optimizer_from_config
from phijax.optimizers.config import optimizer_to_config

FAST, SLOW = GaussNewton(refresh=2), GaussNewton(refresh=2, damping=1.0, lower=1.0001, long=1.9)


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def pointwise(params, x):
    return {"": params[0] * jnp.exp(params[1] * x) - 2 * jnp.exp(-1.5 * x)}


def run(race, steps):
    system = LeastSquaresSystem({"fit": pointwise}, jnp.zeros(2))
    theta = jnp.array([0.5, 0.3])
    state, infos, before = race.init(theta), [], []
    for step in range(steps):
        points = jax.random.uniform(jax.random.key(step // 2), (20,))
        before.append(theta)
        theta, state, info = race.step(system, theta, state, {"fit": points}, {"fit": 1.0})
        infos.append(info)
    return theta, state, infos, before


@pytest.mark.parametrize(("candidates", "winner"), [((SLOW, FAST), 1), ((FAST, SLOW), 0)])
def test_the_faster_one_wins_wherever_it_stands(candidates, winner):
    race = Race(candidates, trial=4)
    theta, state, *_ = run(race, 30)
    np.testing.assert_allclose(theta, [2.0, -1.5], rtol=1e-9)
    assert int(state.index) == winner
    assert race.outcome(state).startswith(f"candidate {winner + 1} of 2 led after 4 steps: ")


def test_each_starts_where_the_first_did_and_the_winner_goes_on_where_it_stopped():
    race = Race((FAST, SLOW), trial=4)
    _, state, infos, before = run(race, 9)
    alone, _, alone_infos, _ = run(FAST, 4)
    assert [info.loss for info in infos[:4]] == [info.loss for info in alone_infos]
    np.testing.assert_array_equal(before[0], [0.5, 0.3])
    np.testing.assert_array_equal(state.reached[0], alone)
    assert infos[8].loss < infos[7].loss  # the ninth step is the winner's fifth
    assert race.outcome(run(race, 8)[1]) is None


@pytest.mark.parametrize(
    ("candidates", "steps", "first"),
    [((FAST, SLOW), 3, False), ((FAST, SLOW), 4, False), ((FAST, SLOW), 5, True), ((SLOW, FAST), 8, False)],
)
def test_where_a_run_ends_amid_the_race_the_best_that_was_reached_is_given(candidates, steps, first):
    race = Race(candidates, trial=4)
    theta, state, *_ = run(race, steps)
    expected = run(candidates[0], 4)[0] if first else theta
    np.testing.assert_array_equal(race.answer(theta, state), expected)


def test_a_candidate_that_stops_waits_for_the_others():
    race = Race((GaussNewton(refresh=2, tolerance=1e6), FAST), trial=20)
    theta, state, infos, _ = run(race, 26)
    assert infos[0].stop is None
    assert int(state.index) == 1
    np.testing.assert_allclose(theta, [2.0, -1.5], rtol=1e-9)


def test_it_is_written_and_read_back():
    race = Race((FAST, LevenbergMarquardt(refresh=2)), trial=6)
    assert optimizer_from_config(optimizer_to_config(race)) == race


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"candidates": (FAST,)}, "must be at least two optimizers"),
        ({"candidates": (FAST, "Adam")}, "'Adam' is no least-squares optimizer"),
        ({"candidates": (FAST, GaussNewton(refresh=3))}, r"every \[2, 3\] steps; give all one refresh"),
        ({"candidates": (FAST, SLOW), "trial": 5}, "trial=5 must be a multiple of refresh=2"),
        ({"candidates": (FAST, SLOW), "trial": 0}, "trial=0 must be a whole number of at least 1"),
    ],
)
def test_what_makes_no_race_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Race(**arguments)


def test_where_the_winner_gets_no_further_the_others_go_on_from_there():
    short = GaussNewton(refresh=2, tolerance=1e-3)
    race = Race((SLOW, short, FAST), trial=2)
    theta, state, infos, _ = run(race, 60)
    assert race.outcome(state).endswith("where it got no further, the others went on")
    assert bool(state.ended[1])
    np.testing.assert_allclose(theta, [2.0, -1.5], rtol=1e-9)
    ends = [step for step, info in enumerate(infos) if info.stop]
    assert bool(state.ended.all()) == bool(ends)
