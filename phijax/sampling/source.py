"""NamedBatchSource: the batch of a step as a function of the sampling key and the step (contracts R5-R8)."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from phijax.sampling.probe import probe
from phijax.sampling.samplers import Held, PoolSampler, Sampler, ambient
from phijax.sampling.stateful import advance, begin

Batch = dict[str, Any]
Residuals = Callable[[str, Any], Float[Array, "n"]]
_BEFORE_ALL_STEPS = 2**32 - 1  # folded in for the initial states; no step gets there


class NamedBatchSource(eqx.Module):
    """Named samplers with their numbers of points, and the key of the stream they draw from.

    The key of a step is `fold_in(key, step)`, split over the samplers in declaration order: adding or reordering
    samplers changes their keys. A tree of arrays, so that it can be an argument of a compiled function: a new seed then
    needs no new compilation.
    Raises ValueError, naming the sampler, for sizes that are missing, unknown or not positive, and for a sampler that
    does not give what it was asked for.
    """

    names: tuple[str, ...] = eqx.field(static=True)
    samplers: tuple[Sampler, ...]
    sizes: tuple[int, ...] = eqx.field(static=True)
    key: PRNGKeyArray

    def __init__(self, samplers: Mapping[str, Sampler], sizes: Mapping[str, int], key: PRNGKeyArray):
        for name in sizes:
            if name not in samplers:
                raise ValueError(f"sizes name {name!r}, for which there is no sampler; {_nearest(name, samplers)}")
        self.names = tuple(samplers)
        self.samplers = tuple(map(_on_device, samplers.values()))
        self.sizes = tuple(_size(name, sizes) for name in samplers)
        self.key = key
        for name, sampler, size in zip(self.names, self.samplers, self.sizes, strict=True):
            _check_sampler(name, sampler, size, key)

    @classmethod
    def from_pools(
        cls,
        pools: Mapping[str, Any],
        batch_sizes: Mapping[str, int],
        key: PRNGKeyArray,
        names: Sequence[str] | None = None,
    ) -> NamedBatchSource:
        """A source of finite pools, which may be mixed with samplers: {name: pool or sampler}.

        A pool is `Points`, a mapping of arrays or any tree of arrays with one leading axis; see `PoolSampler`.
        names: which of them, and in which order; default: all.
        """
        chosen = tuple(pools) if names is None else tuple(names)
        for name in chosen:
            if name not in pools:
                raise ValueError(f"there is no pool for {name!r}; {_nearest(name, pools)}")
        samplers = {name: _as_sampler(name, pools[name]) for name in chosen}
        return cls(samplers, {name: size for name, size in batch_sizes.items() if name in samplers}, key)

    @property
    def stateful(self) -> bool:
        """Whether some sampler has state, so that batches come from `draw` alone."""
        return any(map(_has_state, self.samplers))

    def __call__(self, step: Any) -> Batch:
        """The batch of `step`, which may be traced. ValueError where a sampler has state."""
        for name, sampler in zip(self.names, self.samplers, strict=True):
            if _has_state(sampler):
                raise ValueError(f"{name!r} has a sampler with state: use `draw`, which takes and gives the state.")
        return self._stateless(step)

    def init(self) -> dict[str, Any]:
        """The state of the samplers that have one, by name. Its points are valid before the first refresh, too."""
        arrays, static = eqx.partition(self, eqx.is_array)
        return jax.jit(lambda arrays: eqx.combine(arrays, static)._begin())(arrays) if self.stateful else {}

    def _begin(self) -> dict[str, Any]:
        keys = self._keys(_BEFORE_ALL_STEPS)
        rows = zip(self.names, self.samplers, self.sizes, strict=True)
        return {n: begin(s, keys[i], size) for i, (n, s, size) in enumerate(rows) if _has_state(s)}

    def draw(self, state: Mapping[str, Any], step: Any, residuals: Residuals | None) -> tuple[dict[str, Any], Batch]:
        """The samplers' states after `step`, and its batch: `({}, source(step))` where none has state.

        residuals: (name, points) -> (n,), magnitudes of the named residual with the current model. Adaptive samplers
        read it, at their refreshes.
        """
        keys, batch, after = self._keys(step), self._stateless(step), dict(state)
        for i, (name, sampler, size) in enumerate(zip(self.names, self.samplers, self.sizes, strict=True)):
            if _has_state(sampler):
                magnitude = None if residuals is None else lambda points, name=name: residuals(name, points)
                after[name], batch[name] = advance(sampler, state[name], keys[i], step, size, magnitude)
        return after, {name: batch[name] for name in self.names}

    def unseen(self, step: Any) -> Batch:
        """The batch that samplers begun at `step` give: no step before has seen it, whatever was held or adapted."""
        keys, rows = self._keys(step), zip(self.names, self.samplers, self.sizes, strict=True)
        return {
            name: begin(sampler, keys[i], size).points if _has_state(sampler) else sampler.sample(keys[i], size)
            for i, (name, sampler, size) in enumerate(rows)
        }

    def _stateless(self, step: Any) -> Batch:
        batch, keys = {}, self._keys(step)
        for i, (name, sampler, size) in enumerate(zip(self.names, self.samplers, self.sizes, strict=True)):
            if isinstance(sampler, Held):
                batch[name] = sampler.sample(self._keys(sampler.every * (step // sampler.every))[i], size)
            elif not _has_state(sampler):
                batch[name] = sampler.sample(keys[i], size)
        return batch

    def _keys(self, step: Any) -> PRNGKeyArray:
        """One key a sampler."""
        return jax.random.split(jax.random.fold_in(self.key, step), len(self.samplers))


def _on_device(sampler: Any) -> Any:
    """NumPy tables as arrays of JAX in the ambient precision: arguments of compiled code, where they'd be constants."""
    return jax.tree.map(lambda leaf: ambient(leaf) if isinstance(leaf, np.ndarray) else leaf, sampler)


def _has_state(sampler: Any) -> bool:
    return hasattr(sampler, "init")


def _as_sampler(name: str, pool: Any) -> Sampler:
    if hasattr(pool, "sample") and callable(pool.sample):
        return pool
    try:
        return PoolSampler(pool)
    except ValueError as problem:
        raise ValueError(f"{name!r}: {problem}") from None


def _size(name: str, sizes: Mapping[str, int]) -> int:
    if name not in sizes:
        raise ValueError(f"{name!r} has a sampler but no number of points; give sizes={{{name!r}: ...}}.")
    size = sizes[name]
    if not isinstance(size, numbers.Integral) or isinstance(size, bool) or size < 1:
        raise ValueError(f"{name!r}: {size!r} points were asked for; give a whole number of at least 1.")
    return int(size)


def _check_sampler(name: str, sampler: Any, size: int, key: PRNGKeyArray) -> None:
    """Traced once, so that a sampler that refuses its size, or misses it, is answered here and by name."""
    points = probe(f"the sampler of {name!r}", sampler, size, key)
    counts = sorted({leaf.shape[0] if leaf.shape else 0 for leaf in jax.tree.leaves(points)})
    if counts != [size]:
        found = " and ".join(map(str, counts)) or "no"
        raise ValueError(f"{name!r}: its sampler was asked for {size} points and gave {found}.")


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(map(repr, known))}."
