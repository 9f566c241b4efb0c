"""Points and weights by rule, from the number of unknowns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from phijax.balancing import Static
from phijax.choice.choice import Choice
from phijax.choice.sizes import response, term_sizes
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
    # Curvature finds conditions all around a steady state by itself: with weight one Kovasznay's flow is five times nearer,
    # and L-BFGS on Poisson's equation on a line after 500 steps fifteen times.
    # Of narrow passages it finds them late: four disks in a square and a cylinder in a channel kept, with weight one, the
    # solution of the equation alone for hundreds of steps.
    steady = all(kind_of(symbol) != "time" for symbol in problem.domain.coordinates)
    weight, why = SOFT_WEIGHT, ""
    if steady and by_curvature:
        weight = max(1.0, float(f"{_weight_on_shape(problem, chosen.scales or {}):.2g}"))
        why = ": so much more does an error inside a shape leave in the equations"
    soft = {name: weight for name, constraint in problem.trained.items() if not is_interior(constraint)}
    soft = {} if len(soft) == len(problem.trained) or weight == 1.0 else soft
    sizes = term_sizes(problem, chosen.scales or {})
    if sizes and max(sizes.values()) > APART * min(sizes.values()):
        whole, weight = max((chosen.scales or {}).values(), default=1.0), SOFT_WEIGHT
        soft = dict.fromkeys(soft, weight)
        factors = {
            name: float(f"{soft.get(name.split('/')[0], 1.0) * (whole / size) ** 2:.3g}")
            for name, size in sizes.items()
        }
        shown = ", ".join(f"{name} {size:.1e}" for name, size in sizes.items())
        said = f"terms are of very different size as declared ({shown}), so each is weighted as if it were of size one"
        return chosen.because(
            f"{said}, conditions {weight:g} times more" if soft else said, balancer=Static(soft | factors)
        )
    if not soft:
        return replace(chosen, balancer=Static())
    return chosen.because(f"weight {weight:g} for conditions, 1 for equations{why}", balancer=Static(soft))


def _weight_on_shape(problem: Problem, scales: Mapping[str, float]) -> float:
    """The weight at which errors in the conditions and errors inside, of one size, are of one loss; 1 on boxes."""
    left, whole = response(problem, scales), max(scales.values(), default=1.0)
    return 1.0 if left is None else (left / whole) ** 2


def interior_rows(problem: Problem) -> int:
    """Residuals of all equations at one point each, at least 1; a complex one is two."""
    inside = [constraint for constraint in problem.trained.values() if is_interior(constraint)]
    terms = [term for constraint in inside for term in constraint.terms]
    return sum(2 if is_complex(normalize(term.residual)) else 1 for term in terms) or 1


def is_interior(constraint: Constraint) -> bool:
    """Whether the constraint is an equation on a full-dimensional region."""
    return constraint.kind == "equation" and constraint.region.dimension == len(constraint.region.coordinates)
