"""Compile: from a declared problem to a module and a data module, which `Trainer.fit` trains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import equinox as eqx
import jax
import numpy as np
import sympy

from phijax._numbers import is_positive, is_whole
from phijax._precision import ambient_precision, check_precision, precision_scope
from phijax.balancing import Causal
from phijax.formulation import Constraint, Problem, value_scale
from phijax.formulation.faults import nearest
from phijax.geometry import PointCloud
from phijax.lowering import Expressions, Layout, constraint_expressions
from phijax.networks import MLP, NetworkSpec
from phijax.sampling import ByPiece, Held, PoolSampler, RegionSampler, SamplerDataModule
from phijax.sampling.points import Points
from phijax.training.causal import CausalWeights
from phijax.training.identity import settings_of
from phijax.training.module import Block, Module, Objective
from phijax.training.sampler_checks import check_sampler
from phijax.training.slabs import SlabCourse, Slabs
from phijax.training.tuning import tuned_rows

INTERIOR_POINTS = {1: 512, 2: 2048}
MOST_INTERIOR_POINTS = 4096
BOUNDARY_POINTS = 256
MOST_DATA_POINTS = 10_000
# Bytes of channels that are carried forward for the rows taken at once, and how few and how many these may be. A fixed
# figure and not the machine's own, so that it changes no bits; `phijax bench speed` shows its effect.
CACHE = 2**20
ROWS_AT_ONCE = (64, 256)
# With so many channels that fewer points fit, a second sum is not worth what it takes to compile.
FEWEST_FOR_TWO_SUMS = 16
# Coordinates up to which every second derivative is taken; and the random directions that stand for them above.
EXACT_UP_TO, DIRECTIONS = 256, 32


@dataclass(frozen=True)
class Compiled:
    """A problem as a module and a data module. precision: of its points and residuals, None for the Trainer's."""

    problem: Problem
    layout: Layout
    module: Module
    datamodule: SamplerDataModule
    precision: str | None

    @property
    def points(self) -> dict[str, int]:
        """Number of points of each constraint in a batch."""
        return dict(self.datamodule.sizes)

    @property
    def rows(self) -> dict[str, int]:
        """How many points of each constraint have their gradient taken together on a CPU."""
        return {name: block.rows_at_once or 0 for name, block in self.module.objective.blocks.items()}

    def expressions(self, expressions: Mapping[str, sympy.Expr]) -> Expressions:
        """Further expressions of the fields, lowered over the same networks."""
        return Expressions(self.layout, expressions, split_complex=False)


