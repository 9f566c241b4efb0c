"""solve: one call from a problem to a solution."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, overload

from phijax._devices import Devices, check_count, devices_of
from phijax.balancing import Causal
from phijax.choice import Choice, choose, samplers_of, settled
from phijax.choice.choice import RANDOM_FEATURES
from phijax.evaluation import Dated, Ensemble, RunDirectory, Solution
from phijax.evaluation.report import open_field
from phijax.evaluation.run_directory import CONFIG, reading
from phijax.formulation import DeclarationWarning, Problem
from phijax.optimizers import Race
from phijax.record import choice_of, config_of, measured_settings, start_of
from phijax.training import Callback, CheckpointStore, EnsembleResult, Trainer
from phijax.training.compiling import Compiled, compile
from phijax.training.slabs import Slabs
from phijax.training.trainer import check_one_device, check_seconds


@overload
def solve(
    problem: Problem,
    *,
    seed: Any,
    max_seconds: float | None = ...,
    precision: str | None = ...,
    network: Any = ...,
    points: int | Mapping[str, int] | None = ...,
    optimizer: Any = ...,
    balancer: Any = ...,
    max_steps: int | None = ...,
    slabs: int | Slabs | None = ...,
    causal: bool | Causal | None = ...,
    rows: Any = ...,
    method: str | None = ...,
    callbacks: Sequence[Callback] = ...,
    run_dir: str | Path | Dated | None = ...,
    progress: Any = ...,
    devices: int | None = ...,
) -> Solution: ...


@overload
def solve(
    problem: Problem,
    *,
    seeds: Iterable[Any],
    max_seconds: float | None = ...,
    precision: str | None = ...,
    network: Any = ...,
    points: int | Mapping[str, int] | None = ...,
    optimizer: Any = ...,
    balancer: Any = ...,
    max_steps: int | None = ...,
    slabs: int | Slabs | None = ...,
    causal: bool | Causal | None = ...,
    rows: Any = ...,
    method: str | None = ...,
    callbacks: Sequence[Callback] = ...,
    run_dir: str | Path | Dated | None = ...,
    progress: Any = ...,
    devices: int | None = ...,
) -> Ensemble: ...


def solve(
    problem: Problem,
    *,
    seed: Any = None,
    seeds: Iterable[Any] | None = None,
    max_seconds: float | None = None,
    precision: str | None = None,
    network: Any = None,
    points: int | Mapping[str, int] | None = None,
    optimizer: Any = None,
    balancer: Any = None,
    max_steps: int | None = None,
    slabs: int | Slabs | None = None,
    causal: bool | Causal | None = None,
    rows: Any = None,
    method: str | None = None,
    callbacks: Sequence[Callback] = (),
    run_dir: str | Path | Dated | None = None,
    progress: Any = None,
    devices: int | None = None,
) -> Solution | Ensemble:
    """Solves a problem; what is not given is chosen by rule, and `solution.choice.reasons` says why.

    seed: an int or one JAX key. seeds: several in its place, such as range(8): an Ensemble of a solution from each, trained
    on programs that are compiled once. max_seconds: bounds compiling and training; without it the run ends by a rule in
    steps. points: per constraint, or one number for all. optimizer: an object, or a table such as {"kind": "Adam"},
    which a run folder can hold. slabs: parts of time that are solved one after the other, 1 for none. causal: weights of
    points by their time, as of `compile`, where no slabs are asked for. rows: points whose gradient is taken together,
    as of `compile`; "tune" measures. method: "network" trains one, "random_features" takes a linear problem in one
    least-squares solve; None tries the latter where a problem is linear. callbacks: as of `Trainer`; a run folder does not
    hold them. run_dir: folder for the run, its report and pictures, or Dated() for a new one named after the time; None
    writes nothing. devices: among how many points are shared out, as of `Trainer`.
    Raises DeclarationError, LoweringError or ValueError before training, naming what is wrong and its cure.
    """
    begun = time.monotonic()
    check_seconds(max_seconds)
    if (seed is None) == (seeds is None):
        raise TypeError("solve takes either seed=, for one run, or seeds=, such as range(8), for several.")
    start: dict[str, Any] = {"seed": seed} if seeds is None else {"seeds": tuple(seeds)}
    check_count("solve", devices)
    if seeds is not None:
        check_one_device(devices)
    if run_dir is not None and not isinstance(run_dir, str | os.PathLike | Dated):
        raise TypeError(f"run_dir={run_dir!r} is no folder; give a path, Dated() for a new one, or None.")
    choice = choose(
        problem,
        precision=precision,
        network=network,
        points=points,
        optimizer=optimizer,
        balancer=balancer,
        max_steps=max_steps,
        slabs=slabs,
        causal=causal,
        rows=rows,
        method=method,
        max_seconds=max_seconds,
    )
    run, shared = None, devices_of(devices)
    if run_dir is not None and shared.leads:
        given = {**start, "max_seconds": max_seconds, "optimizer": optimizer, "devices": devices}
        run = RunDirectory.create(run_dir, problem, config_of(choice, problem=problem.name, **given))
    with nullcontext() if run is None else run.in_use():
        choice, compiled = _measured(problem, choice, run, shared)
        left = None if max_seconds is None else max(max_seconds - (time.monotonic() - begun), LEAST_SECONDS)
        trainer = _trainer(choice, run, left, progress, callbacks, devices)  # trials and lowering have had their part
        return _trained(trainer, compiled, choice, run, begun, **start)


def resume(
    run_dir: str | Path,
    *,
    max_seconds: float | None = None,
    callbacks: Sequence[Callback] = (),
    progress: Any = None,
    devices: int | None = None,
) -> Solution | Ensemble:
    """Goes on with the run in `run_dir`, in place, from its last whole checkpoint, or from its settings if it has none.

    max_seconds: spent from now on; None spends what the run's own bound has left. callbacks: those that it was begun with.
    devices: how many from now on; None takes as many as before.
    Raises RunDirectoryError or CheckpointError, naming what is missing, or the process that uses the folder.
    """
    run = RunDirectory.open(run_dir)
    check_count("resume", devices)
    count = run.config.get("devices") if devices is None else devices
    leads = devices_of(count).leads
    with run.in_use() if leads else nullcontext():
        if leads and devices is not None:
            run.update_config({"devices": devices})
        return _resumed(run, max_seconds, progress, callbacks, count)


def _resumed(
    run: RunDirectory, max_seconds: float | None, progress: Any, callbacks: Sequence[Callback], devices: int | None
) -> Solution | Ensemble:
    begun = time.monotonic()
    config = run.config
    with reading(run.path / CONFIG):
        choice, limit, start = choice_of(config), config.get("max_seconds"), start_of(config)
        check_seconds(limit)
    for package, (then, now) in run.changed_versions().items():
        warnings.warn(
            f"this run was begun with {package} {then} and goes on with {now}: it need not reach the same bits.",
            UserWarning,
            stacklevel=3,
        )
    store = CheckpointStore(run.path, keep=1)
    saved = store.latest() if store.steps() else None
    store.close()
    if max_seconds is not None:
        check_seconds(max_seconds)
        limit = max_seconds + (0.0 if saved is None else saved.notes["seconds"])
    shared = devices_of(devices)
    own = run if shared.leads else None
    choice, compiled = _measured(run.problem, choice, own, shared)
    trainer = _trainer(choice, own, limit, progress, callbacks, devices)
    return _trained(trainer, compiled, choice, own, begun, ckpt_path=None if saved is None else run.path, **start)


def _measured(problem: Problem, choice: Choice, run: RunDirectory | None, devices: Devices) -> tuple[Choice, Compiled]:
    """The choice with what only measuring can settle settled, as the run's settings then say, and the problem compiled."""
    measured = settled(problem, choice)
    compiled = compile_choice(problem, measured)
    if measured.rows == "tune":
        found = devices.agreed(list(compiled.rows.values()))[0]  # of several processes the first is right
        rows = dict(zip(compiled.rows, found, strict=True))
        measured = measured.because(f"rows taken together, by measuring: {rows}", rows=rows)
        compiled = compiled if rows == compiled.rows else compile_choice(problem, measured)
    if run is not None and measured is not choice:
        run.update_config(measured_settings(choice, measured))
    return measured, compiled


