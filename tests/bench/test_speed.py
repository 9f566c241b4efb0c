"""The benchmark of a step's cost: what it prints, and that its tasks are what they are called."""

import json
import subprocess
import sys

import pytest

from phijax.bench.ensemble import time_ensemble
from phijax.bench.speed_tasks import SPEED_TASKS, SpeedTask, burgers
from phijax.lowering import Layout, constraint_expressions
from phijax.networks import MLP


def test_a_task_prints_one_line_of_json_with_its_times():
    command = [sys.executable, "-m", "phijax", "bench", "speed", "T1c", "--steps", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (line,) = done.stdout.splitlines()
    found = json.loads(line.removeprefix("RESULT "))
    assert (found["peer"], found["task"]) == ("phijax-new", "T1c")
    assert all(found[name] > 0 for name in ("ms_cpu", "ms_wall", "first_step_cpu_s", "rss_mb"))


def test_several_seeds_are_timed_together_and_apart(monkeypatch):
    small = SpeedTask(burgers, 4, {"pde": 32, "initial": 8, "walls": 8}, 40, depth=1)
    monkeypatch.setitem(SPEED_TASKS, "T1c", small)
    times = time_ensemble("T1c", seeds=3, steps=5)
    assert (times.seeds, times.steps) == (3, 7)
    assert times.difference == 0.0  # on a CPU, bit for bit
    assert min(times.together_cpu_s, times.apart_cpu_s) > 0


def test_an_unknown_task_is_answered_with_those_there_are():
    done = subprocess.run([sys.executable, "-m", "phijax", "bench", "speed", "T9"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "'T9' is no speed task; known: T1, T1c, T1d, T2, T3, T4a, T4b." in done.stderr


@pytest.mark.parametrize(
    ("task", "constraint", "channels"), [("T1", "pde", 4), ("T2", "flow", 4), ("T3", "pde", 6), ("T4a", "pde", 12)]
)
def test_a_residual_needs_so_many_channels(task, constraint, channels):
    problem = SPEED_TASKS[task].problem()
    layout = Layout(problem, MLP(width=4, depth=1))
    (group,) = layout.groups
    assert constraint_expressions(layout, problem.constraints[constraint]).channels(group) == channels
