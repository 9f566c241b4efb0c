"""A race: several optimizers begin from the same parameters, and the run goes on with the one that gets furthest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from phijax._options import whole
from phijax.optimizers.base import LeastSquaresOptimizer, StepInfo
from phijax.optimizers.system import LeastSquaresSystem

SETTLED = -1


class RaceState(NamedTuple):
    """index: the candidate under way, or the winner. taken: its steps so far, -1 once the race is settled.

    start: parameters from which all begin. reached, losses: parameters that each candidate has reached, and its loss on
    points that were new then. last: loss after the last step. ended: who has come to an end of its own since. inner: the
    candidates' own states.
    """

    index: Int[Array, ""]
    taken: Int[Array, ""]
    start: Float[Array, " P"]
    reached: Float[Array, "C P"]
    losses: Float[Array, " C"]
    last: Float[Array, ""]
    ended: Bool[Array, " C"]
    inner: tuple[Any, ...]


@dataclass(frozen=True)
class Race(LeastSquaresOptimizer):
    """`trial` steps of each candidate in turn, from the same start; then the one with the lowest loss on new points goes on.

    Where that one gets no further, the others go on from there, the best of them first; the run ends where none does.
    Counted in steps, and part of the state: a run that is resumed in the middle of a race ends it the same way.
    trial: a multiple of the steps between new points, which all candidates have in common.
    """

    candidates: tuple[LeastSquaresOptimizer, ...]
    trial: int = 48

    steps: ClassVar[int] = 400

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", tuple(self.candidates))
        if len(self.candidates) < 2:
            raise ValueError(f"Race: candidates={self.candidates!r} must be at least two optimizers.")
        for candidate in self.candidates:
            if not isinstance(candidate, LeastSquaresOptimizer) or isinstance(candidate, Race):
                raise ValueError(
                    f"Race: the candidate {candidate!r} is no least-squares optimizer, such as GaussNewton()."
                )
        periods = {candidate.refresh for candidate in self.candidates}
        if len(periods) > 1:
            raise ValueError(
                f"Race: the candidates change their points every {sorted(periods)} steps; give all one refresh."
            )
        whole("Race", "trial", self.trial, least=1)
        if self.refresh and self.trial % self.refresh:
            raise ValueError(
                f"Race: trial={self.trial} must be a multiple of refresh={self.refresh}, to be judged on new points."
            )

    @property
    def refresh(self) -> int:  # type: ignore[override]
        """New points every so many steps."""
        return self.candidates[0].refresh

    def init(self, theta: Float[Array, " P"]) -> RaceState:
        count = len(self.candidates)
        return RaceState(
            index=jnp.int32(0),
            taken=jnp.int32(0),
            start=theta,
            reached=jnp.tile(theta, (count, 1)),
            losses=jnp.full(count, jnp.inf, theta.dtype),
            last=jnp.asarray(jnp.inf, theta.dtype),
            ended=jnp.zeros(count, bool),
            inner=tuple(candidate.init(theta) for candidate in self.candidates),
        )

    def outcome(self, state: RaceState) -> str | None:
        """Who won, in a sentence; None while the race goes on."""
        if int(state.taken) != SETTLED:
            return None
        losses = ", ".join(f"{float(loss):.1e}" for loss in state.losses)
        winner = int(np.nanargmin(np.asarray(state.losses)))
        more = "; where it got no further, the others went on" if bool(jnp.any(state.ended)) else ""
        return f"candidate {winner + 1} of {len(self.candidates)} led after {self.trial} steps: {losses} on new points{more}"

    def step(
        self,
        system: LeastSquaresSystem,
        theta: Float[Array, " P"],
        state: RaceState,
        batch: Mapping[str, Any],
        weights: Mapping[str, Any],
    ) -> tuple[Float[Array, " P"], RaceState, StepInfo]:
        if int(state.taken) >= self.trial:
            theta, state = self._arrived(system, theta, state, batch, weights)
        index, racing = int(state.index), int(state.taken) != SETTLED
        theta, own, info = self.candidates[index].step(system, theta, state.inner[index], batch, weights)
        inner = (*state.inner[:index], own, *state.inner[index + 1 :])
        taken = state.taken + 1 if racing else state.taken
        if racing and info.stop:  # it gets no further, and waits for the others
            taken, info = jnp.full_like(taken, self.trial), info._replace(stop=None)
        state = state._replace(taken=taken, inner=inner, last=jnp.asarray(info.loss, theta.dtype))
        if info.stop:
            state, info = self._handed_over(theta, state, info)
        return theta, state, info

    def answer(self, theta: Float[Array, " P"], state: RaceState) -> Float[Array, " P"]:
        """While a later candidate has not got as far as one before it, what that one has reached."""
        losses = np.nan_to_num(np.asarray(state.losses), nan=np.inf)
        best = int(np.argmin(losses))
        behind = int(state.taken) != SETTLED and losses[best] < float(state.last)
        return state.reached[best] if behind else theta

    def _handed_over(self, theta: Float[Array, " P"], state: RaceState, info: StepInfo) -> tuple[RaceState, StepInfo]:
        """With the best of those that have not ended under way, from `theta`, where there is one."""
        ended = state.ended.at[int(state.index)].set(True)
        state = state._replace(ended=ended)
        if bool(jnp.all(ended)):
            return state, info
        index = int(np.nanargmin(np.where(np.asarray(ended), np.inf, np.asarray(state.losses))))
        inner = (*state.inner[:index], self.candidates[index].init(theta), *state.inner[index + 1 :])
        return state._replace(index=jnp.full_like(state.index, index), inner=inner), info._replace(stop=None)

    def _arrived(
        self,
        system: LeastSquaresSystem,
        theta: Float[Array, " P"],
        state: RaceState,
        batch: Mapping[str, Any],
        weights: Mapping[str, Any],
    ) -> tuple[Float[Array, " P"], RaceState]:
        """The start for the next candidate; after the last one, what the winner has reached."""
        index = int(state.index)
        loss = jnp.sum(system.residual(theta, batch, weights) ** 2)
        state = state._replace(
            losses=state.losses.at[index].set(loss.astype(theta.dtype)), reached=state.reached.at[index].set(theta)
        )
        if index + 1 < len(self.candidates):
            return state.start, state._replace(index=state.index + 1, taken=jnp.zeros_like(state.taken))
        winner = int(np.nanargmin(np.asarray(state.losses)))
        settled = state._replace(index=jnp.full_like(state.index, winner), taken=jnp.full_like(state.taken, SETTLED))
        return state.reached[winner], settled
