"""The gradient that is taken over pieces of a batch is that of the whole."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest

import phijax as phi
from phijax._precision import precision_scope
from phijax.bench.speed_tasks import burgers
from phijax.training.gradient import WeightedGradient, piece_count

WEIGHTS = {"pde": 0.5, "initial": 3.0, "walls": 2.0}


@pytest.mark.parametrize(
    ("n", "size", "count"), [(10_000, 128, 80), (2048, 128, 16), (300, 128, 4), (257, 128, 2), (256, 128, 2)]
)
def test_pieces_are_equal_where_the_number_of_rows_allows(n, size, count):
    assert piece_count(n, size) == count


def taken(n: int, rows: int | None, dropout: float = 0.0):
    """(losses, gradient as a vector, gradient of the total as a function) of Burgers' equation on n points."""
    with precision_scope("float64"):
        network = phi.MLP(width=6, depth=2, dropout=dropout)
        compiled = phi.compile(burgers(), network=network, points=n, precision="float64", rows=rows or 10**6)
        model = compiled.module.factory(jax.random.key(0))
        source = compiled.datamodule.train_batch_source(compiled.module.objective.batch_keys, jax.random.key(1))
        batch = dict(source(0))
        batch["pde"] = replace(batch["pde"], weights=jnp.linspace(0.5, 1.5, n))
        params, static = eqx.partition(model, eqx.is_array)
        weights = {name: jnp.asarray(weight) for name, weight in WEIGHTS.items()}
        gradient = WeightedGradient(
            compiled.module.objective, lambda p: eqx.combine(p, static), batch, jax.random.key(2), weights
        )
        losses, slopes = jax.jit(lambda p: gradient(p))(params)
        again = jax.jit(lambda p: jax.value_and_grad(gradient.total)(p))(params)
        flat = jax.flatten_util.ravel_pytree(slopes)[0]
        return losses, np.asarray(flat), float(again[0]), np.asarray(jax.flatten_util.ravel_pytree(again[1])[0])


@pytest.mark.parametrize(("n", "rows"), [(96, 16), (101, 16)], ids=["even", "with rows left over"])
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_losses_and_gradient_of_pieces_are_those_of_the_whole(n, rows, dropout):
    losses, gradient, total, of_total = taken(n, rows, dropout)
    whole_losses, whole_gradient, *_ = taken(n, None, dropout)
    for name, loss in whole_losses.items():
        assert float(losses[name]) == pytest.approx(float(loss), rel=1e-12)
    np.testing.assert_allclose(gradient, whole_gradient, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(of_total, gradient, rtol=1e-12)
    assert total == pytest.approx(sum(WEIGHTS[name] * float(loss) for name, loss in losses.items()), rel=1e-12)
