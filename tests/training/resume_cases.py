"""Runs that are resumed: every optimizer, balancer, sampler with state and callback that ships takes part.

As a script, `resume_cases.py FOLDER CASE ...` resumes each case from FOLDER/CASE and leaves what it reached there.
"""

import dataclasses
import pickle
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from training_toy import Net, Uniform, bits, curves, factory, toy

import phijax.geometry as geometry
from phijax.balancing import NTK, Causal, GradNorm, ReLoBRaLo, SoftAdapt, Static
from phijax.optimizers import (
    SPRING,
    SSBFGS,
    GaussNewton,
    LevenbergMarquardt,
    Race,
    SSBroyden,
    optimizer_from_config,
    soap,
)
from phijax.sampling import (
    ImportanceSampler,
    RegionSampler,
    ResidualAdaptive,
    ResidualRefinement,
    RetainResampleRelease,
    SamplerDataModule,
)
from phijax.symbolic import coordinate
from phijax.training import Average, EarlyStopping, KeepBest, Trainer
from phijax.training.causal import CausalWeights

HALF, WHOLE = 7, 12  # 7 is inside a hold, between refreshes, and a stage


class Dropped(eqx.Module):
    net: Net

    @property
    def c(self):
        return self.net.c

    def __call__(self, x, key=None):
        mask = 2.0 * jax.random.bernoulli(key, 0.5, (3,)) if key is not None else jnp.ones(3)
        return jnp.sum(mask * self.net.outer * jnp.tanh(self.net.inner * x + self.net.shift))


def dropped_fit(model, batch, key):
    return jax.vmap(lambda x: model(x, key=key))(batch["x"]) - jnp.sin(batch["x"])


def point_fit(model, batch):
    return jax.vmap(model)(batch.coordinates["x"]) - jnp.sin(batch.coordinates["x"])


def point_unknown(model, batch):
    return (model.c - 2.0) * batch.coordinates["x"]


def following(kind, **options):
    """A data module whose points of "fit" follow the residual."""
    region = geometry.Interval(coordinate("x"), -1, 1)
    samplers = {"fit": kind(RegionSampler(region), **options), "unknown": RegionSampler(region)}
    return SamplerDataModule(samplers, {"fit": 8, "unknown": 4})


def adaptive(period):
    return following(ResidualAdaptive, period=period)


def points_toy():
    return toy(fit=point_fit, unknown=point_unknown)


class Wide(eqx.Module):
    """A network with a matrix, whose sides are preconditioned."""

    net: Net
    mix: jax.Array

    @property
    def c(self):
        return self.net.c

    def __call__(self, x):
        return self.net.outer @ jnp.tanh(self.mix @ jnp.tanh(self.net.inner * x + self.net.shift))


def matrix_toy():
    return toy(factory=lambda key: Wide(factory(key), jax.random.normal(jax.random.fold_in(key, 1), (3, 3))))


SCHEDULE = optax.exponential_decay(1e-2, 5, 0.7)