def compile(
    problem: Problem,
    *,
    network: Any = None,
    points: int | Mapping[str, int | Mapping[str, int]] | None = None,
    samplers: Mapping[str, Any] | None = None,
    method: str = "sobol",
    hold: int | None = None,
    precision: str | None = None,
    scales: Mapping[str, float] | None = None,
    rows: int | Mapping[str, int] | Literal["tune"] | None = None,
    slabs: int | Slabs | None = None,
    directions: int | None = None,
    causal: bool | Causal | None = None,
) -> Compiled:
    """Lowers a problem to residual functions and named samplers in declaration order.

    network: a specification such as MLP(width=64, depth=4), any `(key, inputs, outputs) -> callable`, or a mapping of
    field names to these. points: per constraint, or one number for all; of a boundary also by piece, as in
    {"walls": {"inlet": 50, "hole": 200}}. samplers: own samplers by constraint.
    scales: sizes of the networks' outputs by field; by default what conditions and data prescribe.
    method: how points are drawn, as of `RegionSampler`. hold: keep them for so many steps; None draws new ones each step.
    rows: points whose gradient is taken together on a CPU, in all or by constraint; "tune" measures which are the fastest
    here, None goes by the number of derivatives and the network. `Compiled.rows` says what it is.
    slabs: cuts the time of an evolution into so many parts, solved one after the other; None takes it as a whole.
    directions: how many random directions of a step stand for a second-order operator with more derivatives than that,
    in optax steps; least squares and evaluation take all. None takes all up to 256 coordinates, and 32 above.
    causal: weighs points inside by their time, so that what is later counts once what is earlier is solved: True, or
    Causal(chunks=16, tolerance=1.0). Losses are then means with these weights.
    Raises ValueError for unknown names, LoweringError for an expression that JAX has no counterpart of.
    """
    check_problem(problem)
    if precision is not None:
        check_precision(precision)
    if network is not None:
        check_network(network, problem)
    if hold is not None and not is_whole(hold):
        raise ValueError(
            f"hold={hold!r} must be a whole number of steps, at least 1, or None for new points every step."
        )
    _check_rows(rows, problem)
    causal = Causal.of(causal)
    weighting = None if causal is None else CausalWeights.bound(causal, problem)
    if directions is not None and not is_whole(directions):
        raise ValueError(
            f"directions={directions!r} must be a whole number, at least 1, or None to go by the dimension."
        )
    if directions is None and len(problem.domain.coordinates) > EXACT_UP_TO:
        directions = DIRECTIONS
    if not problem.trained:
        raise ValueError(f"{problem.name!r} has no constraint to train on; add an equation, a condition or phi.data.")
    with precision_scope(precision or "float32"):
        networks = MLP(width=64, depth=4) if network is None else network
        sizes_of_fields = _scales(scales, problem)
        layout = Layout(problem, networks, sizes_of_fields, directions)
        blocks, chosen = {}, {}
        counts, samplers = _by_piece(problem, points, dict(samplers or {}), method)
        _check_names("samplers", samplers, problem)
        for name, constraint in problem.trained.items():
            expressions = constraint_expressions(layout, constraint)
            given = rows.get(name) if isinstance(rows, Mapping) else None if rows == "tune" else rows
            fit = _rows_that_fit(expressions, layout, precision)
            by_rule = 2 ** round(float(np.clip(np.log2(fit), *np.log2(ROWS_AT_ONCE))))
            blocks[name] = Block(expressions.pointwise, given or by_rule, sums=2 if fit >= FEWEST_FOR_TWO_SUMS else 1)
            chosen[name] = samplers[name] if name in samplers else _sampler(constraint, method, hold)
        sizes = _sizes(problem, counts, chosen)
        for name in samplers:
            check_sampler(problem.constraints[name], chosen[name], sizes[name])
        course = None if slabs is None else SlabCourse(layout, Slabs.of(slabs))
    if course is not None:
        blocks = {name: course.block(name, block) for name, block in blocks.items()}
    factory = layout.initial if course is None else course.initial
    module = Module(
        factory,
        Objective(blocks),
        precision,
        layout.parameter_values,
        course,
        weighting,
        problem.fingerprint,
        settings_of(networks, sizes_of_fields),
    )
    datamodule = SamplerDataModule(chosen, sizes)
    if rows == "tune":
        with precision_scope(precision or ambient_precision()):
            tuned = tuned_rows(module, datamodule)
        blocks = {
            name: replace(block, rows_at_once=tuned.get(name, block.rows_at_once)) for name, block in blocks.items()
        }
        module = replace(module, objective=Objective(blocks))
    return Compiled(problem, layout, module, datamodule, precision)


def _check_rows(rows: Any, problem: Problem) -> None:
    if isinstance(rows, Mapping):
        _check_names("rows", rows, problem)
    for count in rows.values() if isinstance(rows, Mapping) else [rows]:
        if count is not None and not is_whole(count) and rows != "tune":
            raise ValueError(
                f'rows={count!r} must be a whole number of points, at least 1, "tune" to measure, or None to go by the '
                f"network."
            )


def _rows_that_fit(expressions: Expressions, layout: Layout, precision: str | None) -> float:
    """How many points' channels the cache holds."""
    model = eqx.filter_eval_shape(layout.initial, jax.random.key(0))
    width = 8 if precision == "float64" else 4
    held = 0
    for group, network in model.networks.items():
        units = sum(leaf.shape[-1] for leaf in jax.tree.leaves(network) if getattr(leaf, "ndim", 0) > 1)
        held += expressions.channels(group) * units * width
    return CACHE / max(held, 1)


