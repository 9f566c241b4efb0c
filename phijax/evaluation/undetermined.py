"""Unknown constants that equations and data leave open, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

from phijax.formulation import Problem

CHANGE = 0.01  # of the constant that changes most


def undetermined(problem: Problem, values: Mapping[str, float], moves: Sequence[Mapping[str, float]]) -> list[str]:
    """A sentence for each move of the constants that leaves every residual as it is.

    values: {parameter: value}. moves: {parameter: change}, of any length.
    """
    return [_sentence(problem, values, move) for move in moves]


def _sentence(problem: Problem, values: Mapping[str, float], move: Mapping[str, float]) -> str:
    sizes = {name: abs(values[name]) or 1.0 for name in move}
    first = next(iter(move))
    longest = max(abs(change) / sizes[name] for name, change in move.items())
    factor = CHANGE / longest * (1 if move[first] > 0 else -1)
    changes = [_change(name, factor * change / sizes[name], values[name] != 0) for name, change in move.items()]
    if len(move) == 1:
        open_, cure = f"parameter {first} is not determined", f"Add data that depend on {first}"
    else:
        open_, cure = (
            f"parameters {', '.join(move)} are not determined",
            "Add data that tell them apart, or give one of them",
        )
    combination = _combination(problem, *move) if len(move) == 2 else None
    reason = "" if combination is None else f"only their {combination} enters; "
    follow = "" if combination else ", with the fields following,"
    return f"{open_}: {reason}changing {' and '.join(changes)}{follow} leaves every residual as it is. {cure}."


def _change(name: str, change: float, relative: bool) -> str:
    return f"{name} by {100 * change:+.3g} %" if relative else f"{name} by {change:+.3g}"


def _combination(problem: Problem, first: str, second: str) -> str | None:
    """Of two constants, the one number of both that all equations hold, where there is one."""
    a, b, z = problem.parameters[first], problem.parameters[second], sympy.Dummy("z", positive=True)
    moves = {"product": (a * z, b / z), "ratio": (a * z, b * z), "sum": (a + z, b - z), "difference": (a + z, b + z)}
    residuals = [term.residual for constraint in problem.constraints.values() for term in constraint.terms]
    residuals = [residual for residual in residuals if residual.has(a, b)]
    for name, (moved_a, moved_b) in moves.items():
        if all(_equal(r, r.subs({a: moved_a, b: moved_b}, simultaneous=True)) for r in residuals):
            return name
    return None


def _equal(one: sympy.Expr, other: sympy.Basic) -> bool:
    return sympy.expand(one - other) == 0
