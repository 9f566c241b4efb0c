"""Ensemble: one problem from several seeds, evaluated by name as mean and spread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phijax.evaluation.ensemble_report import EnsembleReport, FieldSpread, Table, far_apart, gathered, statistics
from phijax.evaluation.errors import field_errors
from phijax.evaluation.evaluator import Evaluator
from phijax.evaluation.fields import Fields
from phijax.evaluation.files import jsonable
from phijax.evaluation.grids import comparison_points
from phijax.evaluation.residuals import by_constraint
from phijax.evaluation.solution import STAGES, Solution
from phijax.evaluation.weights import save_npz
from phijax.training import EnsembleResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from phijax.training.compiling import Compiled

Name = int | str


class Spread(Fields):
    """Standard deviations over the members: `ensemble.spread.u(x=...)`, and of any expression by `evaluate`.

    parameters: {name: standard deviation} of the unknown constants.
    """

    def __init__(self, evaluator: Evaluator, parameters: Mapping[str, float]):
        super().__init__(evaluator)
        self.parameters = dict(parameters)


class Ensemble(Fields):
    """Solutions of one problem from several seeds. A field is the mean of theirs: `ensemble.u(x=...)`, or `ensemble["u"]`.

    members: a Solution for each of `seeds`. spread: standard deviations in place of means. A member that diverged takes
    no part in either. status, stop_reason: how the runs ended. seconds: of all together, by stage.
    folder: where they were written, if anywhere. choice: what `solve` settled for all, and why.
    """

    def __init__(
        self,
        seeds: Sequence[Name],
        members: Sequence[Solution],
        *,
        status: str,
        stop_reason: str,
        seconds: Mapping[str, float],
        folder: Path | None = None,
    ):
        self.seeds, self.members = tuple(seeds), tuple(members)
        self.status, self.stop_reason, self.seconds, self.folder = status, stop_reason, dict(seconds), folder
        self.precision = members[0].precision
        self.choice: Any = None  # what `solve` settled, with its reasons
        whole = [member for member in self.members if member.status != "diverged"] or self.members
        self._whole = tuple(whole)
        models, first = [member.model for member in whole], whole[0]._evaluator
        spread = first.over(models, _deviation)
        super().__init__(first.over(models, _mean, spread))
        self.spread = Spread(spread, {name: float(_deviation(values)) for name, values in self._values.items()})

    @classmethod
    def from_result(
        cls, compiled: Compiled, result: EnsembleResult, *, seconds: Mapping[str, float] | None = None
    ) -> Ensemble:
        """The ensemble that `Trainer.fit_ensemble` of `compiled.module` gave."""
        members: list[Solution] = []
        for seed, own in zip(result.seeds, result.members, strict=True):
            first = members[0] if members else None
            alone = replace(own, checkpoint=None)  # the folder is that of all
            members.append(Solution.from_result(compiled, alone, seed=seed, beside=first))
        return cls(
            result.seeds,
            members,
            status=result.status,
            stop_reason=result.stop_reason,
            seconds={"train": result.seconds} if seconds is None else seconds,
            folder=result.checkpoint,
        )

    @property
    def steps(self) -> int:
        """Steps of all members together."""
        return sum(member.steps for member in self.members)

    @property
    def parameters(self) -> dict[str, float]:
        """{name: mean} of the unknown constants."""
        return {name: float(_mean(values)) for name, values in self._values.items()}

    @property
    def _values(self) -> dict[str, np.ndarray]:
        """{parameter: its values, one a member}."""
        each = [member.parameters for member in self._whole]
        return {name: np.array([own[name] for own in each]) for name in self.problem.parameters}

    # How good it is.

    def errors(self) -> dict[str, dict[str, dict[str, float]]]:
        """{field: {"relative_l2" and "max": {"median", "mean", "worst" of the members; "of_mean": of the mean field}}}."""
        each = [member.errors() for member in self._whole]
        return {
            name: {
                kind: statistics([own[name][kind] for own in each])
                | {"of_mean": getattr(self._errors_of_mean[name], kind)}
                for kind in ("relative_l2", "max")
            }
            for name in each[0]
        }

    def residuals(self, n: int | None = None, seed: int = 0) -> dict[str, dict[str, float]]:
        """{term: {"median", "mean", "worst"}} of the members' root mean square residuals on fresh points."""
        each = [member.residuals(n, seed) for member in self._whole]
        return {term: statistics([own[term] for own in each]) for term in each[0]}

    @cached_property
    def spreads(self) -> dict[str, FieldSpread]:
        """{field: how far the members are apart}, on a fine grid of the field's region."""
        found = {}
        for name, field in self.problem.fields.items():
            columns = comparison_points(self.problem.region_of(field), field.coordinates)
            mean, spread = self[name](**columns), self.spread[name](**columns)
            size, worst = float(np.sqrt(np.mean(np.abs(mean) ** 2))), int(np.argmax(spread))
            relative = float(np.sqrt(np.mean(spread**2))) / size if size > 0 else float("nan")
            where = {coordinate: float(column[worst]) for coordinate, column in columns.items()}
            found[name] = FieldSpread(relative, float(spread[worst]), where)
        return found

    def report(self) -> EnsembleReport:
        """Prints and returns what was reached: errors, spread, parameters and residuals over the seeds."""
        report = self.make_report()
        print(report)
        return report

    def make_report(self) -> EnsembleReport:
        """The report, not printed."""
        reports = {seed: member.make_report() for seed, member in self._by_seed.items() if member in self._whole}
        first = next(iter(reports.values()))
        left_out = [
            f"seed {seed} diverged and takes no part in mean and spread: {member.stop_reason}"
            for seed, member in self._by_seed.items()
            if member not in self._whole
        ]
        cautions = gathered({seed: own.cautions for seed, own in reports.items()})
        seconds = ", ".join(f"{name} {value:.1f}" for name, value in self._all_seconds().items())
        facts = {
            "status": f"{self.status}: {self.stop_reason}",
            "seeds": ", ".join(map(str, self.seeds)),
            "precision": self.precision,
            "seconds": seconds,
            **{name: first.facts[name] for name in ("repeatable", "computed by")},
        }
        return EnsembleReport(
            title=f"{self.problem.name}  ({self.problem.fingerprint[:12]})",
            facts=facts | ({"folder": str(self.folder)} if self.folder is not None else {}),
            tables=[self._member_table(), self._error_table(), *self._spread_tables(), self._residual_table()],
            spreads=self.spreads,
            reasons=() if self.choice is None else tuple(self.choice.reasons),
            cautions=[*left_out, *far_apart(self.spreads), *cautions],
        )

    def summary(self) -> dict[str, Any]:
        """The fields of `summary.json`, in plain Python types."""
        cautions = self.make_report().cautions
        reference = self.problem.reference
        residuals = [by_constraint(member._measured.residuals) for member in self._whole]
        parameters = {
            name: {
                "value": value,
                "spread": self.spread.parameters[name],
                "reference": None if reference is None else reference.parameter(name),
            }
            for name, value in self.parameters.items()
        }
        return jsonable(
            {
                "problem": self.problem.name,
                "fingerprint": self.problem.fingerprint,
                "seeds": list(self.seeds),
                "precision": self.precision,
                "status": self.status,
                "stop_reason": self.stop_reason,
                "steps": self.steps,
                "seconds": {stage: self._all_seconds().get(stage) for stage in STAGES},
                "errors": self.errors(),
                "spreads": {n: {"relative": s.relative, "max": s.max} for n, s in self.spreads.items()},
                "residuals": {name: statistics([own[name] for own in residuals]) for name in residuals[0]},
                "parameters": parameters,
                "cautions": list(cautions),
                "members": [member.summary() for member in self.members],
            }
        )

    # Pictures and files.

    def plot(self, path: str | Path | None = None) -> Figure:
        """Pictures of every field's mean with its spread, as a band or a map of its own; saved where a path is given."""
        from phijax.evaluation.plots import save_figure, solution_figure

        figure = solution_figure(self._evaluator)
        return figure if path is None else save_figure(figure, path)

    def plot_history(self, path: str | Path | None = None) -> Figure:
        """The weighted sum of the losses over the steps, a line a seed."""
        from phijax.evaluation.plots import ensemble_history_figure, save_figure

        figure = ensemble_history_figure(self._histories, self.problem.name)
        return figure if path is None else save_figure(figure, path)

    def plot_parameters(self, path: str | Path | None = None) -> Figure:
        """The unknown constants over the steps, a line a seed. Raises ValueError where no run recorded any."""
        from phijax.evaluation.plots import ensemble_parameter_figure, save_figure

        figure = ensemble_parameter_figure(self._histories, self.problem)
        if figure is None:
            raise ValueError(f"{self.problem.name!r} has no unknown constant whose path was recorded.")
        return figure if path is None else save_figure(figure, path)

    def export(
        self,
        path: str | Path,
        *,
        points: int | None = None,
        times: int | None = None,
        at: Mapping[str, float] | None = None,
    ) -> Path:
        """Writes means under the names of fields and parameters, and their spread under NAME_spread; as `Solution.export`.

        A .jaxexport file holds one model: export a member.
        """
        from phijax.evaluation.export import export

        parameters = self.parameters | {f"{name}_spread": value for name, value in self.spread.parameters.items()}
        return export(self._evaluator, parameters, path, points=points, times=times, at=at)

    def save_weights(self, path: str | Path) -> Path:
        """Writes what `Solution.save_weights` does of all members, each under its seed, as "0/networks/..."."""
        return save_npz(
            path, {f"{s}/{name}": a for s, own in self._by_seed.items() for name, a in own.weights().items()}
        )

    def report_html(self, path: str | Path | None = None) -> Path:
        """Writes the report as one HTML file that needs nothing else, and gives its path; into the run's folder if None."""
        from phijax.evaluation.html import report_file

        return report_file(self, path)

    def pictures(self) -> dict[str, Callable[[], Figure]]:
        """What the report shows, by title."""
        makers: dict[str, Callable[[], Figure]] = {"Fields": self.plot}
        if any(len(history) for history in self._histories.values()):
            makers["Losses"] = self.plot_history
        if any(n in self.problem.parameters for history in self._histories.values() for n in history.parameters):
            makers["Unknown constants"] = self.plot_parameters
        return makers

    def _repr_html_(self) -> str:
        from phijax.evaluation.html import fragment

        return fragment(self)

    def __repr__(self) -> str:
        fields = ", ".join(str(field) for field in self.problem.fields.values())
        return f"<Ensemble of {len(self.members)} solutions of {self.problem.name!r}: {fields}; {self.status}>"

    # Parts of the report.

    @property
    def about(self) -> str:
        """The run in a line."""
        return f"{self.status}, seeds {', '.join(map(str, self.seeds))}, {self.precision}"

    @property
    def _by_seed(self) -> dict[Name, Solution]:
        return dict(zip(self.seeds, self.members, strict=True))

    @property
    def _histories(self) -> dict[Name, Any]:
        return {seed: member.history for seed, member in self._by_seed.items()}

    @cached_property
    def _errors_of_mean(self) -> dict[str, Any]:
        return field_errors(self._evaluator)

    def _all_seconds(self) -> dict[str, float]:
        evaluated = sum(member.seconds.get("evaluate", 0.0) for member in self.members)
        stages = {name: value for name, value in self.seconds.items() if name != "total"} | {"evaluate": evaluated}
        return {name: round(value, 3) for name, value in (stages | {"total": sum(stages.values())}).items()}

    def _member_table(self) -> Table:
        known, constants = list(self._errors_of_mean), list(self.problem.parameters)
        rows = [
            (
                str(seed),
                member.status,
                str(member.steps),
                *(f"{member.errors()[name]['relative_l2']:.2e}" for name in known),
                *(f"{member.parameters[name]:.8g}" for name in constants),
            )
            for seed, member in self._by_seed.items()
        ]
        return ("seed", "status", "steps", *(f"error of {name}" for name in known), *constants), rows

    def _error_table(self) -> Table:
        reference = self.problem.reference
        head = (
            f"error against {reference.source if reference else ''}",
            "median",
            "mean",
            "worst",
            "of the mean",
            "largest",
        )
        rows = [
            (
                name,
                *(f"{found['relative_l2'][kind]:.2e}" for kind in ("median", "mean", "worst", "of_mean")),
                f"{found['max']['worst']:.2e}",
            )
            for name, found in self.errors().items()
        ]
        return head, rows

    def _spread_tables(self) -> list[Table]:
        fields = [
            (name, f"{s.relative:.2e}", f"{s.max:.2e}", ", ".join(f"{n}={v:.4g}" for n, v in s.where.items()))
            for name, s in self.spreads.items()
        ]
        reference, constants = self.problem.reference, []
        for name, value in self.parameters.items():
            known = None if reference is None else reference.parameter(name)
            off = "" if not known else f"{abs(value - known) / abs(known):.2e}"
            spread = f"{self.spread.parameters[name]:.1e}"
            constants.append((name, f"{value:.10g}", spread, "" if known is None else f"{known:.10g}", off))
        return [
            (("spread over the seeds", "relative", "largest", "at"), fields),
            (("parameter", "mean", "spread", "reference", "relative error"), constants),
        ]

    def _residual_table(self) -> Table:
        each = [{r.term: r.rms for r in member._measured.residuals} for member in self._whole]
        rows = [
            (term, *(f"{value:.2e}" for value in statistics([own[term] for own in each]).values())) for term in each[0]
        ]
        return ("residual on fresh points (rms)", "median", "mean", "worst"), rows


def _mean(values: Sequence[Any] | np.ndarray) -> Any:
    return np.mean(values, axis=0)


def _deviation(values: Sequence[Any] | np.ndarray) -> Any:
    """Of the seeds as a sample; NaN where one is left alone."""
    return np.std(values, axis=0, ddof=1) if len(values) > 1 else np.full(np.shape(values)[1:], np.nan)
