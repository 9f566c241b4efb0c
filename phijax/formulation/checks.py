"""Declaration checks: everything that can be known to be wrong before any JAX work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from phijax.formulation.boundary_checks import clash_faults, clash_warnings, coverage_warnings, seam_warnings
from phijax.formulation.constraint import Constraint, Term
from phijax.formulation.exact_checks import exact_faults
from phijax.formulation.exact_kinks import kink_warnings
from phijax.formulation.faults import Fault
from phijax.formulation.initial_checks import initial_faults
from phijax.formulation.numeric import reaches_beyond
from phijax.formulation.patterns import field_nodes
from phijax.formulation.term_checks import term_faults
from phijax.geometry import PointCloud
from phijax.symbolic import Parameter

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem


def check(problem: Problem) -> list[Fault]:
    """Every fault of a problem whose constraints could be read."""
    faults = [
        *_same_names(problem),
        *(fault for c in problem.constraints.values() for term in c.terms for fault in term_faults(problem, c, term)),
        *_empty_regions(problem),
        *initial_faults(problem),
    ]
    strange = {fault.constraint for fault in faults if fault.constraint is not None}
    if any(fault.constraint is None for fault in faults):
        return faults  # names that mean two things
    faults += exact_faults(problem, strange | {c.name for c in problem.constraints.values() if c.region.faults})
    return faults or list(clash_faults(problem))


def warn(problem: Problem) -> list[Fault]:
    """What is legal but often not meant."""
    return [*coverage_warnings(problem), *clash_warnings(problem), *seam_warnings(problem), *kink_warnings(problem)]


def _same_names(problem: Problem) -> Iterator[Fault]:
    """Two different things of one name: fields over other coordinates, parameters of other settings, or a mixture."""
    seen: dict[str, tuple[str, object]] = {symbol.name: ("coordinate", symbol) for symbol in problem.domain.coordinates}
    things = [("field", node.func, node.name) for term in _terms(problem) for node in field_nodes(term.residual)]
    things += [("parameter", p, p.name) for term in _terms(problem) for p in term.residual.atoms(Parameter)]
    told: set[str] = set()
    for what, thing, name in things:
        kind, other = seen.setdefault(name, (what, thing))
        if other != thing and name not in told:
            told.add(name)
            mixture = f"a {kind} and a {what}" if kind != what else f"two different {what}s"
            yield Fault(None, f"{name!r} names {mixture}; make each once and use that one everywhere, or rename one.")


def _terms(problem: Problem) -> Iterator[Term]:
    return (term for constraint in problem.constraints.values() for term in constraint.terms)


def _empty_regions(problem: Problem) -> Iterator[Fault]:
    for constraint in problem.constraints.values():
        region = constraint.region
        if region.faults:
            continue  # told by the region itself
        if region.empty:
            yield Fault(constraint.name, f"its region {region} is empty; no point can be drawn from it.")
            continue
        for symbol, (low, high) in region.bounds.items():
            if symbol in problem.domain.bounds and reaches_beyond((low, high), problem.domain.bounds[symbol]):
                least, most = problem.domain.bounds[symbol]
                yield Fault(
                    constraint.name,
                    f"its region reaches outside the domain: {symbol.name} runs over [{low:g}, {high:g}], and the domain "
                    f"over [{least:g}, {most:g}].",
                )
                break
        else:
            yield from _strays(problem, constraint)


def _strays(problem: Problem, constraint: Constraint) -> Iterator[Fault]:
    """Measured points that are in a hole of the domain, or beyond its curved edge by more than a hundredth of its size."""
    known = {symbol: factor for factor in constraint.region.factors for symbol in factor.coordinates}
    for factor in problem.domain.factors:
        (cloud, *others) = {known[symbol] for symbol in factor.coordinates if symbol in known} or {None}
        if others or not isinstance(cloud, PointCloud) or not set(factor.coordinates) <= set(cloud.coordinates):
            continue
        points: Any = {symbol.name: cloud.columns[symbol] for symbol in factor.coordinates}
        size = max(high - low for low, high in factor.bounds.values())
        out = np.flatnonzero(~np.asarray(factor.inside(points, 0.0)))
        beyond = (
            out[~np.asarray(factor.inside({n: c[out] for n, c in points.items()}, 1e-2 * size))] if len(out) else out
        )
        if len(beyond):
            place = ", ".join(f"{name} = {column[beyond[0]]:.4g}" for name, column in points.items())
            yield Fault(
                constraint.name,
                f"{len(beyond)} of its {len(cloud)} points lie outside the domain, such as {place}; leave them out, or mend "
                f"the units or the domain.",
            )
