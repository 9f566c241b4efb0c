"""Optimizers as plain dictionaries, for a run's configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from phijax._numbers import is_whole
from phijax._options import did_you_mean, from_config, to_config, whole
from phijax.optimizers.gauss_newton import GaussNewton
from phijax.optimizers.levenberg_marquardt import LevenbergMarquardt
from phijax.optimizers.linear import LinearLeastSquares
from phijax.optimizers.quasi_newton import SSBFGS, SSBroyden
from phijax.optimizers.race import Race
from phijax.optimizers.soap import soap
from phijax.optimizers.spring import SPRING

FIRST_ORDER_STEPS = 20_000
STAGES, RACE = "Stages", "Race"


def warmed(peak: float, warmup: int | None, steps: int, end: float) -> Any:
    """A rate that rises to `peak` in `warmup` steps and falls along a cosine to `end` at `steps`.

    warmup: None for a tenth of the steps, 500 at most.
    """
    import optax

    if not is_whole(steps):
        raise ValueError(f"a schedule: steps={steps!r} must be a whole number of at least 1.")
    warmup = min(500, steps // 10) if warmup is None else warmup
    if not (is_whole(warmup, least=0) and warmup < steps):
        raise ValueError(f"a schedule: warmup={warmup!r} must be a whole number below its steps={steps}, at least 0.")
    return optax.warmup_cosine_decay_schedule(0.0, peak, warmup, steps, end)


def warmed_adam(
    peak: float = 1e-3, warmup: int | None = None, steps: int = FIRST_ORDER_STEPS, end: float = 1e-6
) -> Any:
    """Adam of optax with the rate of `warmed`."""
    import optax

    return optax.adam(warmed(peak, warmup, steps, end))


def warmed_soap(
    peak: float = 3e-3,
    warmup: int | None = None,
    steps: int = FIRST_ORDER_STEPS,
    end: float = 1e-6,
    precondition_every: int = 10,
    max_dimension: int = 1024,
) -> Any:
    """SOAP with the rate of `warmed`."""
    rate = warmed(peak, warmup, steps, end)
    return soap(rate, precondition_every=precondition_every, max_dimension=max_dimension)


def warmed_muon(
    peak: float = 1e-2,
    warmup: int | None = None,
    steps: int = FIRST_ORDER_STEPS,
    end: float = 1e-6,
    adam_peak: float = 1e-3,
) -> Any:
    """Muon of optax for matrices and Adam, of `adam_peak`, for the rest, both with the rate of `warmed`."""
    import optax.contrib

    return optax.contrib.muon(
        warmed(peak, warmup, steps, end), adam_learning_rate=warmed(adam_peak, warmup, steps, end)
    )


def lbfgs(memory: int = 50) -> Any:
    """L-BFGS of optax with its own line search, on points that are held."""
    import optax

    return optax.lbfgs(memory_size=whole("LBFGS", "memory", memory, least=1))


_HOST = (GaussNewton, LinearLeastSquares, LevenbergMarquardt, SPRING, SSBFGS, SSBroyden)
_SCHEDULED: dict[str, Any] = {"Adam": warmed_adam, "SOAP": warmed_soap, "Muon": warmed_muon}
_KINDS: dict[str, Any] = {kind.__name__: kind for kind in _HOST} | _SCHEDULED | {"LBFGS": lbfgs}


def optimizer_from_config(config: Mapping[str, Any]) -> Any:
    """The optimizer of a table such as {"kind": "Adam", "peak": 1e-3}; an unknown kind or option is refused by name.

    {"kind": "Stages", "stages": [{"kind": "Adam", "steps": 2000}, {"kind": "LevenbergMarquardt"}]} gives a list of
    (optimizer, steps, hold), as `Trainer.fit` takes it. The `steps` of a stage are also those of its schedule.
    {"kind": "Race", "candidates": [...]} holds the tables of its candidates.
    """
    if config.get("kind") == RACE:
        return _race(config)
    if config.get("kind") != STAGES:
        known = {**_KINDS, STAGES: None, RACE: None}
        if config.get("kind", "") not in known:
            raise ValueError(
                f"optimizer: kind={config.get('kind', '')!r} is not known. {did_you_mean(config.get('kind', ''), known)}"
            )
        return from_config(config, _KINDS, "optimizer")
    stages = config.get("stages")
    if not (isinstance(stages, Sequence) and stages and all(isinstance(stage, Mapping) for stage in stages)):
        raise ValueError(
            f"Stages: stages={stages!r} must be a list of tables such as [{{'kind': 'Adam', 'steps': 2000}}]."
        )
    for name in config:
        if name not in ("kind", "stages"):
            raise ValueError(f"Stages has no option {name!r}. {did_you_mean(name, ('stages',))}")
    return [_stage(stage) for stage in stages]


def _race(config: Mapping[str, Any]) -> Race:
    candidates = config.get("candidates")
    if not (isinstance(candidates, Sequence) and all(isinstance(candidate, Mapping) for candidate in candidates)):
        raise ValueError(
            f"Race: candidates={candidates!r} must be a list of tables such as [{{'kind': 'GaussNewton'}}]."
        )
    own = tuple(optimizer_from_config(candidate) for candidate in candidates)
    return from_config({**config, "candidates": own}, {RACE: Race}, "optimizer")


def _stage(config: Mapping[str, Any]) -> tuple[Any, int | None, int | None]:
    if config.get("kind") == STAGES:
        raise ValueError("Stages: a stage can't have stages of its own; put them all in one list.")
    own = {name: value for name, value in config.items() if name not in ("steps", "hold")}
    steps, hold = config.get("steps"), config.get("hold")
    if config.get("kind") in _SCHEDULED and steps is not None:
        own["steps"] = steps
    return optimizer_from_config(own), steps, hold


def optimizer_to_config(optimizer: Any) -> dict[str, Any] | None:
    """The table of an optimizer of this package, None for one that does not say what it is, such as optax's."""
    if isinstance(optimizer, Race):
        tables = [optimizer_to_config(candidate) for candidate in optimizer.candidates]
        return None if None in tables else {"kind": RACE, "candidates": tables, "trial": optimizer.trial}
    return to_config(optimizer) if isinstance(optimizer, _HOST) else None


def steps_of(config: Any) -> int | None:
    """The number of steps that a table of a schedule names, None where it names none."""
    if isinstance(config, Mapping) and config.get("kind") in _SCHEDULED:
        return config.get("steps")
    return None
