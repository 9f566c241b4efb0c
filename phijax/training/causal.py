"""Causal weights in a run: which constraints have them, and the batch with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jaxtyping import Array, PRNGKeyArray

from phijax.balancing.causal import Causal
from phijax.formulation import Problem
from phijax.sampling.points import Points
from phijax.symbolic import kind_of
from phijax.training.module import Model, Objective, squares


@dataclass(frozen=True)
class CausalWeights:
    """Weights of the points of `constraints` by their time, of that name, from `start` to `end`.

    The chunks of time have one loss each, the sum over these constraints and their terms.
    """

    causal: Causal
    time: str
    start: float
    end: float
    constraints: tuple[str, ...]

    @classmethod
    def bound(cls, causal: Causal, problem: Problem) -> CausalWeights:
        """For the equations of a problem that hold inside of a region, over its one time.

        ValueError where it has no time that goes on, or no such equation.
        """
        times = [symbol for symbol in problem.domain.coordinates if kind_of(symbol) == "time"]
        if len(times) != 1 or times[0] in problem.domain.periodic:
            why = "it is periodic" if times else "there is none; declare it by phi.time(...)"
            raise ValueError(f"causal weights follow the time of {problem.name!r}, but {why}.")
        inside = tuple(
            name
            for name, constraint in problem.trained.items()
            if constraint.kind == "equation"
            and constraint.region.dimension == len(constraint.region.coordinates)
            and times[0] in constraint.region.coordinates
        )
        if not inside:
            raise ValueError(
                f"causal weights: no equation of {problem.name!r} holds at all {times[0]}; leave causal out."
            )
        start, end = map(float, problem.domain.bounds[times[0]])
        return cls(causal, times[0].name, start, end, inside)

    def __call__(
        self, objective: Objective, model: Model, batch: Mapping[str, Any], key: PRNGKeyArray | None
    ) -> dict[str, Any]:
        """The batch with the weights that the residuals of all of it give. key: of a stochastic model, as of the loss."""
        losses: Any = 0.0
        for name in self.constraints:
            residuals = objective.block_residuals(name, model, batch[name], key)
            square = sum(squares(abs(value), batch[name]) for value in residuals.values())
            losses = losses + self.causal.losses(self._at(batch[name]), square)  # type: ignore[arg-type]
        weights = self.causal.weights(losses)
        return {**batch, **{name: self._weighed(batch[name], weights) for name in self.constraints}}

    def _weighed(self, points: Points, weights: Array) -> Points:
        own = weights[self.causal.chunk(self._at(points))]
        return dataclasses.replace(points, weights=own if points.weights is None else own * points.weights)

    def _at(self, points: Points) -> Array:
        return (points.coordinates[self.time] - self.start) / (self.end - self.start)
