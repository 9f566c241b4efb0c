"""The rules of the benchmark, which built-in problems and those of others are held to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import sympy

from phijax.bench.substitution import is_closed, reference_residuals
from phijax.evaluation.errors import REFERENCE_LIMIT, known_values
from phijax.evaluation.grids import comparison_points
from phijax.evaluation.residuals import TermResidual
from phijax.formulation import DeclarationError, Problem
from phijax.formulation.faults import nearest
from phijax.problems import Info

CLOSED_LIMIT = 1e-6  # of a closed form in any term, and of other references where no derivative is taken
GRIDDED_LIMIT = 1e-4  # of a reference whose derivatives are differences
NOISE_ROOM = 1.5  # times the stated noise: what few rows may show of it
LEAST_KNOWN = 0.99  # share of the points of comparison at which a reference must have a value


@dataclass(frozen=True)
class Left:
    """What the reference leaves of a term: its largest residual, of the equation's own size where that is known."""

    term: str
    value: float
    limit: float
    where: Mapping[str, float]


@dataclass(frozen=True)
class Verdict:
    """faults: what breaks a rule, a sentence each with its cure. remarks: what is lacking and may be."""

    faults: list[str]
    remarks: list[str]
    left: list[Left]


def judge(module: ModuleType, make: Callable[..., Problem], constants: Mapping[str, Any]) -> Verdict:
    """Holds a problem's file to the rules. make: its declaration, by constants; constants: their values here."""
    problem = make(**constants)
    info = getattr(module, "INFO", None)
    faults = [*_file_faults(module), *_info_faults(info, problem), *_reference_faults(info, problem)]
    left: list[Left] = []
    if problem.reference is not None and _gives_all(problem):
        left = reference_left(problem, constants)
        faults += _left_faults(left)
        if not faults:
            faults += _constant_faults(make, problem, constants)
    return Verdict(faults, list(_remarks(info)), left)


def _file_faults(module: ModuleType) -> Iterator[str]:
    if not callable(getattr(module, "problem", None)):
        yield (
            "there is no function `problem`; return the declaration from `def problem(k=1):`, whose keyword defaults are "
            "its constants."
        )
    if not (module.__doc__ or "").strip():
        yield "the file has no docstring; say in a line what the problem is."


def _info_faults(info: Any, problem: Problem) -> Iterator[str]:
    if not isinstance(info, Info):
        said = "there is no INFO" if info is None else f"INFO is of type {type(info).__name__}"
        yield f"{said}; add `INFO = Info(target=1e-6)`, by `from phijax.problems import Info`."
        return
    if problem.parameters and not isinstance(info.target, Mapping):
        name = next(iter(problem.parameters))
        yield f"INFO.target is one number, and {name!r} is unknown; give it by name, as in target={{{name!r}: 1e-3}}."
    yield from _error_faults("target", info.target, problem)
    if info.published is not None:
        errors, *rest = info.published
        yield from _error_faults("published", errors, problem)
        if len(rest) != 1 or not str(rest[0]).strip():
            yield "INFO.published has no source; give (error, where it was published)."
    if info.classical is not None:
        errors, *rest = info.classical
        yield from _error_faults("classical", errors, problem)
        if len(rest) != 2 or not _positive(rest[0]) or not str(rest[1]).strip():
            yield "INFO.classical is no (error, CPU seconds, method); give all three."


def _error_faults(kind: str, errors: Any, problem: Problem) -> Iterator[str]:
    known = [*problem.fields, *problem.parameters]
    for name, error in errors.items() if isinstance(errors, Mapping) else [("", errors)]:
        if name and name not in known:
            yield f"INFO.{kind} names {name!r}, which is no field or parameter; {nearest(name, known)}."
        elif not _positive(error):
            yield f"INFO.{kind} is {error!r}{f' for {name}' if name else ''}; give a positive relative error."


