"""What a run was computed with: versions, devices, precision and flags."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import jax

from phijax.training import determinism_report

PACKAGES = ("phijax", "jax", "jaxlib", "equinox", "optax", "orbax-checkpoint", "sympy", "numpy", "scipy", "matplotlib")


def environment(precision: str | None = None) -> dict[str, Any]:
    """Versions by package, None where one is not installed; devices, precision and flags, all in JSON's types."""
    flags = determinism_report()
    return {
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "platform": platform.platform(),
        "backend": jax.default_backend(),
        "devices": [f"{device.id}: {device.device_kind}" for device in jax.devices()],
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "precision": precision,
        "x64_flag": bool(jax.config.jax_enable_x64),  # type: ignore[attr-defined]
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
        "repeatable_kernels": flags.platform != "gpu" or (flags.no_nondeterministic_ops and flags.no_autotuning),
        "determinism": flags.sentence,
        "command": sys.argv,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        if package != "phijax":
            return None
    import phijax  # a bare checkout on the path

    return phijax.__version__
