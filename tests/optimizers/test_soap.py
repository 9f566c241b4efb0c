"""SOAP against Adam, against its definition in NumPy, and in a compiled loop."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from phijax._precision import precision_scope
from phijax.optimizers import soap

PARAMS = {"w": (3, 4), "b": (5,), "c": ()}


def gradients(steps, seed=0):
    rng = np.random.default_rng(seed)
    return [{name: rng.standard_normal(shape) for name, shape in PARAMS.items()} for _ in range(steps)]


def run(optimizer, steps):
    params = {name: jnp.zeros(shape) for name, shape in PARAMS.items()}
    state = optimizer.init(params)
    moved = []
    for gradient in gradients(steps):
        updates, state = optimizer.update(jax.tree.map(jnp.asarray, gradient), state, params)
        moved.append(updates)
    return moved, state


def test_with_no_side_preconditioned_it_is_adam():
    with precision_scope("float64"):
        adam, _ = run(optax.adam(0.1, 0.9, 0.99, 1e-8), 6)
        own, _ = run(soap(0.1, 0.9, 0.99, 1e-8, max_dimension=0), 6)
        for one, other in zip(adam, own, strict=True):
            jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10), one, other)


def test_the_first_basis_is_the_identity_and_vectors_are_always_adams():
    with precision_scope("float64"):
        adam, _ = run(optax.adam(0.1, 0.9, 0.99, 1e-8), 5)
        own, state = run(soap(0.1, 0.9, 0.99, 1e-8, precondition_every=2), 5)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10), adam[0], own[0])
        for one, other in zip(adam, own, strict=True):
            np.testing.assert_allclose(one["b"], other["b"], rtol=1e-10)
            np.testing.assert_allclose(one["c"], other["c"], rtol=1e-10)
        assert state[0].left["b"] is None
        assert np.abs(np.asarray(adam[-1]["w"] - own[-1]["w"])).max() > 1e-3


def positive(basis):
    """Columns with the sign that makes their largest entry positive: a QR leaves it open."""
    return basis * np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(basis.shape[1])])


def test_several_steps_are_those_of_the_definition():
    b1, b2, decay, eps, every, rate = 0.9, 0.95, 0.8, 1e-8, 3, 0.1
    mean, square = np.zeros((3, 4)), np.zeros((3, 4))
    left, right = np.zeros((3, 3)), np.zeros((4, 4))
    q_left, q_right = np.eye(3), np.eye(4)
    expected = []
    for step, gradient in enumerate(gradients(8), start=1):
        g = gradient["w"]
        mean = b1 * mean + (1 - b1) * g
        square = b2 * square + (1 - b2) * (q_left.T @ g @ q_right) ** 2
        turned = q_left.T @ (mean / (1 - b1**step)) @ q_right
        direction = q_left @ (turned / (np.sqrt(square / (1 - b2**step)) + eps)) @ q_right.T
        expected.append(-rate * direction)
        left = decay * left + (1 - decay) * g @ g.T
        right = decay * right + (1 - decay) * g.T @ g
        if step % every == 1:
            q_left, q_right = np.linalg.qr(left @ q_left)[0], np.linalg.qr(right @ q_right)[0]
    with precision_scope("float64"):
        own, state = run(soap(rate, b1, b2, eps, shampoo_decay=decay, precondition_every=every), 8)
        for one, other in zip(expected, own, strict=True):
            np.testing.assert_allclose(other["w"], one, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(state[0].left["w"].statistic, left, rtol=1e-12)
        np.testing.assert_allclose(positive(np.asarray(state[0].right["w"].basis)), positive(q_right), atol=1e-9)
        assert int(state[0].count) == 8


def test_the_basis_converges_to_the_eigenvectors_of_the_statistic():
    with precision_scope("float64"):
        fixed = jnp.asarray(
            np.diag([3.0, 2.0, 1.0]) @ np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
        )
        rotation = jnp.asarray(np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))[0])
        optimizer = soap(0.1, precondition_every=1)
        state = optimizer.init(jnp.zeros((3, 3)))
        for _ in range(60):
            _, state = optimizer.update(rotation @ fixed, state)
        np.testing.assert_allclose(positive(np.asarray(state[0].left.basis)), positive(np.asarray(rotation)), atol=1e-9)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_in_a_compiled_loop_the_state_keeps_its_dtypes_and_a_quadratic_is_solved(precision):
    with precision_scope(precision):
        rng = np.random.default_rng(3)
        scale, target = jnp.asarray(np.diag([30.0, 3.0, 0.3])), jnp.asarray(rng.standard_normal((3, 4)))
        loss = lambda w: jnp.sum((scale @ (w - target)) ** 2)
        optimizer = soap(optax.cosine_decay_schedule(0.1, 400), precondition_every=5)
        start = jnp.zeros((3, 4))
        state = optimizer.init(start)

        @jax.jit
        def many(w, state):
            def body(_, carry):
                w, state = carry
                updates, state = optimizer.update(jax.grad(loss)(w), state, w)
                return optax.apply_updates(w, updates).astype(w.dtype), state

            return jax.lax.fori_loop(0, 400, body, (w, state))

        w, after = many(start, state)
        assert float(loss(w)) < 1e-4 * float(loss(start))
        floating = {str(leaf.dtype) for leaf in jax.tree.leaves(after[0]) if jnp.issubdtype(leaf.dtype, jnp.floating)}
        assert floating == {precision}


def test_a_side_that_is_too_long_is_left_out():
    state = soap(0.1, max_dimension=3).init({"w": jnp.zeros((3, 4)), "v": jnp.zeros((1, 2))})[0]
    assert state.left["w"].basis.shape == (3, 3)
    assert state.right["w"] is None
    assert state.left["v"] is None  # a side of one has nothing to turn


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"b1": 1.0}, "soap: b1=1.0 must be a finite number of at least 0 and below 1."),
        ({"eps": 0.0}, "soap: eps=0.0 must be a finite number above 0."),
        ({"precondition_every": 0}, "soap: precondition_every=0 must be a whole number of at least 1."),
        ({"max_dimension": 1.5}, "soap: max_dimension=1.5 must be a whole number of at least 0."),
    ],
)
def test_settings_out_of_range_are_named(options, message):
    with pytest.raises(ValueError) as caught:
        soap(0.1, **options)
    assert str(caught.value) == message
