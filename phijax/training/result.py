"""FitResult: what a fit gives back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import equinox as eqx

from phijax._devices import ONE_DEVICE, Devices
from phijax.training.callbacks import Averaged, Best
from phijax.training.metrics import History
from phijax.training.state import TrainState
from phijax.training.timer import Timing

Status = Literal["finished", "stopped", "diverged", "interrupted"]


@dataclass(frozen=True)
class FitResult:
    """The end of a run.

    state: complete, as `fit_state` takes it. model: the trained model.
    status: finished (all steps done), stopped (a rule ended it), diverged (a number was not finite), interrupted.
    stop_reason: a sentence. seconds: compiling and training, those of the runs it resumed included.
    history: records and events; those of the steps before a resumed one too. checkpoint: its run folder, if any.
    devices: those that it was trained on.
    The arrays keep their precision; use them inside `precision_scope(result.precision)`, or `Trainer.predict`.
    """

    state: TrainState
    model: Any
    history: History
    status: Status
    stop_reason: str
    seconds: float
    precision: str
    checkpoint: Path | None = None
    devices: Devices = ONE_DEVICE

    @property
    def step(self) -> int:
        """Completed steps."""
        return int(self.state.step)

    @property
    def metrics(self) -> dict[str, Any]:
        """The last record: losses, weights, total, unknowns; empty where no step was recorded."""
        return self.history.records[-1] if self.history.records else {}

    @property
    def best_model(self) -> Any:
        """The model that the KeepBest callback kept."""
        best = self._callback_state(Best, "KeepBest")
        if int(best.step) < 0:
            raise ValueError("KeepBest has kept no model: its metric was never finite, or it was never called.")
        return self._with_arrays(best.model_state)

    @property
    def averaged_model(self) -> Any:
        """The mean model of the Average callback."""
        return self._with_arrays(self._callback_state(Averaged, "Average").model_state)

    @property
    def seconds_a_step(self) -> float:
        """Seconds of a step, as the Timer callback measured them; NaN where it was called once alone."""
        fastest = float(self._callback_state(Timing, "Timer").fastest)
        return fastest if math.isfinite(fastest) else math.nan

    def _callback_state(self, kind: type, name: str) -> Any:
        for state in self.state.callback_state.values():
            if isinstance(state, kind):
                return state
        raise ValueError(f"the run had no {name} callback; add phijax's {name}(...) to Trainer(callbacks=...).")

    def _with_arrays(self, arrays: Any) -> Any:
        return eqx.combine(arrays, eqx.filter(self.model, eqx.is_array, inverse=True))


@dataclass(frozen=True)
class EnsembleResult:
    """The end of an ensemble: for each seed, in the order given, what `fit` with that seed gives.

    seeds: names of the members, the seeds themselves where they are ints. seconds: of the whole, from its start.
    """

    seeds: tuple[int | str, ...]
    members: tuple[FitResult, ...]
    seconds: float
    precision: str
    checkpoint: Path | None = None

    @property
    def status(self) -> Status:
        """interrupted where it was; diverged where all have; else that of those that have not."""
        found = {member.status for member in self.members}
        left = found - {"diverged"}
        if "interrupted" in found or not left:
            return "interrupted" if left else "diverged"
        return "finished" if left == {"finished"} else "stopped"

    @property
    def stop_reason(self) -> str:
        """Why each member ended, those that ended alike together."""
        reasons: dict[str, list[str]] = {}
        for seed, member in zip(self.seeds, self.members, strict=True):
            why = member.stop_reason if member.status == self.status else f"{member.status}: {member.stop_reason}"
            reasons.setdefault(why, []).append(str(seed))
        if len(reasons) == 1:
            return next(iter(reasons))
        return "; ".join(f"seed{'s' * (len(own) > 1)} {', '.join(own)}: {why}" for why, own in reasons.items())

    @property
    def step(self) -> int:
        """Completed steps of all members together."""
        return sum(member.step for member in self.members)
