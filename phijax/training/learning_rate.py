"""The learning rate of an optax optimizer's last step, where it can be found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import optax

_SCHEDULE = "scale_by_learning_rate.<locals>.<lambda>"
_CONSTANT = "scale.<locals>.update_fn"


def learning_rate(optimizer: Any, opt_state: Any) -> float | None:
    """The rate that the step before `opt_state` used; None where none, or more than one, is found.

    `optax.inject_hyperparams` and `scale_by_zoom_linesearch` keep it in their state. A plain schedule or number lives
    in the closure of optax's update function alone, and is read from there.
    """
    kept = [*_kept(opt_state)]
    if kept:
        return float(kept[0]) if len(kept) == 1 else None
    functions = [*_functions(optimizer.update, set())]
    schedules = [f for f in functions if f.__qualname__ == _SCHEDULE]
    if schedules:
        counts = [node.count for node in _nodes(opt_state, optax.ScaleByScheduleState)]
        if len(schedules) != 1 or len(counts) != 1 or int(counts[0]) < 1:
            return None
        return abs(float(schedules[0](counts[0] - 1)))
    sizes = [size for f in functions if f.__qualname__ == _CONSTANT for size in _cells(f) if isinstance(size, float)]
    return -sizes[0] if len(sizes) == 1 and sizes[0] < 0 else None


def _nodes(tree: Any, kind: Any) -> list[Any]:
    nodes = jax.tree.leaves(tree, is_leaf=lambda node: isinstance(node, kind))
    return [node for node in nodes if isinstance(node, kind)]


def _kept(opt_state: Any) -> Iterator[Any]:
    def keeps(node: Any) -> bool:
        return hasattr(node, "hyperparams") or isinstance(node, optax.ScaleByZoomLinesearchState)

    for node in jax.tree.leaves(opt_state, is_leaf=keeps):
        if isinstance(node, optax.ScaleByZoomLinesearchState):
            yield node.learning_rate
        elif hasattr(node, "hyperparams") and "learning_rate" in node.hyperparams:
            yield node.hyperparams["learning_rate"]


def _cells(function: Callable) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # a cell that is still empty
            continue
        yield from content if isinstance(content, (tuple, list)) else (content,)


def _functions(function: Callable, seen: set[int]) -> Iterator[Any]:
    """The function and those that it closes over, at any depth."""
    if id(function) in seen or not hasattr(function, "__closure__"):
        return
    seen.add(id(function))
    yield function
    for content in _cells(function):
        yield from _functions(content, seen)
