"""A solution out of a run directory, in any process, with no training set and no training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax

from phijax._precision import precision_scope
from phijax.evaluation.run_directory import CONFIG, RunDirectory, RunDirectoryError, reading
from phijax.evaluation.solution import Solution
from phijax.networks import network_from_config
from phijax.training import CheckpointStore
from phijax.training.checkpoint import FOLDER, Saved
from phijax.training.compiling import Compiled, compile
from phijax.training.identity import check_identity
from phijax.training.slabs import Slabs


def load_solution(path: str | Path, *, network: Any = None) -> Solution:
    """The solution in a run directory, at its last whole checkpoint, bit for bit.

    network: the network that was trained, where it was the user's own function and could not be stored.
    Raises RunDirectoryError for a folder that is none, CheckpointError where no whole checkpoint is there or the
    weights do not fit.
    """
    run = RunDirectory.open(path)
    if not (run.path / FOLDER).is_dir():
        raise RunDirectoryError(f"{run.path} has no checkpoints yet; `phijax resume` goes on with it.")
    store = CheckpointStore(run.path)
    try:
        saved = store.latest()
    finally:
        store.close()
    precision = saved.notes["precision"]
    settings = run.config
    with reading(run.path / CONFIG):
        chosen, slabs = network or stored_network(settings), stored_slabs(settings)
    compiled = compile(
        run.problem,
        network=chosen,
        precision=precision,
        scales=settings.get("scales"),
        slabs=slabs,
    )
    summary = run.summary or {}
    finished = summary.get("steps") == saved.step
    return Solution(
        compiled,
        _restored(compiled, saved, precision),
        precision=precision,
        seed=settings.get("seed"),
        status=summary["status"] if finished else "unfinished",
        stop_reason=summary["stop_reason"] if finished else "the run has not come to an end",
        steps=saved.step,
        seconds=_known_seconds(summary.get("seconds") if finished else None, saved),
        history=run.history,
        folder=run.path,
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
