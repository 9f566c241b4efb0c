"""`phijax show`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from phijax.choice import Choice, choose, parameter_count
from phijax.choice.features import OPEN
from phijax.cli.errors import Exit
from phijax.cli.run_settings import given_settings
from phijax.cli.settings import parse
from phijax.cli.source import find
from phijax.cli.tables import table
from phijax.formulation import Problem
from phijax.lowering import Layout, constraint_expressions
from phijax.lowering.derivatives import derivatives, forward_of_gradient, taylor_mode
from phijax.lowering.group import GroupFunction
from phijax.optimizers import LeastSquaresOptimizer
from phijax.series import Channel, Channels, Combination, carries_series
from phijax.solve import compile_choice


def show_verb(target: str, assignments: list[str]) -> int:
    """Prints the problem, and what `run` would do with it."""
    constants, settings = parse(assignments)
    problem = find(target).problem(constants)
    choice = choose(problem, **given_settings(problem, settings))
    compiled = compile_choice(problem, choice)
    print(problem)
    print(f"\nfingerprint {problem.fingerprint[:12]}\n")
    print(table(_sampler_rows(problem, compiled.points, choice)))
    print()
    print(table(_derivative_rows(problem, compiled.layout)))
    print()
    print(table(_network_rows(compiled.layout, choice)))
    print()
    print("\n".join(_cost(problem, compiled.points, choice)))
    return Exit.OK


def picture_verb(target: str, assignments: list[str], out: str) -> int:
    """Draws the problem's domain and the points of its constraints; nothing is compiled."""
    constants, settings = parse(assignments)
    problem = find(target).problem(constants)
    problem.plot(out, points=given_settings(problem, settings).get("points"))
    print(Path(out) if Path(out).suffix else f"{out}.png")
    return Exit.OK


def _sampler_rows(problem: Problem, points: dict[str, int], choice: Choice) -> list[tuple[str, ...]]:
    rows = [("constraint", "points a step", "region", "drawn")]
    for name, constraint in problem.constraints.items():
        how = "follow the residual" if name in choice.adaptive else "low discrepancy"
        if constraint.kind == "free":
            how, count = "free: no condition", ""
        elif constraint.exact:
            how, count = "exact: built into the field", ""
        else:
            count = str(points[name])
            how = "measured" if constraint.columns else how
        rows.append((name, count, str(constraint.region), how))
    return rows


def _derivative_rows(problem: Problem, layout: Layout) -> list[tuple[str, ...]]:
    rows = [("constraint", "derivatives, each computed once a point", "how", "channels", "cost")]
    model = eqx.filter_eval_shape(layout.initial, jax.random.key(0))
    for name, constraint in problem.trained.items():
        for (group, arguments), wanted in constraint_expressions(layout, constraint).requests.items():
            coordinates = layout.groups[group].coordinates
            place = "" if arguments == coordinates else f" at ({', '.join(map(str, arguments))})"
            names = [_channel_name(channel, coordinates) for channel in sorted(wanted, key=_by_order)]
            network, function = model.networks[group], layout.functions[group]
            cost = f"{cost_of(function, network, wanted):.1f}"
            if carries_series(network):
                how, count = "carried through the layers", str(len(Channels.of(function.through_network(wanted))))
            else:
                at = jax.ShapeDtypeStruct((len(coordinates),), jnp.zeros(()).dtype)
                how, count = HOW[function.strategy(network, at, wanted)], ""
            beyond = sorted(function.through_network(wanted) - wanted, key=_by_order)
            if beyond:
                how += f"; exact slopes take the network's {', '.join(_channel_name(c, coordinates) for c in beyond)}"
            parts = function.parted(wanted)
            if parts.combined or parts.single:
                how += f"; second order along {function.directions} random directions a step"
            rows.append((name, f"{group}{place}: {', '.join(names)}", how, count, cost))
    return rows


HOW: dict[Any, str] = {
    derivatives: "nested forward mode",
    forward_of_gradient: "gradient's slope",
    taylor_mode: "Taylor mode",
}
COSTED_POINTS = 8


def cost_of(function: GroupFunction, network: Any, wanted: Iterable[Channel]) -> float:
    """Operations of the derivatives, in multiples of those of the values alone, as XLA counts them."""
    arrays, static = eqx.partition(network, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    size = len(function.group.coordinates)
    points = jax.ShapeDtypeStruct((COSTED_POINTS, size), jnp.zeros(()).dtype)

    def operations(wanted: Iterable[Channel]) -> float:
        def values(arrays: Any, points: Any) -> Any:
            found = jax.vmap(lambda at: function(eqx.combine(arrays, static), at, wanted))(points)
            return [found[channel] for channel in wanted]

        lowered = jax.jit(values).lower(arrays, points)
        # What nested modes have in common is removed by the compiler alone.
        analysed = lowered if carries_series(network) else lowered.compile()
        counted: Any = analysed.cost_analysis()
        return float(counted["flops"])

    return operations(list(wanted)) / operations([(0,) * size])


def _by_order(channel: Channel) -> tuple:
    if isinstance(channel, Combination):
        return (channel.order, ())
    return (sum(channel), channel[::-1])


def _channel_name(channel: Channel, coordinates: Any) -> str:
    """Such as "value", "xx", and "(xx + yy)" for what travels as a whole."""
    if isinstance(channel, Combination):
        parts = [f"{'' if w == 1 else f'{w:g} '}{_channel_name(orders, coordinates)}" for orders, w in channel.terms]
        shown = parts if len(parts) <= 4 else [*parts[:2], "...", parts[-1]]
        return f"({' + '.join(shown)})"
    letters = [symbol.name for symbol, order in zip(coordinates, channel, strict=True) for _ in range(order)]
    return ("" if all(len(name) == 1 for name in letters) else " ").join(letters) or "value"


def _network_rows(layout: Layout, choice: Choice) -> list[tuple[str, ...]]:
    rows = [("fields", "network", "inputs", "outputs")]
    for name, group in layout.groups.items():
        network = choice.network[group.fields[0].name] if isinstance(choice.network, dict) else choice.network
        rows.append((name, str(network), str(group.input_size), str(group.output_size)))
    return rows


def _cost(problem: Problem, points: dict[str, int], choice: Choice) -> Iterable[str]:
    parameters = parameter_count(problem, choice.network)
    residuals = sum(points[name] * len(c.terms) for name, c in problem.trained.items())
    yield f"{parameters} parameters to train, {residuals} residuals a step"
    if isinstance(choice.optimizer, LeastSquaresOptimizer):
        operations = residuals * parameters**2 + parameters**3 / 3
        yield f"{operations:.1e} operations a step for the normal equations"
    yield from (f"  {reason}" for reason in choice.reasons)
    if choice.method in OPEN:
        yield "  the problem is linear: random features are tried first, and take the place of this network where they do"
