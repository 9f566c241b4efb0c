"""Least-squares optimizers: what they need of a system and what a step tells.

They are those that go by more than the gradient of the step: from residuals and their Jacobian, or from the gradients
of the steps before.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from jaxtyping import Array, Float

if TYPE_CHECKING:
    from phijax.optimizers.system import LeastSquaresSystem


class StepInfo(NamedTuple):
    """What a step tells.

    loss: after it. accepted: whether the parameters moved. stop: a sentence where the run should end, else None.
    damping, step_size: of the step taken. seconds: wall time by phase, where it was taken.
    """

    loss: float
    accepted: bool
    stop: str | None = None
    damping: float = 0.0
    step_size: float = 0.0
    seconds: Mapping[str, float] | None = None


class LeastSquaresOptimizer(abc.ABC):
    """A host-side optimizer of a sum of squares: `init` and a step that is a function of its arguments alone.

    refresh: new points every so many steps, 0 never. steps: of a whole run where its user names no number.
    """

    refresh: int
    steps: ClassVar[int] = 400

    @abc.abstractmethod
    def init(self, theta: Float[Array, " P"]) -> Any:
        """The state before the first step, a tree of arrays."""

    @abc.abstractmethod
    def step(
        self,
        system: LeastSquaresSystem,
        theta: Float[Array, " P"],
        state: Any,
        batch: Mapping[str, Any],
        weights: Mapping[str, Any],
    ) -> tuple[Float[Array, " P"], Any, StepInfo]:
        """(parameters, state, what the step tells)."""

    def answer(self, theta: Float[Array, " P"], state: Any) -> Float[Array, " P"]:
        """The parameters to give where a run ends here: those of the last step, unless the state keeps better ones."""
        return theta
