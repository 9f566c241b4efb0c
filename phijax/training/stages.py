"""Stages: optimizers that follow one another on the same model, and how long each keeps its points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Int

from phijax._numbers import is_whole
from phijax._precision import ambient_precision
from phijax.optimizers.base import LeastSquaresOptimizer
from phijax.training.dtypes import at_precision, precision_of
from phijax.training.lbfgs import is_lbfgs, watched

WHOLE_STAGE = 0


class Staged(NamedTuple):
    """Optimizer state of a run with several stages: the stage under way, its first step, its optimizer's state."""

    index: Int[Array, ""]
    start: Int[Array, ""]
    inner: Any


@dataclass(frozen=True)
class Stage:
    """`steps` steps of `optimizer`; None means all that are left.

    hold: new points every `hold` steps; 0 keeps them for the whole stage. The default is 1, 0 for L-BFGS, whose
    curvature is that of one loss, and the optimizer's own `refresh` for least squares.
    """

    optimizer: Any
    steps: int | None = None
    hold: int | None = None

    def __post_init__(self):
        if self.steps is not None and not is_whole(self.steps):
            raise ValueError(f"a stage of steps={self.steps!r}: give at least 1, or None for all that are left.")
        if self.hold is not None and not is_whole(self.hold, least=0):
            raise ValueError(
                f"hold={self.hold!r}: give a number of steps, or 0 to keep the points for the whole stage."
            )
        if isinstance(self.optimizer, Mapping):
            raise TypeError(
                f"{self.optimizer!r} is a table, which phi.solve and the command line read; give the optimizer itself, such "
                "as optax.adam(1e-3) or phi.GaussNewton()."
            )
        if not isinstance(self.optimizer, LeastSquaresOptimizer) and not hasattr(self.optimizer, "update"):
            raise TypeError(
                f"{self.optimizer!r} is no optimizer: give an optax transformation such as optax.adam(1e-3), a "
                "least-squares optimizer, or a list of stages [(optimizer, steps), ...]."
            )

    @property
    def least_squares(self) -> bool:
        """Whether its steps are taken on the host, from residuals and a Jacobian."""
        return isinstance(self.optimizer, LeastSquaresOptimizer)

    def init(self, params: Any) -> Any:
        """Fresh optimizer state."""
        if self.least_squares:
            return self.optimizer.init(ravel_pytree(params)[0])
        state = self.optimizer.init(params)
        _check_sums(state)
        # Optax's schedules give float32 whatever the precision, and some scalars are weakly typed.
        return jax.tree.map(at_precision, watched(state))

    def holds(self, params: Any) -> int:
        """Steps between new points; 0 keeps them for the whole stage."""
        if self.hold is not None:
            return self.hold
        if self.least_squares:
            return self.optimizer.refresh
        shapes = jax.eval_shape(self.optimizer.init, params)
        return WHOLE_STAGE if is_lbfgs(shapes) else 1


def _check_sums(opt_state: Any) -> None:
    """ValueError where optax.MultiSteps sums gradients in another precision than the run's, on which its step would fail."""
    for node in jax.tree.leaves(opt_state, is_leaf=lambda node: isinstance(node, optax.MultiStepsState)):
        if isinstance(node, optax.MultiStepsState) and precision_of(node.acc_grads) != ambient_precision():
            raise ValueError(
                "optax.MultiSteps sums gradients in float32, and this run is in float64: make it with "
                "accumulator_dtype=None, which sums them in the precision of the run."
            )


def _stage(entry: Any) -> Stage:
    """A stage as it was written: a Stage, (optimizer, steps), or an optimizer alone."""
    if isinstance(entry, Stage):
        return entry
    # An optax transformation is itself a (named) tuple.
    if isinstance(entry, optax.GradientTransformation) or not isinstance(entry, tuple | list):
        return Stage(entry)
    parts: Any = entry
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"{entry!r} is no stage; give (optimizer, steps), or phi.Stage(optimizer, steps, hold).")
    return Stage(*parts)


@dataclass(frozen=True)
class Plan:
    """The stages of a run. `staged` says whether the user gave a list, and so whether the state is a `Staged`."""

    stages: tuple[Stage, ...]
    staged: bool

    @classmethod
    def of(cls, optimizer: Any) -> Plan:
        """A plan from an optimizer, a Stage, or a list of Stages and (optimizer, steps) pairs."""
        if isinstance(optimizer, Stage):
            return cls((optimizer,), staged=True)
        # An optax transformation is itself a (named) tuple.
        if isinstance(optimizer, optax.GradientTransformation) or not isinstance(optimizer, Sequence):
            return cls((Stage(optimizer),), staged=False)
        if not optimizer:
            raise ValueError("optimizer=[] has no stage; give [(optimizer, steps), ...].")
        stages = tuple(_stage(entry) for entry in optimizer)
        for position, stage in enumerate(stages[:-1]):
            if stage.steps is None:
                raise ValueError(
                    f"stage {position + 1} of {len(stages)} has no steps, so no later stage would begin; give (optimizer, steps)."
                )
        return cls(stages, staged=True)

    def check_ends(self) -> None:
        """ValueError where the last stage has no end of its own, so that a run in parts would stay in the first."""
        last = self.stages[-1]
        if last.steps is None and not last.least_squares:
            raise ValueError(
                "a run in slabs of time needs the steps of each slab: optimizer=[(optimizer, steps)]; only a least-"
                "squares optimizer ends by itself."
            )

    def init(self, index: int, start: int, params: Any) -> Any:
        """Fresh optimizer state of stage `index` that begins at step `start`."""
        return self.wrap(index, start, self.stages[index].init(params))

    def wrap(self, index: int, start: int, inner: Any) -> Any:
        """The optimizer state as `TrainState` carries it."""
        return Staged(jnp.int32(index), jnp.int32(start), inner) if self.staged else inner

    def rewrap(self, opt_state: Any, inner: Any) -> Any:
        """`opt_state` with the optimizer's own state replaced."""
        return opt_state._replace(inner=inner) if self.staged else inner

    def where(self, opt_state: Any) -> tuple[int, int]:
        """(index, first step) of the stage that `opt_state` belongs to."""
        if not self.staged:
            return 0, 0
        if not isinstance(opt_state, Staged):
            raise ValueError(
                "the state was made for a single optimizer, but stages were given: call initialize_train_state with "
                "the same list of stages."
            )
        index = int(opt_state.index)
        if index >= len(self.stages):
            raise ValueError(f"the state is in stage {index + 1}, but only {len(self.stages)} stages were given.")
        return index, int(opt_state.start)

    def answer(self, opt_state: Any, params: Any) -> Any:
        """The parameters to give where a run ends here: `params` themselves, unless the optimizer keeps better ones."""
        stage = self.stages[self.where(opt_state)[0]]
        if not stage.least_squares:
            return params
        theta, unravel = ravel_pytree(params)
        found = stage.optimizer.answer(theta, self.inner(opt_state))
        return params if found is theta else unravel(found)

    def inner(self, opt_state: Any) -> Any:
        """The optimizer's own state."""
        return opt_state.inner if self.staged else opt_state


def initial_opt_state(optimizer: Any, params: Any) -> Any:
    """Optimizer state at step 0, of one optimizer or of stages."""
    return Plan.of(optimizer).init(0, 0, params)
