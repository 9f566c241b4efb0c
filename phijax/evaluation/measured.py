"""What is measured of a trained model, each once and only when it is asked for."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from phijax.evaluation.errors import FieldError, field_errors
from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.residuals import TermResidual, fresh_residuals
from phijax.evaluation.seams import largest_jump
from phijax.evaluation.standard_errors import Uncertainty, uncertainty
from phijax.evaluation.uniqueness import open_fields
from phijax.training import History

if TYPE_CHECKING:
    from phijax.training.compiling import Compiled

Found = TypeVar("Found")


class Measured:
    """Residuals, errors, jumps and what is left open of a model.

    seconds: of the stages of the run, where what measuring takes is added to "evaluate".
    """

    def __init__(self, compiled: Compiled, evaluator: Evaluator, history: History, seconds: dict[str, float]):
        self._compiled, self._evaluator, self._history, self._seconds = compiled, evaluator, history, seconds

    @cached_property
    def residuals(self) -> list[TermResidual]:
        """On fresh points of every constraint."""
        return self._timed(lambda: fresh_residuals(self._evaluator))

    @cached_property
    def errors(self) -> dict[str, FieldError]:
        """Against the problem's reference, where there is one."""
        return self._timed(lambda: field_errors(self._evaluator))

    @cached_property
    def largest_jump(self) -> tuple[float, float] | None:
        """Between slabs of time, as `seams` has it."""
        evaluator = self._evaluator
        return self._timed(lambda: largest_jump(self._compiled, evaluator.model, evaluator.precision))

    @cached_property
    def open_fields(self) -> dict[str, float]:
        """Fields that a linear problem leaves open, as `uniqueness` has them."""
        compiled = self._compiled
        found = lambda: open_fields(compiled.problem, compiled.layout.scales)
        return self._timed(lambda: self._evaluator.kept("open fields", found))

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """Standard errors of the unknown constants, and what is not determined of them."""
        records = self._history.records
        return self._timed(lambda: uncertainty(self._evaluator, records[-1]["weights"] if records else {}))

    def _timed(self, measure: Callable[[], Found]) -> Found:
        begun = time.monotonic()
        found = measure()
        self._seconds["evaluate"] = self._seconds.get("evaluate", 0.0) + time.monotonic() - begun
        return found
