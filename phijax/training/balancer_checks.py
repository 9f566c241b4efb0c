"""What a balancer of the user's own must give, known from traces: nothing is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from phijax._numbers import is_whole
from phijax.training.state import trainable
from phijax.training.step import Program

_METHODS = ("initialize", "diagnostics", "update", "weights", "combine")
_INITIALIZE = "initialize(terms=()) -> BalancerState(weights, memory)"
_UPDATE = "update(state, losses, diagnostics, *, key, step) -> state, in jax.numpy"


def check_own_balancer(program: Program, state: Any, model_state: Any, batch: Any) -> None:
    """ValueError, in the balancer's own terms, where one that is not ours cannot weigh the terms of the program.

    state: the balancer's at the start. batch: of the shapes of a batch.
    """
    balancer, terms = program.balancer, program.terms
    if type(balancer).__module__.split(".")[0] == "phijax":
        return
    who = type(balancer).__name__
    _check_weights(
        who, _traced(who, f"weights(state) -> {{term: scalar}}, and {_INITIALIZE}", balancer.weights, state), terms
    )
    zeros = {term: jnp.zeros(()) for term in terms}
    if balancer.every:
        params, rest = trainable(model_state)
        key = jax.random.key(0)

        def updated(state: Any, params: Any, batch: Any, step: Any) -> Any:
            losses, rows = program.diagnosed(rest, batch, key)
            found = balancer.diagnostics(params, losses=losses, residuals=rows)
            return balancer.update(state, zeros, found, key=key, step=step)

        new = _traced(who, _UPDATE, updated, state, params, batch, jnp.int32(0))
        if _form(new) != _form(state):
            raise ValueError(
                f"{who}.update gives another state than {who}.initialize: {_shown(new)} in place of {_shown(state)}; keep "
                f"its structure and shapes, as by state._replace(weights=...)."
            )
    total = _traced(who, "combine(state, losses) -> a scalar", balancer.combine, state, zeros)
    if jnp.shape(total) != ():
        raise ValueError(f"{who}.combine gives an array of shape {jnp.shape(total)}; the total loss is a scalar.")


def check_parts(balancer: Any) -> None:
    """TypeError for a missing method, ValueError for a wrong `every`, before anything is asked of it."""
    who = type(balancer).__name__
    missing = [name for name in (*_METHODS, "every", "refresh") if not hasattr(balancer, name)]
    if missing:
        raise TypeError(
            f"balancer {who} has no {missing[0]!r}; a balancer has the methods {', '.join(_METHODS)} and the numbers "
            f"every and refresh: derive it from phi.LossBalancer."
        )
    if not is_whole(balancer.every, least=0):
        raise ValueError(
            f"balancer {who} has every={balancer.every!r}; it must be a whole number of steps, 0 for no update at all."
        )


def initialized(balancer: Any, *terms: Any) -> Any:
    """The balancer's state at the start."""
    try:
        return balancer.initialize(*terms)
    except ValueError:
        raise
    except Exception as error:  # whatever a user's code raises
        raise _failed(type(balancer).__name__, _INITIALIZE, error) from error


def _check_weights(who: str, weights: Any, terms: Sequence[str]) -> None:
    if not isinstance(weights, dict) or set(weights) != set(terms):
        given = ", ".join(map(repr, weights)) if isinstance(weights, dict) else type(weights).__name__
        raise ValueError(
            f"{who}.initialize(terms) gives weights for {given or 'nothing'}, and the loss terms are "
            f"{', '.join(map(repr, terms))}: a weight for each, by name."
        )
    for term, weight in weights.items():
        if jnp.shape(weight) != ():
            raise ValueError(f"{who}: the weight of {term!r} has shape {jnp.shape(weight)}; a weight is a scalar.")


def _traced(who: str, needs: str, function: Callable, *arguments: Any) -> Any:
    try:
        return jax.eval_shape(function, *arguments)
    except ValueError as error:
        raise ValueError(f"balancer {who}: {error}") from error
    except Exception as error:  # whatever a user's code raises
        raise _failed(who, needs, error) from error


def _failed(who: str, needs: str, error: Exception) -> ValueError:
    first = str(error).strip().split("\n", 1)[0].rstrip(".")
    return ValueError(f"balancer {who} fails: {type(error).__name__}: {first}. It needs {needs}.")


def _form(tree: Any) -> Any:
    leaves, structure = jax.tree.flatten(tree)
    return structure, [jnp.shape(leaf) for leaf in leaves]


def _shown(tree: Any) -> str:
    shapes = {jax.tree_util.keystr(path): jnp.shape(leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}
    return ", ".join(f"{path} {shape}" for path, shape in shapes.items()) or type(tree).__name__
