"""DataModule: who gives the Trainer its source of batches."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from jaxtyping import PRNGKeyArray

from phijax.sampling.samplers import Sampler
from phijax.sampling.source import NamedBatchSource


@runtime_checkable
class DataModule(Protocol):
    """One hook: the source of the named batches, drawn from a key.

    A source is a `NamedBatchSource`, or any jittable `source(step) -> {name: batch}` that is a pure function of the
    key and the step. In full: `return NamedBatchSource.from_pools(self.pools, self.batch_sizes, key, names=batch_keys)`.
    """

    def train_batch_source(
        self, batch_keys: Sequence[str], key: PRNGKeyArray
    ) -> Callable[[Any], Mapping[str, Any]]: ...


@dataclass(frozen=True)
class SamplerDataModule:
    """Samplers and numbers of points by name; what `compile` makes out of a problem.

    Raises ValueError for a batch that no sampler has the name of.
    """

    samplers: Mapping[str, Sampler]
    sizes: Mapping[str, int]

    def train_batch_source(self, batch_keys: Sequence[str], key: PRNGKeyArray) -> NamedBatchSource:
        """The source of `batch_keys`, in this order."""
        for name in batch_keys:
            if name not in self.samplers:
                close = difflib.get_close_matches(name, list(self.samplers), n=1, cutoff=0.5)
                known = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(map(repr, self.samplers))}."
                raise ValueError(f"no sampler is named {name!r}, which the objective reads; {known}")
        sizes = {name: self.sizes[name] for name in batch_keys if name in self.sizes}
        return NamedBatchSource({name: self.samplers[name] for name in batch_keys}, sizes, key)
