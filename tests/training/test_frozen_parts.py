"""Frozen parts of a model are carried along and never moved, whatever the optimizer."""

import jax
import numpy as np
import optax
import pytest

import phijax as phi
from phijax.networks import Linear, Sequential, frozen
from phijax.networks.layers import Elementwise, linear


def model(key):
    first, last = jax.random.split(key)
    return Sequential((frozen(linear(first, 1, 6)), Elementwise("tanh"), linear(last, 6, 1)))


class Points(phi.DataModule):
    def train_batch_source(self, batch_keys, key):
        x = np.linspace(-1, 1, 16)[:, None]
        return phi.NamedBatchSource.from_pools({"fit": {"x": x}}, {"fit": 16}, key, names=batch_keys)


def residual(network, batch):
    return jax.vmap(network)(batch["x"])[:, 0] - batch["x"][:, 0] ** 2


@pytest.mark.parametrize(
    "optimizer", [optax.adamw(1e-2, weight_decay=0.1), phi.GaussNewton()], ids=["adamw", "least squares"]
)
def test_weight_decay_and_least_squares_leave_frozen_parameters_as_they_were(optimizer):
    module = phi.Module(model, phi.Objective.from_functions({"fit": residual}))
    trainer = phi.Trainer(3, precision="float64", progress=False)
    start = trainer.fit(module, datamodule=Points(), optimizer=optax.sgd(0.0), seed=0).model
    trained = trainer.fit(module, datamodule=Points(), optimizer=optimizer, seed=0).model
    held, moved = trained.layers[0].inner, trained.layers[2]
    assert isinstance(held, Linear)
    np.testing.assert_array_equal(held.weight, start.layers[0].inner.weight)
    assert np.abs(np.asarray(moved.weight) - np.asarray(start.layers[2].weight)).max() > 1e-4