def check_problem(problem: Any) -> None:
    """TypeError for what is no Problem, such as the name of one."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem={problem!r} is no Problem; make one by phi.Problem(domain, constraints).")


def check_network(network: Any, problem: Problem) -> None:
    """TypeError for what makes no network, ValueError for fields that the problem has not."""
    if isinstance(network, Mapping):
        for name, own in network.items():
            if name not in problem.fields:
                raise ValueError(f"network names {name!r}, which is no field; {nearest(name, problem.fields)}.")
            check_network(own, problem)
    elif isinstance(network, type) and issubclass(network, NetworkSpec):
        raise TypeError(f"network={network.__name__} is the class; write phi.{network.__name__}(), with its options.")
    elif not callable(network):
        raise TypeError(
            f"network={network!r} makes no network; give phi.MLP(width=64, depth=4), a function of (key, inputs, outputs), "
            f"or a mapping of fields to these."
        )


def _scales(scales: Any, problem: Problem) -> dict[str, float] | None:
    """Those that are given, and for other fields what conditions and data prescribe."""
    if scales is None:
        return None
    if not isinstance(scales, Mapping):
        raise TypeError(f"scales={scales!r} is no mapping of fields to sizes; write scales={{'u': 2.0}}.")
    for name, size in scales.items():
        if name not in problem.fields:
            raise ValueError(f"scales names {name!r}, which is no field; {nearest(name, problem.fields)}.")
        if not is_positive(size):
            raise ValueError(f"scales[{name!r}] is {size!r}; the size of a field is a positive number.")
    return {
        name: float(scales[name]) if name in scales else value_scale(problem, f) for name, f in problem.fields.items()
    }


def _sampler(constraint: Constraint, method: str, hold: int | None) -> Any:
    if constraint.columns:
        cloud = constraint.region
        assert isinstance(cloud, PointCloud), "observed values come with their points"
        coordinates = {symbol.name: column for symbol, column in cloud.columns.items()}
        normals = {symbol.name: column for symbol, column in (cloud.normals or {}).items()}
        values: dict[str, Any] = {name: column.values for name, column in constraint.columns.items()}
        for name, column in {**coordinates, **values}.items():
            largest = np.max(np.abs(column), initial=0.0)
            if largest > np.finfo(ambient_precision()).max:
                raise ValueError(
                    f"{constraint.name!r}: the column {name!r} holds {largest:.3g}, which {ambient_precision()} has no "
                    'number for; compile with precision="float64", or scale the data.'
                )
        return PoolSampler(Points(coordinates, normals or None, values=values))
    sampler = RegionSampler(constraint.region, method=method)
    return sampler if hold is None else Held(sampler, every=hold)


def _by_piece(problem: Problem, points: Any, samplers: dict[str, Any], method: str) -> tuple[Any, dict[str, Any]]:
    """Counts by piece, as a sampler and the number of its points."""
    if not isinstance(points, Mapping) or not any(isinstance(count, Mapping) for count in points.values()):
        return points, samplers
    _check_names("points", points, problem)
    counts = {}
    for name, count in points.items():
        counts[name] = count
        if isinstance(count, Mapping):
            try:
                samplers[name] = ByPiece(problem.constraints[name].region, count, method)
            except ValueError as error:
                raise ValueError(f"points[{name!r}]: {error}") from None
            counts[name] = samplers[name].size
    return counts, samplers


def _check_names(what: str, given: Mapping[str, Any], problem: Problem) -> None:
    for name in given:
        if name in problem.constraints and name not in problem.trained:
            raise ValueError(f"{what} names {name!r}, which is exact or free and has no sampler; leave it out.")
        if name not in problem.trained:
            raise ValueError(f"{what} names {name!r}, which is no constraint; {nearest(name, problem.trained)}.")


def _sizes(problem: Problem, points: int | Mapping[str, int] | None, samplers: Mapping[str, Any]) -> dict[str, int]:
    asked: dict[str, int] = dict(points) if isinstance(points, Mapping) else {}
    _check_names("points", asked, problem)
    for name, count in asked.items():
        if not is_whole(count):
            raise ValueError(
                f"points[{name!r}] is {count!r}; a constraint needs at least one point, as a whole number."
            )
    if points is not None and not isinstance(points, Mapping):
        if not is_whole(points):
            raise ValueError(f"points={points!r} must be a positive whole number, or a mapping of constraints to them.")
        asked = dict.fromkeys(problem.trained, points)
    asked = {name: int(count) for name, count in asked.items()}
    return {name: _size(c, asked.get(name), samplers[name]) for name, c in problem.trained.items()}


def _size(constraint: Constraint, asked: int | None, sampler: Any) -> int:
    if isinstance(sampler, PoolSampler):
        return min(sampler.size, asked or MOST_DATA_POINTS)
    varying = set().union(*(term.residual.free_symbols for term in constraint.terms)) & set(
        constraint.region.coordinates
    )
    if not varying or constraint.region.count == 1:
        return 1  # every point would say the same
    if asked is not None:
        return asked
    if constraint.region.count is not None:
        return min(constraint.region.count, MOST_DATA_POINTS)
    if constraint.region.dimension < len(constraint.region.coordinates):
        return BOUNDARY_POINTS
    return INTERIOR_POINTS.get(constraint.region.dimension, MOST_INTERIOR_POINTS)
