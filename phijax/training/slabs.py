"""SlabNetworks of time: an evolution that is solved part by part, each begun from the end of the one before it.

Nothing is compiled anew from slab to slab: which one is under way is an array of the model, and the points of the whole
time are drawn together into it. Krishnapriyan et al. 2021 ("sequence-to-sequence"); Penwarden et al. 2023.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from phijax._numbers import is_positive, is_whole
from phijax.formulation import evolution_of
from phijax.lowering import FieldModel, Layout
from phijax.networks.slabs import SlabNetworks
from phijax.sampling.points import Points
from phijax.training.module import Block, Residuals


@dataclass(frozen=True)
class Slabs:
    """How an evolution is cut into slabs of time. Its initial conditions are soft: a later slab begins elsewhere.

    count: how many, of equal length. solved: loss on new points below which a slab is left for the next one; above it
    the slab is begun anew from another network, `tries` times at most, and then the run stops.
    """

    count: int
    solved: float = 1e-3
    tries: int = 3

    def __post_init__(self) -> None:
        if not is_whole(self.count):
            raise ValueError(f"Slabs: count={self.count!r} must be a whole number of slabs, at least 1.")
        if not is_positive(self.solved):
            raise ValueError(f"Slabs: solved={self.solved!r} must be a positive loss.")
        if not is_whole(self.tries):
            raise ValueError(f"Slabs: tries={self.tries!r} must be a whole number, at least 1.")

    @classmethod
    def of(cls, slabs: Any) -> Slabs:
        """What was given, a number standing for that many slabs."""
        return slabs if isinstance(slabs, cls) else cls(slabs)


class SlabCourse:
    """What becomes of the model where a slab is over."""

    def __init__(self, layout: Layout, slabs: Slabs):
        self.layout, self.slabs = layout, slabs
        self.evolution = evolution_of(layout.problem)

    def initial(self, key: PRNGKeyArray) -> FieldModel:
        """The model before training: the first slab."""
        model = self.layout.initial(key)
        networks = {
            name: SlabNetworks.of(network, self.slabs.count, self._position(name))
            for name, network in model.networks.items()
        }
        return FieldModel(networks, model.parameters)

    def block(self, name: str, block: Block) -> Block:
        """The residuals of a constraint in the slab under way.

        What is prescribed at the start of time is at the start of a later slab what the slab before it ends with: the
        residual there is the difference of the two.
        """
        inner, initial = block.pointwise, name in self.evolution.initial

        def pointwise(model: FieldModel, point: Any, key: PRNGKeyArray | None) -> Residuals:
            index = _first(model).index
            point = self._moved(point, index)
            now = inner(_with(model, "under_way"), point, key)
            if not initial:
                return now
            before = inner(_with(model, "before"), point, None)
            return {term: value - jnp.where(index > 0, before[term], 0) for term, value in now.items()}

        return replace(block, pointwise=pointwise)

    def next(self, model: FieldModel, loss: float, key: PRNGKeyArray) -> tuple[FieldModel | None, str]:
        """The model to go on with once a slab is over, None where there is none; and a sentence.

        loss: on new points.
        """
        at = _first(model)
        index, tries, count = int(at.index), int(at.tries), self.slabs.count
        slab = f"slab {index + 1} of {count}"
        if not loss <= self.slabs.solved:
            if tries + 1 >= self.slabs.tries:
                return None, (
                    f"{slab} is not solved after {tries + 1} tries: its loss on new points is {loss:.1e}; give more "
                    f"slabs, or more steps to each"
                )
            fresh = self.layout.initial(key).networks
            networks = {name: slabs.again(fresh[name]) for name, slabs in model.networks.items()}
            return FieldModel(networks, model.parameters), f"{slab} is begun anew, its loss on new points is {loss:.1e}"
        if index + 1 == count:
            return None, f"all {count} slabs are solved"
        networks = {name: slabs.next() for name, slabs in model.networks.items()}
        return FieldModel(networks, model.parameters), f"{slab} is solved, its loss on new points is {loss:.1e}"

    def at(self, model: FieldModel, index: int) -> FieldModel:
        """The model as it is with slab `index` under way, for one that is done."""
        networks = {name: slabs.rewound(index) for name, slabs in model.networks.items()}
        return FieldModel(networks, model.parameters)

    def reached(self, model: FieldModel) -> int:
        """Number of slabs that are done or under way."""
        return int(_first(model).index) + 1

    def whereabouts(self, model: FieldModel) -> str:
        """Which slab is under way."""
        return f"in slab {self.reached(model)} of {self.slabs.count}"

    def time_of(self, index: int) -> float:
        """When slab `index` begins."""
        return self.evolution.start + index * (self.evolution.end - self.evolution.start) / self.slabs.count

    def _moved(self, point: Points, index: Array) -> Points:
        """A point of the whole time at its place in the slab."""
        name, start = self.evolution.time.name, self.evolution.start
        length = (self.evolution.end - start) / self.slabs.count
        time = start + (point.coordinates[name] - start) / self.slabs.count + index * length
        return replace(point, coordinates={**point.coordinates, name: time})

    def _position(self, group: str) -> int:
        """Which input of a group's network time is."""
        members = self.layout.groups[group]
        place = members.coordinates.index(self.evolution.time)
        return int(np.sum([embedding.size for embedding in members.embeddings[:place]], dtype=int))


def _first(model: FieldModel) -> SlabNetworks:
    """The slabs of one of the networks: all are in the same."""
    return next(iter(model.networks.values()))


def _with(model: FieldModel, part: str) -> FieldModel:
    networks: Mapping[str, Any] = {name: getattr(slabs, part) for name, slabs in model.networks.items()}
    return FieldModel(dict(networks), model.parameters)
