"""A problem that compiles in a second: fit sin on (-1, 1) by three tanh units, with an unknown c = 2."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from phijax.training import Module, Objective


class Net(eqx.Module):
    inner: jax.Array
    shift: jax.Array
    outer: jax.Array
    c: jax.Array

    def __call__(self, x):
        return jnp.sum(self.outer * jnp.tanh(self.inner * x + self.shift))


def factory(key):
    inner, shift, outer = jax.random.normal(key, (3, 3))
    return Net(inner, shift, outer, jnp.ones(()))


def fit(model, batch):
    return jax.vmap(model)(batch["x"]) - jnp.sin(batch["x"])


def unknown(model, batch):
    return model.c * batch["x"] - 2.0 * batch["x"]


def toy(precision=None, factory=factory, **functions):
    objective = Objective.from_functions(functions or {"fit": fit, "unknown": unknown})
    return Module(factory, objective, precision, unknowns=lambda model: {"c": model.c})


class Uniform:
    """New uniform points at every step; counts how often it is asked for a source, and with which keys."""

    def __init__(self, n=16):
        self.n, self.keys, self.traces = n, [], 0

    def train_batch_source(self, names, key):
        self.keys.append(key)

        def source(step):
            self.traces += 1
            keys = jax.random.split(jax.random.fold_in(key, step), len(names))
            return {
                name: {"x": jax.random.uniform(k, (self.n,), minval=-1.0, maxval=1.0)}
                for name, k in zip(names, keys, strict=True)
            }

        return source


class WorstHalf:
    """A source with state: at steps divisible by 4 it keeps the half of a pool where the residual is largest."""

    stateful = True

    def __init__(self, names, key, n=8):
        self.names, self.key, self.n = names, key, n

    def init(self):
        return {name: jnp.zeros(self.n) for name in self.names}

    def draw(self, state, step, residuals):
        def refreshed():
            keys = jax.random.split(jax.random.fold_in(self.key, step), len(self.names))
            new = {}
            for name, key in zip(self.names, keys, strict=True):
                pool = {"x": jax.random.uniform(key, (2 * self.n,), minval=-1.0, maxval=1.0)}
                worst = jnp.argsort(-residuals(name, pool))[: self.n]
                new[name] = pool["x"][worst]
            return new

        state = jax.lax.cond(step % 4 == 0, refreshed, lambda: state)
        return state, {name: {"x": x} for name, x in state.items()}


class Adaptive:
    def train_batch_source(self, names, key):
        return WorstHalf(names, key)


def bits(tree):
    """All values of a tree, keys as their data, as a list of (path, dtype, bytes)."""
    out = []
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        leaf = np.asarray(leaf)
        out.append((jax.tree_util.keystr(path), str(leaf.dtype), leaf.tobytes()))
    return out


def differing(a, b):
    """Paths at which two trees are not bit-equal."""
    a, b = bits(a), bits(b)
    if [leaf[:2] for leaf in a] != [leaf[:2] for leaf in b]:
        return ["structure"]
    return [x[0] for x, y in zip(a, b, strict=True) if x != y]


def curves(history):
    """Records without the seconds."""
    return [{name: value for name, value in record.items() if name != "seconds"} for record in history.records]
