"""solve: one call from a problem to a solution."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phijax.choice import Choice, choose, samplers_of
from phijax.evaluation.solution import Solution
from phijax.formulation import Problem
from phijax.training import Trainer
from phijax.training.compiling import Compiled, compile


def solve(
    problem: Problem,
    *,
    seed: Any,
    max_seconds: float | None = None,
    precision: str | None = None,
    network: Any = None,
    points: int | Mapping[str, int] | None = None,
    optimizer: Any = None,
    balancer: Any = None,
    max_steps: int | None = None,
    run_dir: str | Path | None = None,
    progress: Any = None,
) -> Solution:
    """Solves a problem; what is not given is chosen by rule, and `solution.choice.reasons` says why.

    seed: an int or one JAX key. max_seconds: bounds compiling and training; without it the run ends by a rule in
    steps. points: per constraint, or one number for all. run_dir: folder for the run; None writes nothing.
    Raises DeclarationError, LoweringError or ValueError before training, naming what is wrong and its cure.
    """
    begun = time.monotonic()
    choice = choose(
        problem,
        precision=precision,
        network=network,
        points=points,
        optimizer=optimizer,
        balancer=balancer,
        max_steps=max_steps,
    )
    compiled = compile_choice(problem, choice)
    trainer = Trainer(
        choice.max_steps, checkpoint=run_dir, max_seconds=max_seconds, log_every=LOG_EVERY, progress=progress
    )
    result = trainer.fit(
        compiled.module,
        datamodule=compiled.datamodule,
        optimizer=choice.optimizer,
        balancer=choice.balancer,
        seed=seed,
    )
    seconds = {"train": result.seconds, "compile": time.monotonic() - begun - result.seconds}
    solution = Solution.from_result(compiled, result, seed=seed, seconds=seconds)
    solution.choice = choice
    return solution


LOG_EVERY = 10


def compile_choice(problem: Problem, choice: Choice) -> Compiled:
    """The problem, lowered as chosen."""
    return compile(
        problem,
        network=choice.network,
        points=choice.points,
        samplers=samplers_of(problem, choice),
        precision=choice.precision,
    )
