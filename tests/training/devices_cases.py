"""Runs on one device and on several, for test_devices.py, in a process that has several of them.

python devices_cases.py FOLDER CASE ...     prints a line of JSON for each case: what differs
"""

import json
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from sympy import Eq, pi, sin

import phijax as phi
from phijax._devices import devices_of
from phijax._precision import precision_scope
from phijax.bench.scaling import count_step
from phijax.sampling import SamplerDataModule
from phijax.training.keys import split_root

STEPS = 100
ADAM = optax.adam(1e-3)
x, t = phi.coordinate("x"), phi.time("t")
u = phi.field("u", x, t)
SPACETIME = phi.Interval(x, -1, 1) * phi.Interval(t, 0, 1)
BURGERS = phi.Problem(
    SPACETIME,
    {
        "pde": Eq(u.diff(t) + u * u.diff(x), u.diff(x, 2) / 10),
        "start": phi.on(SPACETIME.at(t=0), Eq(u, -sin(pi * x))),
        "walls": phi.on(SPACETIME.boundary(x), Eq(u, 0)),
    },
)
POINTS = {"pde": 61, "start": 9, "walls": 7}  # none divides among two or four


class Net(eqx.Module):
    """Six tanh units: a model that compiles in no time."""

    inner: jax.Array
    shift: jax.Array
    outer: jax.Array

    def __call__(self, x):
        return jnp.sum(self.outer * jnp.tanh(self.inner * x + self.shift))


def net(key):
    return Net(*jax.random.normal(key, (3, 6)))


def equation(model, points):
    at = points.coordinates["x"]
    return jax.vmap(jax.grad(model))(at) - jnp.cos(3 * at)


def start(model, points):
    return jax.vmap(model)(points.coordinates["x"])


LINE = phi.Interval(x, 0, 1)
SIZES = {"equation": 33, "start": 4}  # one divides, the other does not
MODULE = phi.Module(net, phi.Objective.from_functions({"equation": equation, "start": start}))


def toy_data(sampler=None):
    samplers = {"equation": sampler or phi.RegionSampler(LINE), "start": phi.RegionSampler(LINE.at(x=0))}
    return SamplerDataModule(samplers, SIZES)


def adaptive(kind):
    return kind(phi.RegionSampler(LINE), period=10)


# Every balancer and every adaptive sampler is in one of them.
CASES = {
    "GradNorm": {"balancer": phi.GradNorm(every=10), "sampler": adaptive(phi.ResidualAdaptive)},
    "NTK": {"balancer": phi.NTK(every=10), "sampler": adaptive(phi.ResidualRefinement)},
    "SoftAdapt": {"balancer": phi.SoftAdapt(every=10), "sampler": adaptive(phi.RetainResampleRelease)},
    "ReLoBRaLo": {"balancer": phi.ReLoBRaLo(every=10), "sampler": adaptive(phi.ImportanceSampler)},
    "float32": {"precision": "float32"},
    "GaussNewton": {"optimizer": phi.GaussNewton()},
    "LevenbergMarquardt": {"optimizer": phi.LevenbergMarquardt()},
    "SPRING": {"optimizer": phi.SPRING()},
    "SSBroyden": {"optimizer": phi.SSBroyden()},
    "LBFGS": {"optimizer": optax.lbfgs()},
}


def trained(devices, *, steps=STEPS, precision="float64", optimizer=ADAM, balancer=None, sampler=None, **more):
    begun = {name: more.pop(name) for name in ("ckpt_path",) if name in more}
    trainer = phi.Trainer(steps, log_every=5, progress=False, devices=devices, precision=precision, **more)
    return trainer.fit(MODULE, datamodule=toy_data(sampler), optimizer=optimizer, balancer=balancer, seed=1, **begun)


def declared(devices):
    """A declared problem: causal weights, gradients in pieces, and the solution's own evaluation."""
    compiled = phi.compile(
        BURGERS,
        network=phi.MLP(width=6, depth=2),
        points=POINTS,
        precision="float64",
        rows=8,
        causal=phi.Causal(chunks=4),
    )
    trainer = phi.Trainer(STEPS, log_every=5, progress=False, devices=devices)
    result = trainer.fit(compiled.module, datamodule=compiled.datamodule, optimizer=ADAM, seed=1)
    return result, phi.Solution.from_result(compiled, result)


def compare_declared(count):
    (one, alone), (several, shared) = map(declared, (None, count))
    at = {"x": np.linspace(-1, 1, 1001), "t": 0.5}
    values = float(np.max(np.abs(alone.u(**at) - shared.u(**at))))
    return {"losses": difference(one, several), "values": values}


def batch(devices, precision, step=3):
    """The batch of a step, as the devices have their rows of it."""
    compiled, shared = phi.compile(BURGERS, points=POINTS, precision=precision), devices_of(devices)
    with precision_scope(precision):
        source = compiled.datamodule.train_batch_source(tuple(POINTS), split_root(jax.random.key(1)).sampling)
        arrays, static = eqx.partition(source, eqx.is_array)

        def drawn(arrays):
            return {n: shared.each(lambda rows: rows, rows) for n, rows in eqx.combine(arrays, static)(step).items()}

        return shared.jit(drawn)(arrays)


def same_bits(one, other):
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)


def losses_of(one, other):
    """(n, 2): the losses of both at the steps that both have recorded."""
    at = dict(zip(other.history.steps, other.history.total, strict=True))
    pairs = [(total, at[step]) for step, total in zip(one.history.steps, one.history.total, strict=True) if step in at]
    assert len(pairs) > STEPS // 10
    return np.array(pairs)


def difference(one, other):
    """The largest relative difference of the losses."""
    losses = losses_of(one, other)
    return float(np.max(np.abs(losses[:, 1] / losses[:, 0] - 1)))


def points_of(result):
    """Where the points are that adaptive samplers hold; weights may follow the residuals, and their rounding."""
    is_points = lambda node: isinstance(node, phi.Points)
    held = jax.tree.leaves(result.state.sampler_state, is_leaf=is_points)
    return [points.coordinates for points in held if is_points(points)]


def compare(case, count):
    """The largest relative difference of the losses, and whether the points of adaptive samplers have the same bits."""
    one, several = (trained(devices, **CASES[case]) for devices in (None, count))
    return {
        "losses": difference(one, several),
        "steps": [one.step, several.step],
        "of the largest": float(np.max(np.abs(np.diff(losses_of(one, several)))) / one.history.total.max()),
        "points": same_bits(points_of(one), points_of(several)),
    }


def resumed(folder, devices):
    """The difference of a run that goes on with other numbers of devices, one after another."""
    case = CASES["GradNorm"]
    result = None
    for part, count in enumerate(devices, 1):
        begun = {"ckpt_path": folder} if result else {}
        result = trained(count, steps=part * STEPS // len(devices), checkpoint=folder, **case, **begun)
    return {"losses": difference(trained(None, **case), result), "step": result.step}


def found(name, folder):
    count = len(jax.devices())
    if name in CASES:
        return compare(name, count)
    if name.startswith("batch"):
        precision = name.split()[-1]
        return {"points": same_bits(batch(None, precision), batch(count, precision))}
    if name == "counted":
        counts = count_step(MODULE, toy_data(), sum(SIZES.values()))
        return {"exchanges": counts.exchanges, "bytes": counts.bytes, "parameters": counts.parameters}
    return compare_declared(count) if name == "declared" else resumed(folder, (2, 1, count))


if __name__ == "__main__":
    for name in sys.argv[2:]:
        print(json.dumps({"case": name, **found(name, sys.argv[1])}), flush=True)
