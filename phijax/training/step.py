"""One first-order step, as a pure function of the train state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from phijax._devices import ONE_DEVICE, Devices
from phijax.balancing import LossBalancer
from phijax.balancing.residuals import RowwiseResiduals
from phijax.sampling.points import Points
from phijax.training.dtypes import like
from phijax.training.feed import Feed, unadapted, unseen
from phijax.training.gradient import WeightedGradient
from phijax.training.keys import BALANCER_MODEL, BALANCER_UPDATE, RESAMPLING_MODEL
from phijax.training.lbfgs import Watched, judged
from phijax.training.module import Objective, Weighting, full_name, rows
from phijax.training.state import TrainState, trainable


class Report(NamedTuple):
    """What a step saw: raw losses, weights and their sum, and named unknowns, at the parameters it began with."""

    losses: dict[str, Array]
    weights: dict[str, Array]
    total: Array
    parameters: dict[str, Array]


class Sources(NamedTuple):
    """Batch sources, passed to the compiled functions as arguments so that no pool becomes a constant of them."""

    train: Any
    diagnostics: Any
    diagnostics_state: Any


@dataclass(frozen=True)
class Program:
    """What every step of a run is made of.

    static: what of the model is no array. terms: loss terms in declaration order.
    unknowns: model -> {name: scalar} to be reported. weighting: of the points of a batch, by the model.
    devices: among which the rows of every batch are shared out, as they are by the objective.
    """

    objective: Objective
    terms: tuple[str, ...]
    static: Any
    balancer: Any
    unknowns: Callable[[Any], Mapping[str, Array]]
    weighting: Weighting | None = None
    devices: Devices = ONE_DEVICE

    def model(self, params: Any, rest: Any) -> Any:
        """The model that the objective is taken of."""
        return eqx.combine(params, rest, self.static)

    @property
    def on_one_device(self) -> Program:
        """The same without others: what the host looks into by itself."""
        return replace(self, objective=self.objective.on(ONE_DEVICE), devices=ONE_DEVICE)

    def magnitude(self, model: Any, key: PRNGKeyArray | None) -> Callable[[str, Any], Array]:
        """(constraint, batch) -> (n,) root of the sum of its squared residuals, for adaptive samplers."""

        def residuals(name: str, batch: Any) -> Array:
            terms = self.objective.blocks[name](model, batch, key)
            return jnp.sqrt(sum(jnp.abs(value) ** 2 for value in terms.values()))

        return residuals

    def weighed(self, model: Any, batch: Any, key: PRNGKeyArray | None) -> Any:
        """The batch with the weights that its points have in a step from `model`."""
        return batch if self.weighting is None else self.weighting(self.objective, model, batch, key)

    def report(self, model: Any, losses: dict[str, Array], balancer_state: Any) -> Report:
        """The report of a step."""
        weights = {term: jnp.asarray(weight) for term, weight in self.balancer.weights(balancer_state).items()}
        total = self.balancer.combine(balancer_state, losses)
        parameters = {name: jnp.asarray(value) for name, value in self.unknowns(model).items()}
        return Report(losses, weights, total, parameters)

    def new_loss(self, sources: Sources, state: TrainState) -> Array:
        """The weighted loss on points that no step has seen and no model steers."""
        model = self.model(*trainable(state.model_state))
        batch = unseen(sources.train, state.sampler_state, state.step)
        return self.balancer.combine(state.balancer_state, self.objective.losses(model, batch))

    def blank_report(self, model_state: Any) -> Report:
        """Zeros of the shapes of a report, in the ambient precision."""
        zeros = {term: jnp.zeros(()) for term in self.terms}
        unknowns = jax.eval_shape(lambda arrays: self.unknowns(eqx.combine(arrays, self.static)), model_state)
        parameters = {name: jnp.zeros(value.shape, value.dtype) for name, value in unknowns.items()}
        return Report(zeros, zeros, jnp.zeros(()), parameters)

    @property
    def in_pieces(self) -> bool:
        """Whether gradients are taken over pieces of a batch: where the total is the weighted sum, on a CPU or by shares."""
        linear = getattr(type(self.balancer), "combine", None) is LossBalancer.combine
        asked = any(block.rows_at_once for block in self.objective.blocks.values())
        return linear and (self.devices.count > 1 or (asked and jax.default_backend() == "cpu"))

    def rebalance(
        self, sources: Sources, state: TrainState, losses: Callable[[], dict[str, Array]], key: PRNGKeyArray | None
    ) -> Any:
        """Balancer state of this step: refreshed where the step divides by `balancer.every`, and then from its losses.

        Diagnostics are taken on a batch of the balancer's own stream, whatever the training points are. `key` says
        whether the model is run stochastically.
        """
        every = self.balancer.every
        if not every:
            return state.balancer_state
        params, rest = trainable(state.model_state)
        balancer_key = state.balancer_key

        def refreshed() -> Any:
            at = state.step if self.balancer.refresh else jnp.int32(0)
            batch = unadapted(sources.diagnostics, sources.diagnostics_state, at)
            use = None if key is None else jax.random.fold_in(_fold(balancer_key, BALANCER_MODEL), state.step)
            losses_of, rows_of = self.diagnosed(rest, batch, use)
            diagnostics = self.balancer.diagnostics(params, losses=losses_of, residuals=rows_of)
            update_key = jax.random.fold_in(_fold(balancer_key, BALANCER_UPDATE), state.step)
            new = self.balancer.update(state.balancer_state, losses(), diagnostics, key=update_key, step=state.step)
            return jax.tree.map(like, new, state.balancer_state)

        return jax.lax.cond(state.step % every == 0, refreshed, lambda: state.balancer_state)

    def diagnosed(self, rest: Any, batch: Any, key: PRNGKeyArray | None) -> tuple[Callable, RowwiseResiduals]:
        """Losses and residuals on a batch, as functions of the parameters: what a balancer's diagnostics are given."""
        return lambda p: self.objective.losses(self.model(p, rest), batch, key), self._rowwise(rest, batch, key)

    def _rowwise(self, rest: Any, batch: Any, key: PRNGKeyArray | None) -> RowwiseResiduals:
        """Residuals whose rows can be differentiated one by one, scaled as they enter the loss."""

        def of_block(name: str) -> Any:
            def function(params: Any, row: tuple) -> dict[str, Array]:
                point, use = row
                named = self.objective.blocks[name].pointwise(self.model(params, rest), point, use)
                scale = 1.0
                if isinstance(point, Points) and point.weights is not None:
                    scale = jnp.sqrt(point.weights)
                return {full_name(name, term): scale * value for term, value in named.items()}

            return function

        names = self.objective.batch_keys
        keys = {name: None if key is None else jax.random.split(key, rows(batch[name])) for name in names}
        return RowwiseResiduals(
            {name: of_block(name) for name in names},
            {name: (batch[name], keys[name]) for name in names},
            self.devices,
        )


