"""`phijax doctor`: what this installation computes with."""

from __future__ import annotations

import json
from typing import Any

from phijax._precision import precision_scope
from phijax.cli.errors import Exit
from phijax.cli.process import cache_folder, configure_jax
from phijax.evaluation import environment


def doctor_verb(as_json: bool) -> int:
    """Prints versions, devices, precision, flags and cache; 1 where float64 does not work."""
    configure_jax()
    found = environment()
    cache = cache_folder()
    found |= {"float64": _float64_works(), "cache": None if cache is None else str(cache)}
    found.pop("command")
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
    else:
        print("\n".join(f"{name:<20}{value}" for name, value in _lines(found)))
    return Exit.OK if found["float64"] else Exit.FAULT


def _float64_works() -> bool:
    """Whether a third keeps all of its digits through a compiled function."""
    import jax
    import jax.numpy as jnp

    with precision_scope("float64"):
        return float(jax.jit(lambda x: x / 3)(jnp.ones(()))) == 1 / 3


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [(name, str(version) if version else "not installed") for name, version in found["versions"].items()]
    lines += [("devices", "; ".join(found["devices"])), ("platform", found["platform"]), ("cpus", str(found["cpus"]))]
    lines += [("float64", "works" if found["float64"] else "does not work here")]
    lines += [("x64 flag", "set" if found["x64_flag"] else "not set (float64 is entered where it is asked for)")]
    lines += [("XLA_FLAGS", found["xla_flags"] or "not set"), ("determinism", found["determinism"])]
    return [*lines, ("cache", found["cache"] or "off")]
