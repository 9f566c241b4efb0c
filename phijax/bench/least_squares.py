"""Time a Gauss-Newton step beside what no such step can do without: a Gram product and a factorization by host BLAS."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

import phijax as phi
from phijax.bench.speed import Clock
from phijax.bench.speed_tasks import burgers
from phijax.networks import count_parameters
from phijax.optimizers.normal import one_thread

ROWS = 2000
STEPS = 40
FLOOR_RUNS = 10


@dataclass(frozen=True)
class LeastSquaresTimes:
    """ms_step: mean wall time of a step, all of it. ms_floor: of one Gram product and one factorization of its size.

    shares: which part of the step each phase takes.
    """

    parameters: int
    residuals: int
    ms_step: float
    ms_floor: float
    ratio: float
    shares: dict[str, float]


def time_least_squares(rows: int = ROWS, steps: int = STEPS) -> LeastSquaresTimes:
    """Burgers' equation with the network that `solve` takes, in float64: `rows` residuals in all."""
    conditions = {"initial": rows // 16, "walls": rows // 16}
    points = {"pde": rows - sum(conditions.values()), **conditions}
    compiled = phi.compile(burgers(), network=phi.MLP(width=20, depth=3), points=points, precision="float64")
    clock = Clock()
    trainer = phi.Trainer(steps, log_every=1, progress=clock)
    optimizer = phi.GaussNewton(refresh=3, patience=steps, idle=steps)
    result = trainer.fit(compiled.module, datamodule=compiled.datamodule, optimizer=optimizer, seed=0)
    parameters = count_parameters(result.model)
    step, floor = clock.times().ms_wall, _floor(rows, parameters)
    shares = result.history.events[-1]["shares"]
    return LeastSquaresTimes(parameters, rows, step, floor, step / floor, shares)


def _floor(rows: int, parameters: int) -> float:
    """Milliseconds of the Gram matrix of a random Jacobian and of its Cholesky factor, the median of several runs."""
    from scipy.linalg import cho_factor, get_blas_funcs

    jacobian = np.random.default_rng(0).standard_normal((rows, parameters))
    (syrk,) = get_blas_funcs(("syrk",), (jacobian,))
    taken = []
    for _ in range(FLOOR_RUNS):
        begun = time.perf_counter()
        with one_thread():
            gram = syrk(1.0, jacobian.T, lower=0)
            cho_factor(gram + np.eye(parameters), lower=False, overwrite_a=True, check_finite=False)
        taken.append(time.perf_counter() - begun)
    return 1e3 * float(np.median(taken))
