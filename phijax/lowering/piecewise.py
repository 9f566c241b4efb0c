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


def _leaves(expression: sympy.Expr) -> tuple[dict[Jet, tuple], list[sympy.Symbol]]:
    """Fields' derivatives and free symbols outside of them."""
    jets: dict[Jet, tuple] = {}
    symbols: dict[sympy.Symbol, None] = {}

    def visit(node: sympy.Basic) -> None:
        jet = jet_of(node)
        if jet is not None:
            jets.setdefault(jet, jet.args)
        elif isinstance(node, sympy.Symbol):
            symbols.setdefault(node)
        else:
            for arg in node.args:
                visit(arg)

    visit(expression)
    return jets, list(symbols)


def _guarded(expression: sympy.Expr, emit: Callable) -> Callable[[Environment, Any], Any]:
    branch = emit(expression)
    if expression.is_number or expression.has(sympy.Integral) or isinstance(expression, sympy.Symbol):
        return lambda env, here: branch(env)
    jets, symbols = _leaves(expression)
    arguments = {jet: tuple(emit(arg) for arg in args) for jet, args in jets.items()}
    harmless = _harmless(branch, [*jets, *symbols])

    def evaluate(env: Environment, here: Any) -> Any:
        leaves: dict[Any, Any] = {jet: env.jet(jet, arguments[jet]) for jet in jets}
        leaves.update({symbol: env.symbol(symbol) for symbol in symbols if symbol in env.symbols})
        return branch(env.replace({leaf: jnp.where(here, value, harmless) for leaf, value in leaves.items()}))

    return evaluate


def _harmless(branch: Callable, leaves: list) -> float:
    """A value for every leaf at which the branch and its slopes are finite."""

    def along(value: Any) -> Any:
        env = Environment({}, {}, {}).replace(dict.fromkeys(leaves, value))
        return jnp.real(jnp.asarray(branch(env) * (1.0 + 0 * value)))

    for candidate in HARMLESS:
        try:
            value, slope = jax.jvp(along, (jnp.asarray(candidate),), (jnp.ones(()),))
        except (KeyError, TypeError):
            return candidate  # an integral inside: its own symbols are bound elsewhere
        if np.isfinite(value) and np.isfinite(slope):
            return candidate
    return HARMLESS[0]
