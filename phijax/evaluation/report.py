"""Report: what a run reached, as a plain table. Nothing in it is read off the training loss."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from phijax.evaluation.errors import FieldError
from phijax.evaluation.residuals import TermResidual

OVERFIT = 10.0  # fresh over trained root mean square from which a term is said to fit its own points alone
LARGE = 0.05  # residual relative to its equation's addends, and error, from which a solution is said not to be one
FAR_APART = 1e4  # largest over smallest weighted size at step 0 from which training is said to see the larger alone


@dataclass(frozen=True)
class ParameterValue:
    """An unknown constant: its value, its true value where known, its standard error where estimated.

    An infinite standard error says that equations and data do not determine it.
    """

    value: float
    reference: float | None = None
    standard_error: float | None = None

    @property
    def determined(self) -> bool | None:
        """Whether equations and data determine it; None where that is not known."""
        return None if self.standard_error is None else math.isfinite(self.standard_error)

    @property
    def relative_error(self) -> float | None:
        """|value - reference| / |reference|."""
        return None if not self.reference else abs(self.value - self.reference) / abs(self.reference)


@dataclass(frozen=True)
class Report:
    """All that is known of a run.

    trained: rms of each term on the last recorded training batch, where there is one. initial: of each term, the square
    root of weight x loss at step 0. undetermined: a sentence for each combination of parameters that is left open.
    open_fields: fields that the problem leaves open, or all but open; for each what part of the residuals' size a change
    of the field by its own makes. reasons: for what was chosen by rule, one sentence a choice.
    """

    title: str
    facts: Mapping[str, str]
    residuals: Sequence[TermResidual]
    trained: Mapping[str, float]
    errors: Mapping[str, FieldError]
    reference: str | None
    parameters: Mapping[str, ParameterValue]
    reasons: Sequence[str] = ()
    initial: Mapping[str, float] = field(default_factory=dict)
    undetermined: Sequence[str] = ()
    open_fields: Mapping[str, float] = field(default_factory=dict)

    @property
    def cautions(self) -> list[str]:
        """What speaks against believing the result."""
        said = []
        for residual in self.residuals:
            trained = self.trained.get(residual.term, 0.0)
            if trained > 0 and residual.rms > OVERFIT * trained:
                said.append(
                    f"{residual.term}: on fresh points the residual is {residual.rms / trained:.0f} times that of the "
                    f"training points; use more points, or new ones more often."
                )
            if not math.isfinite(residual.rms):
                said.append(
                    f"{residual.term}: the residual is not finite on fresh points, as at {_place(residual.where)}; a "
                    f"logarithm, root or quotient has no value there."
                )
            if residual.relative is not None and residual.relative > LARGE:
                said.append(
                    f"{residual.term}: the residual is {residual.relative:.0%} of the equation's own terms; the equation "
                    f"does not hold yet."
                )
        off = {name: error.relative_l2 for name, error in self.errors.items()}
        off |= {name: p.relative_error or 0.0 for name, p in self.parameters.items()}
        said += [
            f"{name}: the error against {self.reference} is {error:.0%}; the solution is not reached, whatever the residuals."
            for name, error in off.items()
            if error > LARGE
        ]
        said += [open_field(name, change) for name, change in self.open_fields.items()]
        said += self.undetermined
        said += _apart(self.initial)
        if not self.errors and not any(p.reference is not None for p in self.parameters.values()):
            said.append(
                "no reference solution is known, so the error itself is not: a small residual does not bound it."
            )
        return said

    def __str__(self) -> str:
        blocks = [self.title, aligned([(f"  {name}", value) for name, value in self.facts.items()])]
        blocks.append(_residual_table(self.residuals, self.trained, self.initial))
        if self.errors:
            blocks.append(_error_table(self.errors, self.reference or "the reference"))
        if self.parameters:
            blocks.append(_parameter_table(self.parameters))
        if self.reasons:
            blocks.append("\n".join(["  chosen by rule", *(f"  - {reason}" for reason in self.reasons)]))
        if self.cautions:
            blocks.append("\n".join(f"  ! {caution}" for caution in self.cautions))
        return "\n\n".join(blocks)

    def __repr__(self) -> str:
        return f"<Report of {self.title}>"


def open_field(name: str, change: float) -> str:
    """What is said of a field that equations and conditions leave open."""
    return (
        f"{name}: the equations and conditions leave it open, or all but open, and what is given is one of many solutions: "
        f"a change of {name} by its own size changes the residuals by {change:.0e} of theirs. Add what is missing, such as "
        f"a value at a point, a mean, or a condition on a side, or declare the field on= the part where it is meant."
    )


def _apart(initial: Mapping[str, float]) -> list[str]:
    """A caution where the sizes of two terms at step 0 are too far apart to be brought down together."""
    sizes = {term: size for term, size in initial.items() if size > 0}
    if not sizes:
        return []
    least, most = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    if not sizes[most] > FAR_APART * sizes[least]:
        return []
    return [
        f"{most} and {least}: at step 0 their weighted sizes are {sizes[most]:.1e} and {sizes[least]:.1e}, more than four "
        f"decades apart, so that training hardly sees the smaller. Scale the equation of one, or give "
        f"balancer=phi.Static({{...}}) with a larger weight for {least}."
    ]


def _residual_table(
    residuals: Sequence[TermResidual], trained: Mapping[str, float], initial: Mapping[str, float]
) -> str:
    rows = [
        ("  residual on fresh points", "rms", "relative", "largest", "at", "points", "trained rms", "weighted, step 0")
    ]
    for r in residuals:
        name = f"  {r.term}" + (" (exact)" if r.exact else "")
        relative = "" if r.relative is None else f"{r.relative:.1e}"
        seen = f"{trained[r.term]:.2e}" if r.term in trained else ""
        begun = f"{initial[r.term]:.2e}" if r.term in initial else ""
        rows.append((name, f"{r.rms:.2e}", relative, f"{r.max:.2e}", _place(r.where), str(r.points), seen, begun))
    return aligned(rows)


def _error_table(errors: Mapping[str, FieldError], source: str) -> str:
    rows = [(f"  error against {source}", "relative L2", "largest", "at", "points", "")]
    for name, error in errors.items():
        note = "at the reference's limit" if error.at_limit else ""
        note = "the reference is zero" if math.isnan(error.relative_l2) and math.isfinite(error.max) else note
        size = "" if math.isnan(error.relative_l2) else f"{error.relative_l2:.2e}"
        rows.append((f"  {name}", size, f"{error.max:.2e}", _place(error.where), str(error.points), note))
    return aligned(rows)


def _parameter_table(parameters: Mapping[str, ParameterValue]) -> str:
    rows = [("  parameter", "value", "standard error", "reference", "relative error")]
    for name, p in parameters.items():
        known = "" if p.reference is None else f"{p.reference:.10g}"
        spread = "" if p.standard_error is None else f"{p.standard_error:.1e}"
        spread = "undetermined" if p.determined is False else spread
        off = "" if p.relative_error is None else f"{p.relative_error:.2e}"
        rows.append((f"  {name}", f"{p.value:.10g}", spread, known, off))
    return aligned(rows)


def _place(where: Mapping[str, float]) -> str:
    return ", ".join(f"{name}={value:.4g}" for name, value in where.items())


def aligned(rows: Iterable[tuple[str, ...]]) -> str:
    """Columns as wide as their longest entry; those that are empty below their head are left out."""
    rows = list(rows)
    width = len(rows[0])
    kept = [i for i in range(width) if len(rows) == 1 or i == 0 or any(row[i] for row in rows[1:])]
    widths = [max(len(row[i]) for row in rows) for i in kept]
    lines = ["  ".join(row[i].ljust(w) for i, w in zip(kept, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines)
