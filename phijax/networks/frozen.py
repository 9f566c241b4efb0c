"""Frozen parts: parameters that a run carries, saves and restores, and never changes."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from phijax.series import Series


class Frozen(eqx.Module):
    """A module whose parameters have zero gradient. Derivatives by its input are unchanged."""

    inner: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._stopped()(*args, **kwargs)

    def series(self, x: Series, *, key: PRNGKeyArray | None = None) -> Series:
        return self._stopped().series(x, key=key)

    def _stopped(self) -> Any:
        def stop(leaf: Any) -> Any:
            return jax.lax.stop_gradient(leaf) if eqx.is_inexact_array(leaf) else leaf

        return jax.tree.map(stop, self.inner)


def frozen(module: Any) -> Frozen:
    """`module` with its parameters held: for a part that was trained before, or drawn once at random."""
    return Frozen(module)


def trainable(tree: Any) -> Any:
    """A tree of bools, True at each floating-point array that is in no frozen part.

    For `equinox.partition` and masked optimizers: weight decay would move even a parameter of zero gradient.
    """

    def mask(node: Any) -> Any:
        if isinstance(node, Frozen):
            return jax.tree.map(lambda _: False, node)
        return eqx.is_inexact_array(node)

    return jax.tree.map(mask, tree, is_leaf=lambda node: isinstance(node, Frozen))


def count_parameters(tree: Any) -> int:
    """How many numbers training may change; those of frozen parts are not counted."""
    trained = eqx.filter(tree, trainable(tree))
    return sum(leaf.size for leaf in jax.tree.leaves(trained))
