"""What a sampler gives, known from traces of it, or from one draw. Where it fails, a sentence in its own terms."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from phijax._numbers import is_whole
from phijax.sampling.stateful import begin, proposed

_STATELESS = "sample(key, n), in jax.numpy and with randomness from the key alone"
_STATEFUL = "init(key) and sample(state, key, n) -> (state, points), in jax.numpy"


def probe(who: str, sampler: Any, n: int, key: Any) -> Any:
    """Shapes of the `n` points of a sampler. ValueError that begins with `who`, where it cannot give them."""
    if isinstance(sampler, type):
        raise ValueError(f"{who} is the class {sampler.__name__}; make one of it: {sampler.__name__}().")
    if not callable(getattr(sampler, "sample", None)):
        raise ValueError(f"{who} is {sampler!r}; a sampler has a method sample(key, n) that returns Points.")
    if not hasattr(sampler, "init"):
        return _traced(who, _STATELESS, lambda key: sampler.sample(key, n), key)
    if not is_whole(getattr(sampler, "period", 1)):
        raise ValueError(f"{who} has period={sampler.period!r}; it must be a whole number of steps, at least 1.")
    if hasattr(sampler, "pool") and not hasattr(sampler, "update"):
        raise ValueError(f"{who} has a pool, but no update(state, residuals) that is told the residuals there.")
    first = _traced(who, _STATEFUL, lambda key: begin(sampler, key, n), key)
    second = _traced(who, _STATEFUL, lambda key, own: begin(sampler, key, n, own), key, first.own)
    if _form(first.own) != _form(second.own):
        raise ValueError(
            f"{who} has a state of {_form(first.own)[1]} after one refresh and of {_form(second.own)[1]} after two; "
            f"it must keep its structure and shapes."
        )
    return first.points


def probe_pool(who: str, sampler: Any, n: int, key: Any) -> Any:
    """Shapes of the points on which a sampler is told the residuals; those of `probe` where it has no pool of its own."""
    if not hasattr(sampler, "pool"):
        return probe(who, sampler, n, key)
    return _traced(who, "pool(state, key, n) -> (state, points)", lambda key: proposed(sampler, key, n), key)


def drawn(sampler: Any, n: int, key: Any) -> Any:
    """The first `n` points of a sampler that `probe` has passed."""
    draw = (
        (lambda key: begin(sampler, key, n).points) if hasattr(sampler, "init") else lambda key: sampler.sample(key, n)
    )
    return jax.jit(draw)(key)


def is_own(sampler: Any) -> bool:
    """Whether a sampler is of the user's own, or holds its points from one that is."""
    while type(sampler).__module__.split(".")[0] == "phijax":
        if not hasattr(sampler, "sampler"):
            return False
        sampler = sampler.sampler
    return True


def check_pure(who: str, sampler: Any, n: int, key: Any) -> None:
    """ValueError where two traces hold different numbers: a generator other than the key would be frozen in, unseeded."""
    draw = (lambda key: begin(sampler, key, n)) if hasattr(sampler, "init") else (lambda key: sampler.sample(key, n))
    one, other = jax.make_jaxpr(draw)(key), jax.make_jaxpr(lambda key: draw(key))(key)
    same = len(one.consts) == len(other.consts) and all(map(_equal, one.consts, other.consts))
    if not same or str(one) != str(other):
        raise ValueError(
            f"{who} gives other points for the same key: draw them from the key alone, as by jax.random.uniform(key, (n,))."
        )


def _equal(one: Any, other: Any) -> bool:
    return np.array_equal(np.asarray(one), np.asarray(other), equal_nan=np.asarray(one).dtype.kind in "fc")


def _traced(who: str, needs: str, function: Any, *arguments: Any) -> Any:
    try:
        return jax.eval_shape(function, *arguments)
    except ValueError as error:
        raise ValueError(f"{who}: {error}") from error
    except Exception as error:  # whatever a user's code raises
        first = str(error).strip().split("\n", 1)[0].rstrip(".")
        raise ValueError(f"{who} fails: {type(error).__name__}: {first}. It needs {needs}.") from error


def _form(tree: Any) -> tuple[Any, str]:
    """Structure and shapes, to be compared and to be shown."""
    leaves, structure = jax.tree.flatten(tree)
    shapes = [np.shape(leaf) for leaf in leaves]
    return (structure, str(shapes)), f"shapes {', '.join(map(str, shapes)) or 'none'}"
