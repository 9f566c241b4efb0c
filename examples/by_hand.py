"""A module, residuals and points written by hand, without the DSL: `python by_hand.py`."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

import phijax as phi


def make(key):
    return eqx.nn.MLP("scalar", "scalar", width_size=16, depth=2, activation=jnp.tanh, key=key)


def ode(model, batch):  # u' = -u
    u, slope = jax.vmap(jax.value_and_grad(model))(batch["t"])
    return slope + u


def start(model, batch):  # u(0) = 1
    return jax.vmap(model)(batch["t"]) - 1


class Times(phi.DataModule):
    """Thirty-two of two hundred times at each step, and the start."""

    def train_batch_source(self, batch_keys, key):
        pools = {"ode": {"t": jnp.linspace(0, 2, 200)}, "start": {"t": jnp.zeros(1)}}
        return phi.NamedBatchSource.from_pools(pools, {"ode": 32, "start": 1}, key, names=batch_keys)


def main(steps=2000):
    module = phi.Module(make, phi.Objective.from_functions({"ode": ode, "start": start}))
    result = phi.Trainer(max_steps=steps).fit(module, datamodule=Times(), optimizer=optax.adam(5e-3), seed=0)
    print(f"u(2) {float(result.model(jnp.asarray(2.0))):.4f}")  # exp(-2) = 0.1353


if __name__ == "__main__":
    main()
