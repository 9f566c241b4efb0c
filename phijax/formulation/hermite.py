"""Cardinal polynomials between two ends: each meets one condition on values and slopes there, and is zero on the others."""

from __future__ import annotations

from collections.abc import Sequence

import sympy

Node = tuple[sympy.Expr, int]  # an end, and 0 for the value there, 1 for the slope


def cardinals(symbol: sympy.Symbol, low: sympy.Expr, high: sympy.Expr, nodes: Sequence[Node]) -> dict[Node, sympy.Expr]:
    """{node: the polynomial of least degree that is one on it and zero on the other nodes}, in `symbol` from low to high.

    In Bernstein's basis, whose members are products of the distances to the ends: what is to vanish at an end does so
    to the last bit in any precision. Raises ValueError for slopes at both ends alone, which leave a constant open.
    """
    length, degree = high - low, len(nodes) - 1
    z = sympy.Dummy("z")
    unit = [sympy.binomial(degree, k) * z**k * (1 - z) ** (degree - k) for k in range(degree + 1)]
    ends = {low: 0, high: 1}
    met = sympy.Matrix([[member.diff(z, order).subs(z, ends[end]) for member in unit] for end, order in nodes])
    if met.det() == 0:
        raise ValueError(f"the conditions {list(nodes)} do not settle a polynomial of degree {degree}.")
    inverse, found = met.inv(), {}
    for column, (end, order) in enumerate(nodes):
        terms = [
            weight
            * sympy.binomial(degree, k)
            * ((symbol - low) / length) ** k
            * ((high - symbol) / length) ** (degree - k)
            for k, weight in enumerate(inverse[:, column])
        ]
        blend = sympy.Add(*terms)
        constant = sympy.expand(blend)
        found[end, order] = length**order * (constant if constant.is_number else blend)
    return found
