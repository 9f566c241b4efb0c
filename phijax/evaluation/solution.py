"""Solution: a trained problem, evaluated by name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from phijax._devices import ONE_DEVICE, Devices
from phijax._numbers import is_whole
from phijax._precision import check_precision, precision_scope
from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.fields import Fields
from phijax.evaluation.files import jsonable
from phijax.evaluation.measured import Measured
from phijax.evaluation.report import ParameterValue, Report
from phijax.evaluation.residuals import (
    by_constraint,
    by_term,
    fresh_residuals,
    initial_sizes,
    trained_rms,
)
from phijax.evaluation.undetermined import undetermined
from phijax.evaluation.weights import save_npz, weight_arrays
from phijax.lowering import value_of
from phijax.symbolic import Field
from phijax.training import FitResult, History, determinism_report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from phijax.training.compiling import Compiled

STAGES = ("compile", "train", "evaluate", "total")


class Solution(Fields):
    """A trained model of a problem. Every field is an attribute: `solution.u(x=..., t=...)`, or `solution["u"]`.

    compiled: what was trained. model: the trained networks and parameters, of `precision`.
    status, stop_reason, steps: how the run ended. seconds: by stage, of those named in `STAGES` that are known.
    history: records of the run. folder: where it was written, if anywhere. choice: what `solve` settled, and why.
    beside: another of the same `compiled`, whose compiled functions evaluate this one too.
    Everything goes in and comes out as NumPy; memory does not grow with the number of points beyond the values.
    """

    def __init__(
        self,
        compiled: Compiled,
        model: Any,
        *,
        precision: str,
        seed: Any = None,
        status: str = "unknown",
        stop_reason: str = "",
        steps: int = 0,
        seconds: Mapping[str, float] | None = None,
        history: History | None = None,
        folder: str | Path | None = None,
        beside: Solution | None = None,
        devices: Devices = ONE_DEVICE,
    ):
        self.compiled, self.model, self.precision = compiled, model, check_precision(precision)
        self.seed, self.status, self.stop_reason, self.steps = seed, status, stop_reason, steps
        self.seconds = dict(seconds or {})
        self.history = History() if history is None else history
        self.folder = None if folder is None else Path(folder)
        self.choice: Any = None  # what `solve` settled, with its reasons
        own = (
            Evaluator(compiled.layout, model, precision, devices.own)
            if beside is None
            else beside._evaluator.beside(model)
        )
        super().__init__(own)
        self._measured = Measured(compiled, self._evaluator, self.history, self.seconds)

    @classmethod
    def from_result(
        cls,
        compiled: Compiled,
        result: FitResult,
        *,
        seed: Any = None,
        seconds: Mapping[str, float] | None = None,
        beside: Solution | None = None,
    ) -> Solution:
        """The solution that a fit of `compiled.module` gave. seconds: by stage, where they were measured apart."""
        return cls(
            compiled,
            result.model,
            precision=result.precision,
            seed=seed,
            status=result.status,
            stop_reason=result.stop_reason,
            steps=result.step,
            seconds={"train": result.seconds} if seconds is None else seconds,
            history=result.history,
            folder=result.checkpoint,
            beside=beside,
            devices=result.devices,
        )

    @property
    def parameters(self) -> dict[str, float]:
        """{name: value} of the unknown constants."""
        with precision_scope(self.precision):
            raw = self.model.parameters
            return {name: float(value_of(p, raw[name])) for name, p in self.problem.parameters.items()}

    # How good it is.

    def residuals(self, n: int | None = None, seed: int = 0) -> dict[str, float]:
        """{term: root mean square of its residual} on fresh points of every constraint, exact ones included.

        n: points of each constraint. seed: other points for another one.
        """
        if n is not None and not is_whole(n):
            raise ValueError(f"residuals: n={n!r} must be a whole number of points, at least 1.")
        return by_term(fresh_residuals(self._evaluator, n, seed))

    def errors(self) -> dict[str, dict[str, float]]:
        """{field: {"relative_l2", "max"}} against the problem's reference, on a fine grid of the field's region."""
        return {name: {"relative_l2": e.relative_l2, "max": e.max} for name, e in self._measured.errors.items()}

    @property
    def open_fields(self) -> dict[str, float]:
        """Fields that a linear problem leaves open, or all but open: by what part of their size the residuals change when
        the field changes by its own. Empty where all are determined, and where that is not known."""
        return self._measured.open_fields

    def report(self) -> Report:
        """Prints and returns what was reached: residuals on fresh points, errors, parameters, how the run ended."""
        report = self.make_report()
        print(report)
        return report

    def make_report(self) -> Report:
        """The report, not printed."""
        reference = self.problem.reference
        # First, so that their seconds are counted.
        residuals, errors, parameters = self._measured.residuals, self._measured.errors, self._parameter_values()
        _ = self.open_fields
        return Report(
            title=f"{self.problem.name}  ({self.problem.fingerprint[:12]})",
            facts=self._facts(),
            residuals=residuals,
            trained=trained_rms(self.problem, self.history),
            errors=errors,
            reference=None if reference is None else reference.source,
            parameters=parameters,
            reasons=() if self.choice is None else tuple(self.choice.reasons),
            initial=initial_sizes(self.problem, self.history),
            undetermined=undetermined(self.problem, self.parameters, self._measured.uncertainty.moves),
            open_fields=self.open_fields,
        )

    def summary(self) -> dict[str, Any]:
        """The fields of `summary.json`, in plain Python types."""
        cautions = self.make_report().cautions
        residuals, errors = by_constraint(self._measured.residuals), self.errors()
        parameters = {
            name: {
                "value": p.value,
                "reference": p.reference,
                "standard_error": p.standard_error,
                "determined": p.determined,
            }
            for name, p in self._parameter_values().items()
        }
        return jsonable(
            {
                "problem": self.problem.name,
                "fingerprint": self.problem.fingerprint,
                "seed": self.seed if isinstance(self.seed, int | np.integer) else None,
                "precision": self.precision,
                "status": self.status,
                "stop_reason": self.stop_reason,
                "steps": self.steps,
                "seconds": {stage: self._all_seconds().get(stage) for stage in STAGES},
                "errors": errors,
                "residuals": residuals,
                "parameters": parameters,
                "cautions": cautions,
            }
        )

    # Pictures and files.

    def plot(self, path: str | Path | None = None) -> Figure:
        """Pictures of every field, with its reference and error beside it where known; saved where a path is given."""
        from phijax.evaluation.plots import save_figure, solution_figure

        figure = solution_figure(self._evaluator)
        return figure if path is None else save_figure(figure, path)

    def plot_history(self, path: str | Path | None = None) -> Figure:
        """Losses of the terms and their weighted sum over the steps, the stages marked."""
        from phijax.evaluation.plots import history_figure, save_figure

        figure = history_figure(self.history, self.problem.name)
        return figure if path is None else save_figure(figure, path)

    def plot_residuals(self, path: str | Path | None = None) -> Figure:
        """Where each equation and condition fails, and the points of the last step; magnitudes, in decades."""
        from phijax.evaluation.plots import residual_figure, save_figure

        figure = residual_figure(self._evaluator, self._last_batch)
        return figure if path is None else save_figure(figure, path)

    def plot_parameters(self, path: str | Path | None = None) -> Figure:
        """The unknown constants over the steps. Raises ValueError where no run recorded any."""
        from phijax.evaluation.plots import parameter_figure, save_figure

        figure = parameter_figure(self.history, self.problem)
        if figure is None:
            raise ValueError(f"{self.problem.name!r} has no unknown constant whose path was recorded.")
        return figure if path is None else save_figure(figure, path)

    def animate(
        self, path: str | Path, field: str | Field | None = None, *, frames: int = 60, seconds: float = 6.0
    ) -> Path:
        """Writes a GIF of a field over time, the first one unless named, and gives its path."""
        from phijax.evaluation.plots.animation import animate

        chosen = next(iter(self.problem.fields)) if field is None else field
        return animate(self._evaluator, self[chosen]._field, path, frames, seconds)

    def save_weights(self, path: str | Path) -> Path:
        """Writes the trained weights, scales and parameters to an npz file that plain NumPy reads."""
        return save_npz(path, self.weights())

    def weights(self) -> dict[str, np.ndarray]:
        """{path: array} of the trained weights, scales and parameters."""
        parameters = {f"parameters/{name}": np.array(value) for name, value in self.parameters.items()}
        return weight_arrays(self.compiled.layout, self.model) | parameters

    def export(
        self,
        path: str | Path,
        *,
        points: int | None = None,
        times: int | None = None,
        at: Mapping[str, float] | None = None,
    ) -> Path:
        """Writes fields and parameters for other programs, in the format that the file's ending names, and gives the path.

        .npz, .csv: columns; .vti, .vtu: VTK image and mesh; .pvd: VTK series over time; .nc: netCDF (xarray); .jaxexport:
        the function itself, which JAX alone runs. Complex fields become NAME_real and NAME_imag, but in .npz.
        points: along each axis. times: files of a series. at: coordinates that are held, as in {"t": 1}.
        Raises ValueError for another ending, ImportError where a package is missing, with the line that installs it.
        """
        from phijax.evaluation.export import export

        return export(self._evaluator, self.parameters, path, points=points, times=times, at=at)

    def to_xarray(self, points: int | None = None, at: Mapping[str, float] | None = None) -> Any:
        """An xarray Dataset of the fields on a grid, dimensions by coordinate; NaN outside the domain."""
        from phijax.evaluation.export.datasets import dataset

        return dataset(self._evaluator, self.parameters, points, at)

    def report_html(self, path: str | Path | None = None) -> Path:
        """Writes the report as one HTML file that needs nothing else, and gives its path; into the run's folder if None."""
        from phijax.evaluation.html import report_file

        return report_file(self, path)

    def pictures(self) -> dict[str, Callable[[], Figure]]:
        """What the report shows, by title."""
        from phijax.evaluation.plots.regions import problem_figure

        makers: dict[str, Callable[[], Figure]] = {"Fields": self.plot}
        if len(self.history):
            makers["Losses"] = self.plot_history
        if any(name in self.problem.parameters for name in self.history.parameters):
            makers["Unknown constants"] = self.plot_parameters
        if self.problem.trained:
            makers["Residuals"] = self.plot_residuals
        makers["Domain and points"] = lambda: problem_figure(self.problem, batch=self._last_batch)
        return makers

    @property
    def about(self) -> str:
        """The run in a line."""
        return f"{self.status} at step {self.steps}, seed {self.seed}, {self.precision}"

    def _repr_html_(self) -> str:
        from phijax.evaluation.html import fragment

        return fragment(self)

    def __repr__(self) -> str:
        fields = ", ".join(str(field) for field in self.problem.fields.values())
        return f"<Solution of {self.problem.name!r}: {fields}; {self.status} at step {self.steps}>"

    @functools.cached_property
    def _last_batch(self) -> dict[str, Any]:
        from phijax.evaluation.batches import last_batch

        return last_batch(self.compiled, self.model, self.precision, self.seed, self.steps)

    # Parts of the report.

    def _all_seconds(self) -> dict[str, float]:
        stages = {name: value for name, value in self.seconds.items() if name != "total"}
        return {name: round(value, 3) for name, value in (stages | {"total": sum(stages.values())}).items()}

    def _parameter_values(self) -> dict[str, ParameterValue]:
        known, errors = self.problem.reference, self._measured.uncertainty.errors
        return {
            name: ParameterValue(value, None if known is None else known.parameter(name), errors[name])
            for name, value in self.parameters.items()
        }

    @property
    def _left_open(self) -> str:
        names = [name for name, error in self._measured.uncertainty.errors.items() if error == float("inf")]
        return f", {' and '.join(names)} not determined" if names else ""

    def _facts(self) -> dict[str, str]:
        seconds = ", ".join(f"{name} {value:.1f}" for name, value in self._all_seconds().items())
        reason = f": {self.stop_reason}" if self.stop_reason else ""
        facts = {
            "status": f"{self.status}{self._left_open}{reason}",
            "steps": str(self.steps),
            "seed": str(self.seed) if self.seed is not None else "unknown",
            "precision": self.precision,
            "seconds": seconds,
            "repeatable": determinism_report().sentence,
            "computed by": f"jax {jax.__version__} on {jax.default_backend()}",
        }
        shares = self.history.events[-1].get("shares") if self.history.events else None
        if shares:
            facts["a step"] = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
        if (seam := self._measured.largest_jump) is not None:
            facts["slabs"] = f"largest jump {seam[0]:.1e} (rms), where one begins at {seam[1]:.4g}"
        return facts | ({"folder": str(self.folder)} if self.folder is not None else {})
