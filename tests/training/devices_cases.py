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
from phijax.training.keys import split_root

STEPS = 100
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


CASES = {
    "Static": {},
    "float32": {"precision": "float32"},
    "in pieces": {"rows": 8},
    "GradNorm": {"balancer": phi.GradNorm(every=10)},
    "NTK": {"balancer": phi.NTK(every=10)},
    "SoftAdapt": {"balancer": phi.SoftAdapt(every=10)},
    "ReLoBRaLo": {"balancer": phi.ReLoBRaLo(every=10)},
    "causal": {"causal": phi.Causal(chunks=4)},
    "ResidualAdaptive": {"samplers": adaptive(phi.ResidualAdaptive)},
    "ResidualRefinement": {"samplers": adaptive(phi.ResidualRefinement)},
    "RetainResampleRelease": {"samplers": adaptive(phi.RetainResampleRelease)},
    "ImportanceSampler": {"samplers": adaptive(phi.ImportanceSampler)},
    "GaussNewton": {"optimizer": phi.GaussNewton()},
    "LevenbergMarquardt": {"optimizer": phi.LevenbergMarquardt()},
    "SPRING": {"optimizer": phi.SPRING()},
    "SSBroyden": {"optimizer": phi.SSBroyden()},
}


def compiled_of(precision="float64", optimizer=None, balancer=None, **options):
    network = phi.MLP(width=6, depth=2)
    return phi.compile(BURGERS, network=network, points=POINTS, precision=precision, **options)


def trained(case, devices):
    compiled = compiled_of(**CASES[case])
    trainer = phi.Trainer(STEPS, log_every=5, progress=False, devices=devices)
    optimizer, balancer = CASES[case].get("optimizer", optax.adam(1e-3)), CASES[case].get("balancer")
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


def compared(case, devices):
    """The largest relative difference of the losses, and whether the points of adaptive samplers have the same bits."""
    one, several = (trained(case, count) for count in (None, devices))
    length = min(len(one.history), len(several.history))
    losses = [result.history.total[:length] for result in (one, several)]
    states = [
        eqx.filter(result.state.sampler_state, lambda leaf: not jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key))
        for result in (one, several)
    ]
    return {
        "losses": float(np.max(np.abs(losses[1] - losses[0]) / losses[0])),
        "steps": [one.step, several.step],
        "last": float(losses[0][-1]),
        "points": same_bits(*states),
    }


if __name__ == "__main__":
    for precision in ("float32", "float64"):
        found = same_bits(batch(None, precision), batch(len(jax.devices()), precision))
        print(json.dumps({"case": f"batch {precision}", "points": found}), flush=True)
    for name in sys.argv[1:] or CASES:
        print(json.dumps({"case": name, **compared(name, len(jax.devices()))}), flush=True)
