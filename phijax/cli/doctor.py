"""`phijax doctor`: what this installation computes with."""

from __future__ import annotations

import json
from typing import Any

import jax
import jax.numpy as jnp

from phijax._devices import AXIS, devices_of, devices_that_answer
from phijax._precision import precision_scope
from phijax.cli.errors import Exit
from phijax.cli.placing import Place
from phijax.cli.process import cache_folder, configure_jax
from phijax.evaluation import environment


def doctor_verb(as_json: bool, place: Place) -> int:
    """Prints versions, devices, mesh, precision, flags and cache; 1 where float64 does not work."""
    with place.taken() as devices:
        configure_jax()
        found = environment()
        cache = cache_folder()
        found |= {"mesh": _mesh(devices), "float64": _float64_works(), "cache": None if cache is None else str(cache)}
        found.pop("command")
        if devices_of(devices).leads:
            lines = "\n".join(f"{name:<20}{value}" for name, value in _lines(found))
            print(json.dumps(found, ensure_ascii=False) if as_json else lines, flush=True)
        return Exit.OK if found["float64"] else Exit.FAULT


def _mesh(devices: int | None) -> dict[str, Any]:
    """How a run of that many devices is shared out, and whether the devices add up what each of them gives."""
    shared = devices_of(devices)
    processes, answered = jax.process_count(), devices_that_answer(shared)
    return {"axis": AXIS, "devices": shared.count, "processes": processes, "answered": answered}


def _float64_works() -> bool:
    """Whether a third keeps all of its digits through a compiled function."""
    with precision_scope("float64"):
        return float(jax.jit(lambda x: x / 3)(jnp.ones(()))) == 1 / 3


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [(name, str(version) if version else "not installed") for name, version in found["versions"].items()]
    lines += [("devices", "; ".join(found["devices"])), ("platform", found["platform"]), ("cpus", str(found["cpus"]))]
    mesh = found["mesh"]
    shape = f"processes {mesh['processes']}, devices {mesh['devices']} along {mesh['axis']!r}"
    lines += [("mesh", f"{shape}, of which {mesh['answered']} answered")]
    lines += [("float64", "works" if found["float64"] else "does not work here")]
    lines += [("x64 flag", "set" if found["x64_flag"] else "not set (float64 is entered where it is asked for)")]
    lines += [("XLA_FLAGS", found["xla_flags"] or "not set"), ("determinism", found["determinism"])]
    return [*lines, ("cache", found["cache"] or "off")]
