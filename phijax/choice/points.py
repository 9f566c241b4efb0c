"""Points and weights by rule, from the number of unknowns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from phijax.balancing import Static
from phijax.choice.choice import Choice
from phijax.choice.sizes import term_sizes
from phijax.formulation import Constraint, Problem
from phijax.lowering.normalize import normalize
from phijax.lowering.residual import is_complex
from phijax.symbolic import kind_of

SOFT_WEIGHT = 100.0
APART = 100.0  # largest over smallest size of a term from which units, not the mathematics, set the weights


def with_counts(chosen: Choice, problem: Problem, asked: Any, interior: int, faces: int, why: str = "") -> Choice:
    """So many points for each equation and each condition, those that were asked for before others."""
    trained = problem.trained
    if asked is not None and not isinstance(asked, Mapping):
        return replace(chosen, points=dict.fromkeys(trained, asked))
    counts = {name: (interior if is_interior(constraint) else faces) for name, constraint in trained.items()}
    why = f"{why}{interior} points inside, {faces} on each boundary"
    return chosen.because(why, points={**counts, **dict(asked or {})})


def with_weights(chosen: Choice, problem: Problem, by_curvature: bool) -> Choice:
    """Fixed weights, larger for conditions than for equations, of terms brought to one size where units part them.

    by_curvature: whether the run ends with steps that go by more than the gradient of the step.
    """
    soft = {name: SOFT_WEIGHT for name, constraint in problem.trained.items() if not is_interior(constraint)}
    # Curvature finds conditions all around a steady state by itself: with weight one Kovasznay's flow is five times nearer,
    # and L-BFGS on Poisson's equation on a line after 500 steps fifteen times.
    steady = all(kind_of(symbol) != "time" for symbol in problem.domain.coordinates)
    soft = {} if len(soft) == len(problem.trained) or (steady and by_curvature) else soft
    sizes = term_sizes(problem, chosen.scales or {})
    if sizes and max(sizes.values()) > APART * min(sizes.values()):
        whole = max((chosen.scales or {}).values(), default=1.0)
        factors = {
            name: float(f"{soft.get(name.split('/')[0], 1.0) * (whole / size) ** 2:.3g}")
            for name, size in sizes.items()
        }
        shown = ", ".join(f"{name} {size:.1e}" for name, size in sizes.items())
        why = f"terms are of very different size as declared ({shown}), so each is weighted as if it were of size one"
        return chosen.because(
            f"{why}, conditions {SOFT_WEIGHT:g} times more" if soft else why, balancer=Static(soft | factors)
        )
    if not soft:
        return replace(chosen, balancer=Static())
    return chosen.because(f"weight {SOFT_WEIGHT:g} for conditions, 1 for equations", balancer=Static(soft))


def interior_rows(problem: Problem) -> int:
    """Residuals of all equations at one point each, at least 1; a complex one is two."""
    inside = [constraint for constraint in problem.trained.values() if is_interior(constraint)]
    terms = [term for constraint in inside for term in constraint.terms]
    return sum(2 if is_complex(normalize(term.residual)) else 1 for term in terms) or 1


def is_interior(constraint: Constraint) -> bool:
    """Whether the constraint is an equation on a full-dimensional region."""
    return constraint.kind == "equation" and constraint.region.dimension == len(constraint.region.coordinates)