def _fold(key: PRNGKeyArray, constant: int) -> PRNGKeyArray:
    return jax.random.fold_in(key, jnp.uint32(constant))


def drawn(
    program: Program, feed: Feed, sources: Sources, state: TrainState, start: Any, key: PRNGKeyArray | None
) -> tuple[Any, Any]:
    """(sampler state, batch) of the step that begins with `state`."""
    model = program.model(*trainable(state.model_state))
    magnitude = program.magnitude(model, None if key is None else _fold(key, RESAMPLING_MODEL))
    return feed.draw(sources.train, state.sampler_state, state.step, start, magnitude)


def step_inputs(
    program: Program, feed: Feed, sources: Sources, state: TrainState, start: Any
) -> tuple[Any, PRNGKeyArray]:
    """(batch, key of the model) of the first-order step that begins with `state`."""
    use = jax.random.split(state.rng_key)[1]
    batch = drawn(program, feed, sources, state, start, use)[1]
    return program.weighed(program.model(*trainable(state.model_state)), batch, use), use


def _gradient(
    program: Program, sources: Sources, state: TrainState, batch: Any, key: PRNGKeyArray
) -> tuple[Any, dict[str, Array], Any, Callable[[Any], Array]]:
    """(balancer state, losses, gradient of the total, the total as a function of the parameters) of one step."""
    params, rest = trainable(state.model_state)

    def model(p: Any) -> Any:
        return program.model(p, rest)

    def losses_of(p: Any) -> dict[str, Array]:
        return program.objective.losses(model(p), batch, key)

    if program.in_pieces:
        balancer_state = program.rebalance(sources, state, lambda: losses_of(params), key)
        weights = jax.lax.stop_gradient(program.balancer.weights(balancer_state))
        gradient = WeightedGradient(program.objective, model, batch, key, weights, program.devices)
        return balancer_state, *gradient(params), gradient.total

    losses, pullback = jax.vjp(losses_of, params)
    balancer_state = program.rebalance(sources, state, lambda: losses, key)

    def total_of(losses: dict[str, Array]) -> Array:
        return program.balancer.combine(balancer_state, losses)

    return balancer_state, losses, pullback(jax.grad(total_of)(losses))[0], lambda p: total_of(losses_of(p))


