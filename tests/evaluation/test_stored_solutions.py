"""A run's folder is enough to predict, in a new process, bit for bit."""

import subprocess
import sys

import jax
import numpy as np
import optax
import pytest
from sympy import Eq, sin

import phijax as phi
from phijax._precision import precision_scope
from phijax.evaluation import RunDirectory, RunDirectoryError, load_solution
from phijax.networks import MLP
from phijax.training import CheckpointError, CheckpointStore, initialize_train_state

x, t = phi.coordinate("x"), phi.time("t")
u = phi.field("u", x, t)
c = phi.parameter("c", initial=0.7)
spacetime = phi.Interval(x, 0, 1, periodic=True) * phi.Interval(t, 0, 1)
NETWORK = MLP(width=5, depth=2)


def problem():
    return phi.Problem(
        spacetime,
        {"pde": Eq(u.diff(t), c * u.diff(x)), "start": phi.on(spacetime.at(t=0), Eq(u, sin(u)))},
        name="waves",
    )


def stored(folder, solution, network=NETWORK, step=12):
    """A run directory with a checkpoint of the solution's model, as a run leaves it."""
    config = {"seed": 5, "precision": solution.precision, "network": network and network.to_config()}
    run = RunDirectory.create(folder, problem(), config)
    with precision_scope(solution.precision):
        state = initialize_train_state(solution.model, optax.sgd(0.1), None, jax.random.key(0))
        store = CheckpointStore(run.path, keep=1)
        store.save(step, state, {"precision": solution.precision, "seconds": 1.5})
        store.close()
    return run


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_values_come_back_bit_for_bit(tmp_path, untrained_solution, precision):
    solution = untrained_solution(problem(), NETWORK, precision=precision, seed=1)
    stored(tmp_path / "run", solution)
    loaded = load_solution(tmp_path / "run")
    points = {"x": np.linspace(0, 1, 7)[:, None], "t": np.linspace(0, 1, 5)}
    np.testing.assert_array_equal(loaded.u(**points), solution.u(**points))
    assert loaded.u(**points).dtype == precision
    assert loaded.parameters == solution.parameters
    assert (loaded.seed, loaded.steps, loaded.status) == (5, 12, "unfinished")
    np.testing.assert_array_equal(loaded.residual("pde", **points), solution.residual("pde", **points))


def test_a_new_process_gives_the_same_bits(tmp_path, untrained_solution):
    solution = untrained_solution(problem(), NETWORK, seed=2)
    stored(tmp_path / "run", solution)
    program = (
        "import sys, numpy as np; from phijax.evaluation import load_solution;"
        "print(load_solution(sys.argv[1]).u(x=np.array([0.1, 0.9]), t=0.25).tobytes().hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "run")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == solution.u(x=np.array([0.1, 0.9]), t=0.25).tobytes().hex()


def test_the_end_of_the_run_is_told(tmp_path, untrained_solution):
    solution = untrained_solution(problem(), NETWORK, status="stopped", stop_reason="a rule", steps=12)
    stored(tmp_path / "run", solution).write_summary(solution)
    loaded = load_solution(tmp_path / "run")
    assert (loaded.status, loaded.stop_reason) == ("stopped", "a rule")
    other = stored(tmp_path / "later", solution, step=20)  # went on, and was killed
    other.write_summary(solution)
    assert load_solution(other.path).status == "unfinished"


def test_weights_of_another_network_are_refused(tmp_path, untrained_solution):
    stored(tmp_path / "run", untrained_solution(problem(), MLP(width=6, depth=2)))
    with pytest.raises(CheckpointError, match=r"has \.model_state\.networks\['u'\].*of shape \(\d, 6\)"):
        load_solution(tmp_path / "run")


def test_a_network_that_could_not_be_stored_must_be_given(tmp_path, untrained_solution):
    solution = untrained_solution(problem(), NETWORK)
    stored(tmp_path / "run", solution, network=None)
    with pytest.raises(RunDirectoryError, match="hold no network: it was a function of the user's own"):
        load_solution(tmp_path / "run")
    assert load_solution(tmp_path / "run", network=NETWORK).u(x=0.5, t=0.5) == solution.u(x=0.5, t=0.5)


def test_a_run_without_a_checkpoint_is_named(tmp_path):
    RunDirectory.create(tmp_path / "run", problem(), {"seed": 0})
    with pytest.raises(RunDirectoryError, match="has no checkpoints yet; `phijax resume` goes on with it"):
        load_solution(tmp_path / "run")


def test_a_run_that_ends_amid_a_race_gives_the_best_that_was_reached_also_from_its_folder(tmp_path):
    y, span = phi.field("y", t), phi.Interval(t, 0, 1)
    decay = phi.Problem(span, {"ode": Eq(y.diff(t), -(y**2)), "start": phi.on(span.at(t=0), Eq(y, 1))})
    slow = phi.GaussNewton(refresh=3, damping=1e3, lower=1.0001)
    race = phi.Race((phi.GaussNewton(refresh=3), slow), trial=3)
    settings = {"network": MLP(width=4, depth=1), "points": 16, "slabs": 1, "optimizer": race, "progress": False}
    trial = phi.solve(decay, seed=0, max_steps=3, **settings)
    ended = phi.solve(decay, seed=0, max_steps=4, run_dir=tmp_path / "run", **settings)
    times = np.linspace(0, 1, 9)
    assert ended.steps == 4
    np.testing.assert_array_equal(ended.y(t=times), trial.y(t=times))
    np.testing.assert_array_equal(load_solution(tmp_path / "run").y(t=times), trial.y(t=times))
