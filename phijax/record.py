"""Record: the settings of a run as the tables of its config.toml, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from phijax.balancing import Causal, LossBalancer, balancer_from_config
from phijax.choice import Choice
from phijax.choice.choice import NETWORK
from phijax.evaluation.run_directory import RunDirectoryError
from phijax.evaluation.stored import stored_network, stored_slabs
from phijax.networks import network_to_config
from phijax.optimizers import LeastSquaresOptimizer, optimizer_from_config, optimizer_to_config
from phijax.training import Stage, root_key
from phijax.training.keys import root_keys
from phijax.training.stages import Plan


def config_of(
    choice: Choice,
    *,
    problem: str,
    seed: Any = None,
    seeds: Any = None,
    max_seconds: float | None,
    optimizer: Any,
    devices: int | None = None,
) -> dict:
    """Tables for config.toml. What is a Python object of the user's own has no table.

    seed, seeds: one of them. optimizer: as given to `solve`: its table, None where the rule chose it, or an object or stages
    of some, of which only those of this package say what they are.
    """
    return {
        "problem": problem,
        "seed": _seed_entry(seed) if seeds is None else None,
        "seeds": None if seeds is None else _seed_entries(seeds),
        "precision": choice.precision,
        "max_seconds": max_seconds,
        "devices": devices,
        "scales": None if choice.scales is None else dict(choice.scales),
        **_settings(choice),
        "optimizer": _optimizer_entry(choice.optimizer, optimizer),
    }


def measured_settings(before: Choice, after: Choice) -> dict:
    """The tables of what measuring may have changed."""
    optimizer = {} if after.optimizer is before.optimizer else {"optimizer": _optimizer_entry(after.optimizer, None)}
    return _settings(after) | optimizer


def _settings(choice: Choice) -> dict:
    return {
        "method": choice.method,
        "max_steps": choice.max_steps,
        "adaptive": list(choice.adaptive),
        "slabs": None if choice.slabs is None else asdict(choice.slabs),
        "causal": None if choice.causal is None else asdict(choice.causal),
        "rows": dict(choice.rows) if isinstance(choice.rows, Mapping) else choice.rows,
        "reasons": list(choice.reasons),
        "network": network_to_config(choice.network),
        "points": dict(choice.points),
        "balancer": choice.balancer.to_config() if isinstance(choice.balancer, LossBalancer) else None,
    }


def choice_of(config: Mapping[str, Any]) -> Choice:
    """The choice that was recorded. RunDirectoryError for what was an object of the user's own."""
    for part in ("optimizer", "balancer"):
        if part not in config:
            raise RunDirectoryError(
                f"the run's settings hold no {part}: it was an object of the user's own. Go on from Python, by "
                f"Trainer.fit(..., ckpt_path=RUN_DIR) with the same {part}."
            )
    return Choice(
        precision=config["precision"],
        network=stored_network(config),
        points=config["points"],
        optimizer=optimizer_from_config(config["optimizer"]),
        balancer=balancer_from_config(config["balancer"]),
        max_steps=config["max_steps"],
        scales=config.get("scales"),
        adaptive=tuple(config.get("adaptive", ())),
        slabs=stored_slabs(config),
        rows=config.get("rows"),
        causal=Causal(**config["causal"]) if "causal" in config else None,
        reasons=tuple(config.get("reasons", ())),
        method=config.get("method", NETWORK),
    )


def seed_of(config: Mapping[str, Any]) -> Any:
    """The seed that was recorded, an int or a key."""
    return _seed_from(config["seed"])


def start_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """{"seed": one} or {"seeds": several}, as they were recorded."""
    if "seeds" in config:
        return {"seeds": [_seed_from(entry) for entry in config["seeds"]]}
    return {"seed": seed_of(config)}


def _seed_from(entry: Any) -> Any:
    if isinstance(entry, int):
        return entry
    return jax.random.wrap_key_data(jnp.asarray(entry["words"], jnp.uint32), impl=entry["implementation"])


def _seed_entries(seeds: Any) -> list[Any]:
    root_keys(seeds)  # refuses what are no seeds, before there is a folder
    return [_seed_entry(seed) for seed in seeds]


def _seed_entry(seed: Any) -> Any:
    key = root_key(seed)  # refuses what is no seed, before there is a folder
    if isinstance(seed, int | np.integer):
        return int(seed)
    words = np.asarray(jax.random.key_data(key)).tolist()
    return {"words": words, "implementation": str(jax.random.key_impl(key))}


def _optimizer_entry(chosen: Any, given: Any) -> dict | None:
    if isinstance(given, Mapping):
        return dict(given)
    if given is None and not isinstance(chosen, LeastSquaresOptimizer):
        return {"kind": "Adam"}
    plan = Plan.of(chosen)
    tables = [_stage_entry(stage) for stage in plan.stages]
    if None in tables:
        return None
    return {"kind": "Stages", "stages": tables} if plan.staged else tables[0]


def _stage_entry(stage: Stage) -> dict | None:
    table = optimizer_to_config(stage.optimizer)
    lengths = {"steps": stage.steps, "hold": stage.hold}
    return table and table | {name: number for name, number in lengths.items() if number is not None}
