"""What a checkpoint says that it is of, and whether a run may go on from it: arrays alone fit more than one model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from phijax.networks import network_to_config
from phijax.training.checkpoint import CheckpointError, Saved
from phijax.training.module import Module


def settings_of(networks: Any, scales: Mapping[str, float] | None) -> dict[str, Any] | None:
    """What networks and the sizes of their outputs are, as tables; None where a part is of the user's own."""
    try:
        table = network_to_config(networks)
    except ValueError:
        return None
    return None if table is None else {"network": table, "scales": scales or {}}


def identity(module: Module) -> dict[str, Any]:
    """What checkpoints keep of a module beside its arrays; None for what is a function of the user's own."""
    return {"fingerprint": module.fingerprint, "settings": module.settings}


def check_identity(module: Module, saved: Saved) -> None:
    """CheckpointError where the checkpoint is of another problem, or of a network that differs in more than its weights."""
    then, now = saved.notes.get("fingerprint"), module.fingerprint
    if None not in (then, now) and then != now:
        raise CheckpointError(
            f"checkpoint {saved.folder} is of another problem (fingerprint {str(then)[:12]}; this one has "
            f"{str(now)[:12]}). Go on with the problem as it was, or give weights_only=True to begin this one from its weights."
        )
    then, now = saved.notes.get("settings"), module.settings
    if then is None or now is None:
        return
    before, after = dict(_flat(then)), dict(_flat(json.loads(json.dumps(now))))  # as JSON has it: lists for tuples
    changed = next((name for name in {**before, **after} if before.get(name) != after.get(name)), None)
    if changed is not None:
        raise CheckpointError(
            f"checkpoint {saved.folder} is of another network: {changed} was {before.get(changed)!r} and is "
            f"{after.get(changed)!r}. Put it back as it was; a new run can begin from these weights by weights_only=True."
        )


def _flat(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """(path with dots, value) of what is no table."""
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value
