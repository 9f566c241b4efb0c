"""A solution out of a run directory, in any process, with no training set and no training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax

from phijax._precision import precision_scope
from phijax.evaluation.ensemble import Ensemble
from phijax.evaluation.run_directory import CONFIG, RunDirectory, RunDirectoryError, reading
from phijax.evaluation.solution import Solution
from phijax.networks import network_from_config
from phijax.training import CheckpointStore, read_metrics
from phijax.training.checkpoint import FOLDER, Saved
from phijax.training.compiling import Compiled, compile
from phijax.training.identity import check_identity
from phijax.training.metrics import METRICS_FILE
from phijax.training.slabs import Slabs

UNFINISHED = "unfinished", "the run has not come to an end"  # status and stop reason


def load_solution(path: str | Path, *, seed: int | str | None = None, network: Any = None) -> Solution:
    """The solution in a run directory, at its last whole checkpoint, bit for bit.

    seed: which member, where the folder is that of an ensemble. network: the network that was trained, where it was the
    user's own function and could not be stored.
    Raises RunDirectoryError for a folder that is none, CheckpointError where no whole checkpoint is there or the
    weights do not fit.
    """
    run = RunDirectory.open(path)
    if not run.is_ensemble:
        if seed is not None:
            raise RunDirectoryError(f"{run.path} is the folder of a single run; leave seed= out.")
        return _single(run, network)
    ensemble = load_ensemble(path, network=network)
    known = ", ".join(map(str, ensemble.seeds))
    if seed not in ensemble.seeds:
        what = "has no seed of its own" if seed is None else f"has no seed {seed!r}"
        raise RunDirectoryError(
            f"{run.path} is of an ensemble and {what}: give seed= one of {known}, or take all by load_ensemble."
        )
    return ensemble.members[ensemble.seeds.index(seed)]


def load_ensemble(path: str | Path, *, network: Any = None) -> Ensemble:
    """The ensemble in a run directory, as `load_solution` gives a single run."""
    run = RunDirectory.open(path)
    if not run.is_ensemble:
        raise RunDirectoryError(f"{run.path} is the folder of a single run; take it by load_solution.")
    saved, compiled = _latest(run, network)
    seeds, summary = saved.notes["seeds"], run.summary or {}
    finished = summary.get("steps") == sum(saved.member(i).step for i in range(len(seeds)))
    told = summary["members"] if finished else [{}] * len(seeds)
    members: list[Solution] = []
    for position, (seed, own) in enumerate(zip(seeds, told, strict=True)):
        first = members[0] if members else None
        members.append(_stored(run, compiled, saved.member(position), own, seed, first))
    return Ensemble(
        seeds,
        members,
        status=summary["status"] if finished else UNFINISHED[0],
        stop_reason=summary["stop_reason"] if finished else UNFINISHED[1],
        seconds=_known_seconds(summary.get("seconds") if finished else None, saved),
        folder=run.path,
    )


def load_run(path: str | Path) -> Solution | Ensemble:
    """What a run directory holds, of one seed or of several."""
    return load_ensemble(path) if RunDirectory.open(path).is_ensemble else load_solution(path)


def _single(run: RunDirectory, network: Any) -> Solution:
    saved, compiled = _latest(run, network)
    summary = run.summary or {}
    return _stored(run, compiled, saved, summary if summary.get("steps") == saved.step else {}, run.config.get("seed"))


def _latest(run: RunDirectory, network: Any) -> tuple[Saved, Compiled]:
    """The last whole checkpoint of a run, and its problem compiled as it was."""
    if not (run.path / FOLDER).is_dir():
        raise RunDirectoryError(f"{run.path} has no checkpoints yet; `phijax resume` goes on with it.")
    store = CheckpointStore(run.path)
    try:
        saved = store.latest()
    finally:
        store.close()
    settings = run.config
    with reading(run.path / CONFIG):
        chosen, slabs = network or stored_network(settings), stored_slabs(settings)
    compiled = compile(
        run.problem,
        network=chosen,
        precision=saved.notes["precision"],
        scales=settings.get("scales"),
        slabs=slabs,
    )
    return saved, compiled


def _stored(
    run: RunDirectory,
    compiled: Compiled,
    saved: Saved,
    summary: Mapping[str, Any],
    seed: Any,
    beside: Solution | None = None,
) -> Solution:
    """A solution from its checkpoint. summary: of its run where that has come to an end, else empty."""
    precision, history = saved.notes["precision"], run.history
    if run.is_ensemble:
        history = read_metrics(run.path / METRICS_FILE, seed=seed)
    return Solution(
        compiled,
        _restored(compiled, saved, precision),
        precision=precision,
        seed=seed,
        status=summary.get("status", UNFINISHED[0]),
        stop_reason=summary.get("stop_reason", UNFINISHED[1]),
        steps=saved.step,
        seconds=_known_seconds(summary.get("seconds"), saved),
        history=history,
        folder=None if run.is_ensemble else run.path,  # which is that of all
        beside=beside,
    )


def stored_network(config: Mapping[str, Any]) -> Any:
    """The network specification in a run's settings, one for all fields or {field: specification}."""
    settings = config.get("network")
    if not settings:
        raise RunDirectoryError(
            "the run's settings hold no network: it was a function of the user's own. Give it again, as network=."
        )
    if isinstance(settings.get("kind"), str):
        return network_from_config(settings)
    return {field: network_from_config(own) for field, own in settings.items()}


def stored_slabs(config: Mapping[str, Any]) -> Slabs | None:
    """How time was cut, None where it was taken as a whole."""
    return Slabs(**config["slabs"]) if "slabs" in config else None


def _restored(compiled: Compiled, saved: Saved, precision: str) -> Any:
    check_identity(compiled.module, saved)
    with precision_scope(precision):
        fresh = compiled.module.factory(jax.random.key(0))
        arrays, static = eqx.partition(fresh, eqx.is_array)
        return eqx.combine(saved.model(arrays), static)


def _known_seconds(seconds: Mapping[str, float | None] | None, saved: Saved) -> dict[str, float]:
    if seconds is None:
        return {"train": float(saved.notes["seconds"])}
    return {name: value for name, value in seconds.items() if value is not None and name != "evaluate"}
