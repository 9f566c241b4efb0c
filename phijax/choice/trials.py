"""Random features for a linear problem: which scale suits it, and whether they do at all, by trial solves.

Trials are counted and keyed by a fixed key, so that a problem has one outcome, whatever the seed and the clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from phijax._precision import precision_scope
from phijax.balancing import LossBalancer
from phijax.lowering import FieldModel
from phijax.networks import RandomFeatures
from phijax.optimizers import LeastSquaresSystem, LinearLeastSquares
from phijax.training.balancer_checks import initialized
from phijax.training.compiling import Compiled
from phijax.training.feed import as_source, unadapted
from phijax.training.state import trainable

ISOTROPIC = (0.125, 0.5, 2.0, 8.0, 32.0)
FACTOR = 2.0
MOST_TRIALS = 40
# The scale of each coordinate is searched for by itself up to this many of them.
MOST_COORDINATES = 4


@dataclass(frozen=True)
class Outcome:
    """scale: the best that was found, for each input; each: the same for each coordinate.

    relative: size of the residual on new points, as a part of that of no features. trials: how many scales were tried.
    """

    scale: float | tuple[float, ...]
    each: tuple[float, ...]
    relative: float
    trials: int


def best_scale(
    compiled: Compiled,
    balancer: LossBalancer,
    guesses: Sequence[tuple[float, ...]] = (),
    *,
    alone: bool = False,
    enough: float = 0.0,
    most: int = MOST_TRIALS,
) -> Outcome:
    """The scale with the smallest residual on new points, for networks of `RandomFeatures`.

    First one scale for all coordinates, and guesses with one for each, or these alone; then twice and half of each
    coordinate's own as long as that is better, and not `enough`. balancer: its weights at the start. most: so many trials,
    and those under way.
    """
    with precision_scope(compiled.precision or "float64"):
        trial = Trial(compiled, balancer)
        found: dict[tuple[float, ...], float] = {}

        def relative(scales: tuple[float, ...]) -> float:
            if scales not in found:
                found[scales] = trial.relative(scales)
            return found[scales]

        count = trial.coordinates
        start = [scales for scales in guesses if len(scales) == count]
        if not (alone and start):
            best = min(((scale,) * count for scale in ISOTROPIC), key=relative)
            start += [(scale,) * count for scale in (best[0] / FACTOR, best[0], best[0] * FACTOR)]
        best = min(start, key=relative)
        while 1 < count <= MOST_COORDINATES and len(found) < most and not relative(best) <= enough:
            nearest = min(_neighbours(best), key=relative)
            if relative(nearest) >= relative(best):
                break
            best = nearest
        return Outcome(trial.inputs(best), best, relative(best), len(found))


def _neighbours(scales: tuple[float, ...]) -> Iterator[tuple[float, ...]]:
    for position in range(len(scales)):
        for factor in (FACTOR, 1 / FACTOR):
            yield (*scales[:position], scales[position] * factor, *scales[position + 1 :])


class Trial:
    """Solves with random features of one count and any scales: what changes with the scale compiles nothing."""

    def __init__(self, compiled: Compiled, balancer: LossBalancer):
        self._layout = compiled.layout
        objective = compiled.module.objective
        source = as_source(compiled.datamodule.train_batch_source(objective.batch_keys, jax.random.key(0)))
        self._batch, self._new = (unadapted(source, source.init(), jnp.int32(step)) for step in (0, 1))
        model = compiled.module.factory(jax.random.key(0))
        terms = objective.terms(model, self._batch)
        self._weights = balancer.weights(initialized(balancer, terms))
        arrays, static = eqx.partition(model, eqx.is_array)
        params, rest = trainable(arrays)

        def pointwise(block: Any) -> Any:
            return lambda arrays, point: block.pointwise(eqx.combine(arrays, static), point, None)

        blocks = {name: pointwise(block) for name, block in objective.blocks.items()}
        self._system = LeastSquaresSystem(blocks, params, rest)

    @property
    def coordinates(self) -> int:
        """Number of scales: one a coordinate where all networks have the same ones, else one."""
        groups = list(self._layout.groups.values())
        same = all(group.embeddings == groups[0].embeddings for group in groups)
        return len(groups[0].embeddings) if same else 1

    def inputs(self, scales: tuple[float, ...]) -> float | tuple[float, ...]:
        """A scale for each input, from one for each coordinate; a single number where they are the same."""
        if len(set(scales)) == 1:
            return scales[0]
        embeddings = next(iter(self._layout.groups.values())).embeddings
        return tuple(s for s, embedding in zip(scales, embeddings, strict=True) for _ in range(embedding.size))

    def relative(self, scales: tuple[float, ...]) -> float:
        """Size of the residual on new points after the solve, as a part of that without features."""
        system = self._system.carrying(self._rest(self.inputs(scales)))
        zero = jnp.zeros_like(system.theta)
        solver = LinearLeastSquares()
        theta, _, _ = solver.step(system, zero, solver.init(zero), self._batch, self._weights)
        after, before = (float(jnp.sum(system.residual(t, self._new, self._weights) ** 2)) for t in (theta, zero))
        return float(np.sqrt(after / before)) if before > 0 else 0.0

    def _rest(self, scale: float | tuple[float, ...]) -> Any:
        """The frozen arrays of networks of that scale."""
        keys = jax.random.split(jax.random.key(0), max(len(self._layout.groups), 1))
        networks = {
            name: _scaled(self._layout.network_of(name), scale)(key, group.input_size, group.output_size)
            for key, (name, group) in zip(keys, self._layout.groups.items(), strict=True)
        }
        return trainable(eqx.filter(FieldModel(networks, {}), eqx.is_array))[1]


def _scaled(features: Any, scale: float | tuple[float, ...]) -> RandomFeatures:
    return replace(features, scale=scale)
