"""Natural sizes of fields, read off the conditions and data that prescribe them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phijax.formulation.numeric import largest, sample_domain
from phijax.formulation.patterns import value_condition
from phijax.symbolic import Field

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem


def value_scale(problem: Problem, field: Field) -> float:
    """Largest absolute value that a condition or a measurement gives the field; 1 where none does."""
    points = sample_domain(problem.domain, 256)
    sizes = [0.0]
    for constraint in problem.constraints.values():
        for term in constraint.terms:
            found = value_condition(term)
            if found is not None and found[0] == field:
                sizes.append(largest(found[1].subs(constraint.region.fixed), points)[0])
        if constraint.kind == "data" and field.name in constraint.columns:
            sizes.append(float(np.abs(constraint.columns[field.name].values).max()))
    size = max(sizes)
    return size if np.isfinite(size) and size > 0 else 1.0
