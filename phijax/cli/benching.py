"""The verb `bench`: what a step costs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from phijax.cli.placing import Place
from phijax.cli.process import configure_jax
from phijax.formulation.faults import nearest

SCALING_TASKS = ("T1", "T1c", "T1d", "T2", "T3", "T4a")


def speed_verb(tasks: Sequence[str], *, steps: int | None, cache: bool) -> int:
    """Prints `RESULT {...}` for each task; several run one after the other, each in a process of its own."""
    from phijax.bench.speed_tasks import SPEED_TASKS

    _check_tasks(tasks, SPEED_TASKS)
    if steps is not None and steps < 1:
        raise ValueError(f"--steps {steps}: give a whole number of at least 1.")
    if len(tasks) == 1:
        return _time(tasks[0], steps, cache)
    options = [*([] if steps is None else ["--steps", str(steps)]), *([] if cache else ["--no-cache"])]
    codes = [
        subprocess.run([sys.executable, "-m", "phijax", "bench", "speed", name, *options], check=False).returncode
        for name in tasks or SPEED_TASKS
    ]
    return max(codes)


def ensemble_verb(task: str, *, seeds: int, steps: int | None, cache: bool) -> int:
    """Prints `RESULT {...}` for several seeds of a task, together and apart."""
    from phijax.bench.speed_tasks import SPEED_TASKS

    if task not in SPEED_TASKS:
        raise ValueError(f"{task!r} is no speed task; {nearest(task, SPEED_TASKS)}.")
    for option, count, least in (("--seeds", seeds, 2), ("--steps", steps, 1)):
        if count is not None and count < least:
            raise ValueError(f"{option} {count}: give a whole number of at least {least}.")
    configure_jax(cache=cache)
    from phijax.bench.ensemble import time_ensemble

    found = {key: float(f"{v:.4g}") for key, v in asdict(time_ensemble(task, seeds, steps)).items()}
    print("RESULT " + json.dumps({"task": task, **found}), flush=True)
    return 0


def least_squares_verb(*, rows: int, cache: bool) -> int:
    """Prints `RESULT {...}` for a Gauss-Newton step."""
    if rows < 64:
        raise ValueError(f"--rows {rows}: give at least 64.")
    configure_jax(cache=cache)
    from phijax.bench.least_squares import time_least_squares

    found = {key: round(v, 3) if isinstance(v, float) else v for key, v in asdict(time_least_squares(rows)).items()}
    print("RESULT " + json.dumps(found), flush=True)
    return 0


def scaling_verb(tasks: Sequence[str], *, cache: bool) -> int:
    """Prints `RESULT {...}` for each task: what a step computes and exchanges, and the efficiency to be expected."""
    with Place(devices=2).taken():
        configure_jax(cache=cache)
        from phijax.bench.scaling import MACHINES, count_task
        from phijax.bench.speed_tasks import SPEED_TASKS

        _check_tasks(tasks, SPEED_TASKS)
        for name in tasks or SCALING_TASKS:
            counts = count_task(name)
            expected = {
                where: {
                    "same_batch": round(machine.efficiency(counts), 3),
                    "batch_a_device": round(machine.efficiency(counts, machine.devices), 3),
                }
                for where, machine in MACHINES.items()
            }
            print("RESULT " + json.dumps({"task": name, **asdict(counts), "efficiency": expected}), flush=True)
    return 0


def _check_tasks(tasks: Sequence[str], known: Iterable[str]) -> None:
    for name in tasks:
        if name not in known:
            raise ValueError(f"{name!r} is no speed task; {nearest(name, known)}.")


def _time(name: str, steps: int | None, cache: bool) -> int:
    configure_jax(cache=cache)
    from phijax.bench.speed import time_task

    times = {key: round(value, 3) for key, value in asdict(time_task(name, steps)).items()}
    print("RESULT " + json.dumps({"peer": "phijax-new", "task": name, **times}), flush=True)
    return 0
