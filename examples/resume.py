"""A run that is stopped half way and goes on from its checkpoint, to the same bits: `python resume.py`."""

import tempfile

import jax
import jax.numpy as jnp
import optax
from sympy import Eq

import phijax as phi

t = phi.time("t")
u = phi.field("u", t)
span = phi.Interval(t, 0, 1)
decay = phi.Problem(span, {"ode": Eq(u.diff(t), -u), "start": phi.on(span.at(t=0), Eq(u, 1))})
compiled = phi.compile(decay, network=phi.MLP(width=16, depth=2), points=64)


def fit(steps, **more):
    trainer = phi.Trainer(max_steps=steps, checkpoint=more.pop("checkpoint", None))
    settings = {"datamodule": compiled.datamodule, "optimizer": optax.adam(1e-3), "seed": 0}
    return trainer.fit(compiled.module, **settings, **more)


def main(steps=1000):
    with tempfile.TemporaryDirectory() as folder:
        fit(steps // 2, checkpoint=folder)
        resumed = fit(steps, ckpt_path=folder)
    whole = fit(steps)
    pairs = zip(jax.tree.leaves(resumed.state.model_state), jax.tree.leaves(whole.state.model_state), strict=True)
    print(f"largest difference of a weight {max(float(jnp.max(jnp.abs(a - b))) for a, b in pairs)}")


if __name__ == "__main__":
    main()
