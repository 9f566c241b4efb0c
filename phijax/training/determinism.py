"""The XLA flags that make GPU kernels repeatable: shown, never set, since they must be there before JAX starts."""

from __future__ import annotations

import os
from typing import NamedTuple

import jax

NO_NONDETERMINISTIC_OPS = "--xla_gpu_exclude_nondeterministic_ops"
NO_AUTOTUNING = "--xla_gpu_autotune_level=0"
COMMAND = f'XLA_FLAGS="{NO_NONDETERMINISTIC_OPS} {NO_AUTOTUNING}" python train.py'


class Determinism(NamedTuple):
    """Whether each flag is set in this process, on what platform, and a sentence on both."""

    platform: str
    no_nondeterministic_ops: bool
    no_autotuning: bool
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def determinism_report() -> Determinism:
    """What XLA_FLAGS says on repeatable GPU kernels; `print` shows the sentence."""
    flags = os.environ.get("XLA_FLAGS", "").split()
    no_ops = any(flag in (NO_NONDETERMINISTIC_OPS, f"{NO_NONDETERMINISTIC_OPS}=true") for flag in flags)
    no_tuning = NO_AUTOTUNING in flags
    platform = jax.default_backend()
    if platform != "gpu":
        sentence = f"Runs on {platform}: equal seeds give equal bits here without any flag."
    elif no_ops and no_tuning:
        sentence = "Both XLA flags for repeatable GPU kernels are set."
    else:
        missing = [
            flag for flag, is_set in ((NO_NONDETERMINISTIC_OPS, no_ops), (NO_AUTOTUNING, no_tuning)) if not is_set
        ]
        sentence = f"GPU kernels may differ from run to run: {' and '.join(missing)} not set. Start with: {COMMAND}"
    return Determinism(platform, no_ops, no_tuning, sentence)
