"""Runs on one device and on several, for test_devices.py, in a process that has several of them.

python devices_cases.py CASE ...     prints a line of JSON for each case: what differs
"""

import json
import sys

import equinox as eqx
import jax
import numpy as np
import optax
from sympy import Eq, pi, sin

import phijax as phi
from phijax._devices import devices_of
from phijax._precision import precision_scope
from phijax.bench.scaling import count_task
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


def adaptive(kind, **options):
    return {"pde": kind(phi.RegionSampler(SPACETIME), period=10, **options)}


# Every balancer and every adaptive sampler is in one of them; each on its own would compile as much for each.
CASES = {
    "in pieces, causal": {"rows": 8, "causal": phi.Causal(chunks=4)},
    "float32": {"precision": "float32"},
    "GradNorm": {"balancer": phi.GradNorm(every=10), "samplers": adaptive(phi.ResidualAdaptive)},
    "NTK": {"balancer": phi.NTK(every=10), "samplers": adaptive(phi.ResidualRefinement)},
    "SoftAdapt": {"balancer": phi.SoftAdapt(every=10), "samplers": adaptive(phi.RetainResampleRelease)},
    "ReLoBRaLo": {"balancer": phi.ReLoBRaLo(every=10), "samplers": adaptive(phi.ImportanceSampler)},
    "GaussNewton": {"optimizer": phi.GaussNewton()},
    "LevenbergMarquardt": {"optimizer": phi.LevenbergMarquardt()},
    "SPRING": {"optimizer": phi.SPRING()},
    "SSBroyden": {"optimizer": phi.SSBroyden()},
    "LBFGS": {"optimizer": optax.lbfgs()},
}


def compiled_of(precision="float64", **options):
    network = phi.MLP(width=6, depth=2)
    return phi.compile(BURGERS, network=network, points=POINTS, precision=precision, **options)


def trained(devices, optimizer=ADAM, balancer=None, **options):
    compiled = compiled_of(**options)
    trainer = phi.Trainer(STEPS, log_every=5, progress=False, devices=devices)
    return trainer.fit(compiled.module, datamodule=compiled.datamodule, optimizer=optimizer, balancer=balancer, seed=1)


def batch(devices, precision="float64", step=3):
    """The batch of a step, as the devices have their rows of it."""
    compiled, shared = compiled_of(precision), devices_of(devices)
    with precision_scope(precision):
        source = compiled.datamodule.train_batch_source(tuple(POINTS), split_root(jax.random.key(1)).sampling)
        arrays, static = eqx.partition(source, eqx.is_array)

        def drawn(arrays):
            return {n: shared.each(lambda rows: rows, rows) for n, rows in eqx.combine(arrays, static)(step).items()}

        return shared.jit(drawn)(arrays)


def same_bits(one, other):
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)


def resumed(folder, devices):
    """The largest relative difference of the losses, of a run that goes on with other numbers of devices, one after another."""
    options = {"samplers": adaptive(phi.ResidualAdaptive)}
    whole, case = trained(None, **options), compiled_of(**options)
    for steps, count in zip((STEPS // 3, 2 * STEPS // 3, STEPS), devices, strict=True):
        trainer = phi.Trainer(steps, checkpoint=folder, log_every=5, progress=False, devices=count)
        begun = folder if steps > STEPS // 3 else None
        data = case.datamodule
        result = trainer.fit(case.module, datamodule=data, optimizer=ADAM, seed=1, ckpt_path=begun)
    return {"losses": difference(whole, result)}


def difference(one, other):
    """The largest relative difference of the losses at the steps that both have recorded."""
    at = dict(zip(other.history.steps, other.history.total, strict=True))
    pairs = [(total, at[step]) for step, total in zip(one.history.steps, one.history.total, strict=True) if step in at]
    assert len(pairs) > STEPS // 10
    return max(abs(a - b) / a for a, b in pairs)


def points_of(result):
    """The points that adaptive samplers hold, without their keys."""
    state = result.state.sampler_state
    return eqx.filter(state, lambda leaf: not jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def compared(case, devices):
    """The largest relative difference of the losses, and whether the points of adaptive samplers have the same bits."""
    one, several = (trained(count, **CASES[case]) for count in (None, devices))
    return {
        "losses": difference(one, several),
        "steps": [one.step, several.step],
        "last": float(one.history.total[-1]),
        "points": same_bits(points_of(one), points_of(several)),
    }


def predicted(devices):
    """The largest difference of a field that is evaluated by one device and by several, and of a model's rows."""
    one, several = (phi.Solution.from_result(compiled_of(), trained(count)) for count in (None, devices))
    at = {"x": np.linspace(-1, 1, 1001), "t": 0.5}
    return {"values": float(np.max(np.abs(one.u(**at) - several.u(**at))))}


def counted():
    """Exchanges of a step of a speed task and their bytes, its parameters, and how many terms its loss has."""
    counts = count_task("T1c")
    return {"exchanges": counts.exchanges, "bytes": counts.bytes, "parameters": counts.parameters}


def found(name, folder):
    count = len(jax.devices())
    if name in CASES:
        return compared(name, count)
    if name.startswith("batch"):
        precision = name.split()[-1]
        return {"points": same_bits(batch(None, precision), batch(count, precision))}
    others = {
        "resumed": lambda: resumed(folder, (2, 1, count)),
        "predicted": lambda: predicted(count),
        "counted": counted,
    }
    return others[name]()


if __name__ == "__main__":
    for name in sys.argv[2:]:
        print(json.dumps({"case": name, **found(name, sys.argv[1])}), flush=True)