def _positive(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and 0 < number < math.inf


def _reference_faults(info: Any, problem: Problem) -> Iterator[str]:
    reference = problem.reference
    if reference is None:
        yield (
            "there is no reference; give reference={u: expression}, or phi.Reference(solver=..., error=..., source=...)."
        )
        return
    for name in problem.parameters:
        if reference.parameter(name) is None:
            yield f"the reference gives no value for the unknown {name!r}; add it to the reference's values."
    yield from _value_faults(problem)
    if is_closed(problem) or not _gives_all(problem):
        return
    if not reference.error > 0:
        yield "the reference states no error; compute it at two resolutions, and give their distance as error=."
    if reference.source == "closed form":
        yield "the reference does not say where it comes from; give source=, such as the method and its resolution."
    target = getattr(info, "target", None)
    targets = target.values() if isinstance(target, Mapping) else [] if target is None else [target]
    for least in filter(_positive, targets):
        if least < REFERENCE_LIMIT * reference.error:
            yield (
                f"INFO.target {least:.0e} is below {REFERENCE_LIMIT:g} times the reference's own error "
                f"{reference.error:.0e}, and cannot be measured; refine the reference, or raise the target."
            )


def _value_faults(problem: Problem) -> Iterator[str]:
    """Of fields that have no value, or none to divide by, where errors are measured."""
    for name, field in problem.fields.items():
        columns = comparison_points(problem.region_of(field), field.coordinates)
        value = known_values(problem, [field], columns).get(name)
        if value is None:
            yield f"the reference gives no values for the field {name!r}; add them."
            continue
        known = np.isfinite(value)
        if known.mean() < LEAST_KNOWN:
            yield (
                f"the reference of {name!r} has a value at {known.mean():.0%} of the points where errors are measured; "
                f"it must cover the whole domain."
            )
        elif not np.any(value[known]):
            yield f"the reference of {name!r} is zero, so that no relative error exists; choose another solution."


def _gives_all(problem: Problem) -> bool:
    reference = problem.reference
    assert reference is not None
    at = {symbol.name: np.array([sum(problem.domain.bounds[symbol]) / 2]) for symbol in problem.domain.coordinates}
    given = known_values(problem, list(problem.fields.values()), at)
    return set(given) == set(problem.fields) and all(reference.parameter(p) is not None for p in problem.parameters)


def reference_left(problem: Problem, constants: Mapping[str, Any]) -> list[Left]:
    """What the reference leaves of each term, and how much it may. constants: `noise` among them is that of data."""
    terms = {n: t for c in problem.constraints.values() for n, t in zip(c.term_names, c.terms, strict=True)}
    found = []
    for residual in reference_residuals(problem):
        columns = problem.constraints[residual.constraint].columns
        noise = float(constants.get("noise", 0.0)) if columns else 0.0
        if noise > 0:
            spread = max(float(np.std(column.values)) for column in columns.values())
            found.append(Left(residual.term, residual.rms, NOISE_ROOM * noise * max(spread, 1.0), residual.where))
            continue
        value = residual.max * _per_size(residual)
        found.append(Left(residual.term, value, _limit(problem, terms[residual.term].residual), residual.where))
    return found


def _per_size(residual: TermResidual) -> float:
    return residual.relative / residual.rms if residual.relative is not None and residual.rms > 0 else 1.0


def _limit(problem: Problem, residual: sympy.Expr) -> float:
    if is_closed(problem):
        return CLOSED_LIMIT
    assert problem.reference is not None
    if residual.has(sympy.Derivative):
        return GRIDDED_LIMIT
    return max(CLOSED_LIMIT, REFERENCE_LIMIT * problem.reference.error)


def _left_faults(left: list[Left], where: str = "") -> Iterator[str]:
    for term in left:
        if not term.value <= term.limit:
            place = ", ".join(f"{name} = {value:.3g}" for name, value in term.where.items())
            yield (
                f"{term.term!r}: {where}the reference leaves {term.value:.1e} of it at {place}, where {term.limit:.0e} is "
                f"allowed; equation and reference do not belong together. phi.manufactured derives sources from a solution."
            )


def _constant_faults(make: Callable[..., Problem], problem: Problem, constants: Mapping[str, Any]) -> Iterator[str]:
    """Of constants that cannot be set, that change nothing, or that the reference does not follow."""
    for name, value in constants.items():
        other = _another(value)
        if other is None:
            continue
        changed = {**constants, name: other}
        try:
            made = make(**changed)
        except Exception as error:
            cause = error.__cause__ or error
            if isinstance(cause, DeclarationError) or not isinstance(cause, ValueError):
                yield (
                    f"the constant {name!r} cannot be {other}: {error} Declare the problem for any value, or raise "
                    f"ValueError with those that it takes."
                )
            continue
        if made.fingerprint == problem.fingerprint:
            yield f"the constant {name!r} changes nothing of the problem; use it, or leave it out."
        elif made.reference is not None:
            yield from _left_faults(reference_left(made, changed), f"with {name}={other} ")


def _another(value: Any) -> Any:
    """A value near by of the same kind; None where none can be guessed."""
    if isinstance(value, bool | str) or value is None:
        return None
    if isinstance(value, int):
        return value + 1
    if isinstance(value, tuple | list):
        first = _another(value[0]) if value else None
        return None if first is None else type(value)([first, *value[1:]])
    return 1.25 * float(value) if value else 0.01


def _remarks(info: Any) -> Iterator[str]:
    if isinstance(info, Info) and info.published is None:
        yield "no published error is known: INFO.published=(error, source)."
    if isinstance(info, Info) and info.classical is None:
        yield "no classical solver stands beside it: INFO.classical=(error, CPU seconds, method)."