RUN, NONFINITE, STALLED = 0, 1, 2


def first_order_step(
    program: Program, optimizer: optax.GradientTransformation, feed: Feed
) -> Callable[[Sources, TrainState, Int[Array, ""]], tuple[TrainState, Report, Int[Array, ""]]]:
    """step(sources, state, start of the stage) -> (state, report, RUN, NONFINITE or STALLED).

    A step that meets a number that is not finite leaves the state as it was.
    """
    optimizer = optax.with_extra_args_support(optimizer)

    def step(sources: Sources, state: TrainState, start: Array) -> tuple[TrainState, Report, Array]:
        params, rest = trainable(state.model_state)
        rng_key, use = jax.random.split(state.rng_key)
        sampler_state, batch = drawn(program, feed, sources, state, start, use)
        batch = program.weighed(program.model(params, rest), batch, use)

        balancer_state, losses, grad, total_of = _gradient(program, sources, state, batch, use)
        total = program.balancer.combine(balancer_state, losses)
        # JAX's gradient of a real loss is the conjugate of the direction of steepest ascent.
        grad = jax.tree.map(jnp.conj, grad)
        opt_state, stalled = state.opt_state, jnp.zeros((), bool)
        if isinstance(opt_state, Watched):
            same = ~feed.begins(state.step, start) & same_weights(program, state.balancer_state, balancer_state)
            same &= program.weighting is None  # else the loss is another one at every step
            opt_state, stalled = judged(optimizer, opt_state, params, total, same)
        updates, opt_state = optimizer.update(grad, opt_state, params, value=total, grad=grad, value_fn=total_of)
        new_params = optax.apply_updates(params, updates)
        if isinstance(state.opt_state, Watched):
            opt_state = Watched(opt_state, total)
        new = state._replace(
            model_state=eqx.combine(new_params, rest),
            opt_state=opt_state,
            balancer_state=balancer_state,
            sampler_state=sampler_state,
            rng_key=rng_key,
            step=state.step + 1,
        )
        finite = all_finite((losses, total, new_params))
        kept = jax.tree.map(lambda a, b: jnp.where(finite, like(a, b), b), new, state)
        halt = jnp.where(finite, jnp.where(stalled, STALLED, RUN), NONFINITE).astype(jnp.int32)
        return kept, program.report(program.model(params, rest), losses, balancer_state), halt

    return step


def same_weights(program: Program, before: Any, after: Any) -> Bool[Array, ""]:
    """Whether two balancer states give the terms the same weights."""
    old, new = program.balancer.weights(before), program.balancer.weights(after)
    return jnp.all(jnp.stack([jnp.asarray(old[term] == new[term]) for term in program.terms]))


def all_finite(tree: Any) -> Bool[Array, ""]:
    """Whether every number of `tree` is finite."""
    checks = [jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(tree)]
    return jnp.all(jnp.stack(checks))
