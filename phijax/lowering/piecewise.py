"""Piecewise expressions whose gradients stay finite: a branch that is not taken is evaluated where it is harmless."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy

from phijax.lowering.environment import Environment
from phijax.lowering.normalize import Jet, jet_of
from phijax.symbolic import Quadrature

# Values tried, in turn, for the leaves of a branch that is not taken.
HARMLESS = (0.6180339887, 1.4142135623, -0.5772156649, 3.1415926535, 0.1, -2.7182818284, 17.3, 1.0, 0.0)


def emit_piecewise(node: sympy.Piecewise, emit: Callable) -> Callable[[Environment], Any]:
    """A chain of `where`, from the last branch to the first; NaN where no condition holds, as in sympy.

    `where` alone would multiply an infinite slope of the other branch by zero: the leaves of each branch are therefore
    replaced by a constant wherever the branch is not taken.
    """
    branches = [(_guarded(expression, emit), emit(condition)) for expression, condition in node.args]

    def select(env: Environment) -> Any:
        result: Any = jnp.nan
        conditions = [condition(env) for _, condition in branches]
        free = jnp.asarray(True)
        taken = []
        for condition in conditions:
            taken.append(free & condition)
            free = free & ~jnp.asarray(condition)
        for (branch, _), here in reversed(list(zip(branches, taken, strict=True))):
            result = jnp.where(here, branch(env, here), result)
        return result

    return select


def _leaves(expression: sympy.Expr) -> dict[Jet | sympy.Basic, sympy.Basic]:
    """Fields' derivatives, integrals, and the symbols outside of both, by the name under which they are replaced."""
    found: dict[Jet | sympy.Basic, sympy.Basic] = {}

    def visit(node: sympy.Basic) -> None:
        jet = jet_of(node)
        if jet is not None:
            found.setdefault(jet, node)
        elif isinstance(node, sympy.Symbol | Quadrature):
            found.setdefault(node, node)
        else:
            for arg in node.args:
                visit(arg)

    visit(expression)
    return found


def _guarded(expression: sympy.Expr, emit: Callable) -> Callable[[Environment, Any], Any]:
    branch = emit(expression)
    if expression.is_number or isinstance(expression, sympy.Symbol):
        return lambda env, here: branch(env)
    leaf_of = {leaf: emit(node) for leaf, node in _leaves(expression).items()}
    harmless = _harmless(branch, list(leaf_of))

    def evaluate(env: Environment, here: Any) -> Any:
        leaves = {leaf: value(env) for leaf, value in leaf_of.items()}
        return branch(env.replace({leaf: jnp.where(here, value, harmless) for leaf, value in leaves.items()}))

    return evaluate


def _harmless(branch: Callable, leaves: list) -> float:
    """A value for every leaf at which the branch and its slopes are finite."""

    def along(value: Any) -> Any:
        env = Environment({}, {}, {}).replace(dict.fromkeys(leaves, value))
        return jnp.real(jnp.asarray(branch(env) * (1.0 + 0 * value)))

    for candidate in HARMLESS:
        value, slope = jax.jvp(along, (jnp.asarray(candidate),), (jnp.ones(()),))
        if np.isfinite(value) and np.isfinite(slope):
            return candidate
    return HARMLESS[0]
