"""How fast what a problem gives varies: sources, initial and boundary values, along each coordinate."""

from __future__ import annotations

import numpy as np
import sympy

from phijax.formulation import Problem, Term
from phijax.formulation.numeric import sample_domain, values
from phijax.lowering.normalize import hide_jets, normalize

POINTS = 4096


def rates(problem: Problem) -> dict[sympy.Symbol, float]:
    """Radians over half of each coordinate's range, of the term that varies fastest along it; 0 where nothing does.

    Of a term: the root mean square of the slope of its known part over that of its values.
    """
    domain = problem.domain
    found = dict.fromkeys(domain.coordinates, 0.0)
    for constraint in problem.constraints.values():
        points = sample_domain(constraint.region, POINTS)
        for known in filter(None, map(_known_part, constraint.terms)):
            if not known.free_symbols <= points.keys():
                continue
            size = _rms(known, points)
            for symbol in found.keys() & known.free_symbols:
                low, high = domain.bounds[symbol]
                rate = _rms(known.diff(symbol), points) / size * (high - low) / 2 if size > 0 else np.nan
                found[symbol] = float(np.fmax(found[symbol], rate))
    return found


def _known_part(term: Term) -> sympy.Expr | None:
    """What is left of an equation where its fields are zero; None where that is nothing."""
    hidden, jets = hide_jets(normalize(term.residual))
    left = hidden.xreplace(dict.fromkeys(jets.values(), sympy.S.Zero))
    return left if isinstance(left, sympy.Expr) and left.free_symbols else None


def _rms(expression: sympy.Expr, points: dict[sympy.Symbol, np.ndarray]) -> float:
    size = np.abs(values(expression, points))
    return float(np.sqrt(np.nanmean(size**2))) if np.isfinite(size).any() else np.nan