CASES = {
    "adam_gradnorm_callbacks": (
        toy,
        Uniform,
        lambda: optax.inject_hyperparams(optax.adam)(SCHEDULE),
        lambda: GradNorm(every=3, refresh=True),
        lambda: (EarlyStopping(every=2, patience=50), KeepBest(every=1), Average(every=2)),
    ),
    "momentum_ntk_adaptive": (
        points_toy,
        lambda: adaptive(5),
        lambda: optax.sgd(SCHEDULE, momentum=0.9),
        lambda: NTK(every=4),
        tuple,
    ),
    "stochastic_relobralo": (
        lambda: toy(factory=lambda key: Dropped(factory(key)), fit=dropped_fit),
        Uniform,
        lambda: optax.adam(1e-2),
        ReLoBRaLo,
        tuple,
    ),
    "stages_lbfgs_softadapt_adaptive": (
        points_toy,
        lambda: adaptive(2),
        lambda: [(optax.adam(1e-2), 5), (optax.lbfgs(), 20)],
        SoftAdapt,
        tuple,
    ),
    "gauss_newton_adaptive": (
        points_toy,
        lambda: adaptive(6),
        lambda: GaussNewton(refresh=3),
        lambda: GradNorm(every=3),
        lambda: (KeepBest(every=2),),
    ),
    "adam_refinement": (
        points_toy,
        lambda: following(ResidualRefinement, start=3, add=2, period=4),
        lambda: optax.adam(1e-2),
        lambda: GradNorm(every=3, refresh=True),
        tuple,
    ),
    "adam_causal": (
        lambda: dataclasses.replace(points_toy(), weighting=CausalWeights(Causal(4), "x", -1.0, 1.0, ("fit",))),
        lambda: following(ImportanceSampler, period=4),
        lambda: optax.adam(1e-2),
        lambda: NTK(every=4),
        tuple,
    ),
    "stages_retention": (
        points_toy,
        lambda: following(RetainResampleRelease, period=2),
        lambda: [(optax.adam(1e-2), 5), (GaussNewton(refresh=4), 20)],
        lambda: None,
        tuple,
    ),
    "gauss_newton_importance": (
        points_toy,
        lambda: following(ImportanceSampler, period=3),
        lambda: GaussNewton(refresh=3),
        lambda: NTK(every=4),
        tuple,
    ),
    "race": (
        points_toy,
        lambda: adaptive(3),
        lambda: Race((GaussNewton(refresh=3), GaussNewton(refresh=3, lower=5.0)), trial=3),
        lambda: None,
        tuple,
    ),
    "levenberg_marquardt_adaptive": (
        points_toy,
        lambda: adaptive(6),
        lambda: LevenbergMarquardt(refresh=3, correction=True),
        ReLoBRaLo,
        tuple,
    ),
    "target_ratio": (toy, Uniform, lambda: LevenbergMarquardt(rule="target_ratio"), Static, tuple),
    "spring": (toy, Uniform, lambda: SPRING(refresh=3), Static, tuple),
    "ssbfgs_adaptive": (points_toy, lambda: adaptive(5), lambda: SSBFGS(refresh=5), lambda: NTK(every=4), tuple),
    "stages_soap_ssbroyden": (
        points_toy,
        lambda: adaptive(2),
        lambda: [(soap(1e-2, precondition_every=3), 5), (SSBroyden(refresh=4), 20)],
        Static,
        tuple,
    ),
    "soap": (matrix_toy, Uniform, lambda: soap(SCHEDULE, precondition_every=2), Static, tuple),
    "muon": (matrix_toy, Uniform, lambda: optimizer_from_config({"kind": "Muon", "steps": 20}), Static, tuple),
}


def run(case, steps, *, precision="float64", seed=None, ckpt_path=None, checkpoint=None):
    module, data, optimizer, balancer, callbacks = CASES[case]
    trainer = Trainer(
        steps, precision=precision, progress=False, log_every=1, callbacks=callbacks(), checkpoint=checkpoint
    )
    return trainer.fit(
        module(), datamodule=data(), optimizer=optimizer(), balancer=balancer(), seed=seed, ckpt_path=ckpt_path
    )


def next_batches(case, state):
    """Bits of the ten batches after `state`, as a fresh source gives them."""
    module, data, *_ = CASES[case]
    with jax.enable_x64(True):
        source = data().train_batch_source(module().objective.batch_keys, state.sampling_key)
        if not hasattr(source, "draw"):
            return [bits(source(state.step + i)) for i in range(10)]
        sampler_state = getattr(state.sampler_state, "source", state.sampler_state)
        batches = []
        for i in range(10):
            sampler_state, batch = source.draw(sampler_state, state.step + i, lambda name, p: jnp.ones(p.size))
            batches.append(bits(batch))
        return batches


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for case in sys.argv[2:]:
        result = run(case, WHOLE, ckpt_path=folder / case, checkpoint=folder / case)
        reached = bits(result.state), next_batches(case, result.state), curves(result.history), result.status
        (folder / f"{case}.pickle").write_bytes(pickle.dumps(reached))