def _trainer(
    choice: Choice,
    run: RunDirectory | None,
    max_seconds: float | None,
    progress: Any,
    callbacks: Sequence[Callback],
    devices: int | None,
) -> Trainer:
    return Trainer(
        choice.max_steps,
        checkpoint=None if run is None else run.path,
        callbacks=callbacks,
        log_every=LOG_EVERY,
        max_seconds=max_seconds,
        progress=progress,
        devices=devices,
    )


def _trained(
    trainer: Trainer, compiled: Compiled, choice: Choice, run: RunDirectory | None, begun: float, **start: Any
) -> Solution | Ensemble:
    """The run from its start to its solution, of which the run's folder keeps a summary."""
    parts: Any = {"datamodule": compiled.datamodule, "optimizer": choice.optimizer, "balancer": choice.balancer}
    train = trainer.fit_ensemble if "seeds" in start else trainer.fit
    result = train(compiled.module, **parts, **start)
    seconds = {"train": result.seconds, "compile": max(time.monotonic() - begun - result.seconds, 0.0)}
    if isinstance(result, EnsembleResult):
        solution = Ensemble.from_result(compiled, result, seconds=seconds)
        states = {f"seed {s}: ": member.state for s, member in zip(result.seeds, result.members, strict=True)}
        first = solution.members[0]
    else:
        solution = first = Solution.from_result(compiled, result, seed=start["seed"], seconds=seconds)
        states = {"": result.state}
    solution.choice = choice
    for who, state in states.items():
        won = choice.optimizer.outcome(state.opt_state) if isinstance(choice.optimizer, Race) else None
        solution.choice = solution.choice if won is None else solution.choice.because(f"{who}{won}")
    if choice.method == RANDOM_FEATURES:  # the smallest of many solutions looks like the only one
        for name, change in first.open_fields.items():
            warnings.warn(open_field(name, change), DeclarationWarning, stacklevel=4)
    if run is not None:
        run.write_summary(solution)
        if solution.status != "interrupted":
            run.write_plots(solution)
    return solution


LOG_EVERY = 10
LEAST_SECONDS = 0.1


def compile_choice(problem: Problem, choice: Choice) -> Compiled:
    """The problem, lowered as chosen."""
    return compile(
        problem,
        network=choice.network,
        points=choice.points,
        samplers=samplers_of(problem, choice),
        precision=choice.precision,
        scales=choice.scales,
        slabs=choice.slabs,
        causal=choice.causal,
        rows=choice.rows,
    )
