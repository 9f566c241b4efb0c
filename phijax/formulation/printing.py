"""A problem as the mathematics it stands for, in text and in LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy

from phijax.formulation.constraint import Constraint, Term
from phijax.symbolic import Parameter, text

if TYPE_CHECKING:
    from phijax.formulation.problem import Problem


def as_text(problem: Problem) -> str:
    """One line a constraint: name, equations, region."""
    names = [
        name for constraint in problem.constraints.values() for name in (constraint.term_names or (constraint.name,))
    ]
    width = max((len(name) for name in names), default=0)
    lines = [f"{problem.name} on {problem.domain}", f"  unknown: {_unknowns(problem)}"]
    for constraint in problem.constraints.values():
        place = "" if constraint.on_domain else f"    on {constraint.region}"
        place += "    (exact)" if constraint.exact else ""
        if constraint.kind == "free":
            lines.append(f"  {constraint.name:<{width}}  no condition{place}")
        for name, term in zip(constraint.term_names, constraint.terms, strict=True):
            lines.append(f"  {name:<{width}}  {equation_text(term)}{place}")
    return "\n".join(lines)


def _unknowns(problem: Problem) -> str:
    fields = [str(field) + (" (complex)" if field.func.is_complex_field else "") for field in problem.fields.values()]
    return ", ".join([*fields, *(_parameter(p) for p in problem.parameters.values())]) or "none"


def _parameter(parameter: Parameter) -> str:
    limits = " > 0" if parameter.positive_only else ""
    limits = f" in {parameter.bounds}" if parameter.bounds is not None else limits
    return f"{parameter.name}{limits} (from {parameter.initial:g})"


def equation_text(term: Term) -> str:
    """`left = right`, as it was written."""
    return text(term.written) if isinstance(term.written, sympy.Equality) else f"{text(term.residual)} = 0"


def as_latex(problem: Problem) -> str:
    """An aligned display for notebooks, one line an equation."""
    rows = [row for constraint in problem.constraints.values() for row in _latex_rows(constraint)]
    body = r" \\ ".join(rows)
    return rf"$\begin{{aligned}} {body} \end{{aligned}}$"


def _latex_rows(constraint: Constraint) -> list[str]:
    where = rf"\text{{ on }} {constraint.region.latex()}"
    if constraint.kind == "free":
        return [rf"\text{{{_escaped(constraint.name)}:}}\quad & \text{{no condition}} & {where}"]
    rows = []
    for name, term in zip(constraint.term_names, constraint.terms, strict=True):
        written = (
            term.written if isinstance(term.written, sympy.Equality) else sympy.Eq(term.residual, 0, evaluate=False)
        )
        rows.append(rf"\text{{{_escaped(name)}:}}\quad & {sympy.latex(written)} & {where}")
    return rows


def _escaped(name: str) -> str:
    return name.replace("_", r"\_")
