"""Run settings of the command line as arguments of `choose` and `solve`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from phijax._numbers import is_whole
from phijax.balancing import Causal, balancer_from_config
from phijax.choice import choose
from phijax.cli.errors import UsageError
from phijax.formulation import Problem, evolution_of
from phijax.formulation.faults import nearest
from phijax.networks import NetworkSpec, network_from_config
from phijax.optimizers import optimizer_from_config
from phijax.training.causal import CausalWeights
from phijax.training.stages import Plan


def given_settings(problem: Problem, settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Keyword arguments for what was given: points, network, optimizer, balancer, causal, max_steps, slabs, rows.

    An option of a network or optimizer changes what `choose` would take, unless `kind` names another.
    """
    given: dict[str, Any] = {}
    if "points" in settings:
        given["points"] = _points(problem, settings["points"])
    if "network" in settings:
        given["network"] = _network(problem, settings["network"])
    if "optimizer" in settings:
        given["optimizer"] = {"kind": "GaussNewton", **settings["optimizer"]}  # as a table, which the run records
        _read("optimizer", given["optimizer"], lambda table: Plan.of(optimizer_from_config(table)))
    if "balancer" in settings:
        given["balancer"] = _balancer(settings["balancer"])
    run = dict(settings.get("run", {}))
    if "method" in run:
        given["method"] = run.pop("method")
    if "causal" in run or "causal" in settings:
        given["causal"] = _causal(problem, run.pop("causal", True), settings.get("causal", {}))
    for name, count in run.items():
        if not is_whole(count) and (name, count) != ("rows", "tune"):
            raise UsageError(f"run.{name}={count!r} must be a whole number of at least 1.")
        given[name] = count
    if given.get("slabs", 1) != 1:
        try:
            evolution_of(problem)
        except ValueError as error:
            raise UsageError(f"run.slabs: {error}") from error
    return given


def _points(problem: Problem, points: Mapping[str, Any]) -> dict[str, int]:
    for name, count in points.items():
        if name not in problem.trained:
            why = "is exact or free and has no points" if name in problem.constraints else "is no constraint"
            raise UsageError(f"points.{name}: {name!r} {why}; {nearest(name, problem.trained)}.")
        if isinstance(count, Mapping) and all(map(is_whole, count.values())):
            continue
        if not is_whole(count):
            raise UsageError(f"points.{name}={count!r} must be a whole number of at least 1.")
    return dict(points)


def _network(problem: Problem, options: Mapping[str, Any]) -> NetworkSpec:
    base = choose(problem).network.to_config()
    same = options.get("kind", base["kind"]) == base["kind"]
    return _read("network", {**(base if same else {}), **options}, network_from_config)


def _balancer(options: Mapping[str, Any]) -> Any:
    if "kind" not in options:
        raise UsageError(f"balancer.{next(iter(options))} needs balancer.kind=..., which says whose option it is.")
    return _read("balancer", options, balancer_from_config)


def _causal(problem: Problem, wanted: Any, options: Mapping[str, Any]) -> Causal | None:
    if not isinstance(wanted, bool):
        raise UsageError(
            f"run.causal={wanted!r} must be true or false; its options are causal.chunks and causal.tolerance."
        )
    if not wanted:
        if options:
            raise UsageError(f"run.causal=false, but causal.{next(iter(options))} is set; leave one of them out.")
        return None
    known = [option.name for option in fields(Causal)]
    for name in options:
        if name not in known:
            raise UsageError(f"causal.{name}: {name!r} is no option of causal weights; {nearest(name, known)}.")
    causal = _read("causal", options, lambda table: Causal(**table))
    try:
        CausalWeights.bound(causal, problem)
    except ValueError as error:
        raise UsageError(f"run.causal: {error}") from error
    return causal


def _read(group: str, options: Mapping[str, Any], read: Any) -> Any:
    try:
        return read(options)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{group}: {error}") from error
