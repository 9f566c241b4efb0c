"""Damped normal equations: one factor, any number of right-hand sides."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from phijax._devices import ONE_DEVICE, Devices

Solve = Callable[[Array], Array]
HALVES = 2


class NormalEquations:
    """(J^T J + damping * mean(diag J^T J) * I) x = -J^T v, from a Gram matrix that is built once.

    With fewer rows than parameters J J^T is factored in place of J^T J: the same x, since
    (J^T J + c I)^-1 J^T = J^T (J J^T + c I)^-1. On a CPU host BLAS and LAPACK do it, elsewhere XLA.

    Of a Jacobian whose rows are on several devices, the Gram matrix is the sum of theirs, and factored once a process.
    """

    def __init__(self, jacobian: Float[Array, "N P"], devices: Devices = ONE_DEVICE):
        on_host = next(iter(jacobian.devices())).platform == "cpu"
        self._backend: Any = _host(jacobian, devices) if on_host else _Device(jacobian, devices)

    def factor(self, damping: float) -> Solve | None:
        """`solve(v) -> x`, or None where the damped matrix is not positive definite in this precision."""
        return self._backend.factor(damping)


@functools.cache
def _blas() -> Any:
    import scipy.linalg  # noqa: F401  (its BLAS must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def one_thread() -> AbstractContextManager:
    """BLAS on one thread: its threads wait for each other by spinning.

    On two cores shared with anything else a Cholesky factorization of 921 rows took 20 times as long with two.
    """
    return _blas().limit(limits=1)


@functools.cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(HALVES, thread_name_prefix="gram")


def _host_gram(jacobian: Float[np.ndarray, "N P"], wide: bool) -> Float[np.ndarray, "m m"]:
    """J^T J, or J J^T where that is smaller: the sum of those of two halves, each on a thread of its own.

    Two halves whatever the cores, so that these change no bits. NumPy sees the product of a matrix with its transpose,
    takes half of the operations, and lets go of Python meanwhile.
    """
    halves = np.array_split(jacobian, HALVES, axis=1 if wide else 0)
    with one_thread():
        return sum(_workers().map((lambda h: h @ h.T) if wide else (lambda h: h.T @ h), halves))  # type: ignore[return-value]


def _host(jacobian: Float[Array, "N P"], devices: Devices) -> _Host:
    wide, columns = jacobian.shape[0] < jacobian.shape[1], jacobian.shape[1]
    if devices.count == 1:
        own = np.asarray(jacobian)
        return _Host(_host_gram(own, wide), wide, columns, lambda v: own.T @ v)
    gram = np.asarray(devices.jit(_gram)(jacobian)[0])
    return _Host(gram, wide, columns, lambda v: np.asarray(devices.jit(_transposed_times)(jacobian, jnp.asarray(v))))


class _Host:
    """gram: of rows where `wide`, else of columns. transposed_times: v -> J^T v."""

    def __init__(
        self, gram: np.ndarray, wide: bool, columns: int, transposed_times: Callable[[np.ndarray], np.ndarray]
    ):
        self._gram, self._wide, self._transposed_times = gram, wide, transposed_times
        self._unit = np.trace(self._gram) / columns

    def factor(self, damping: float) -> Solve | None:
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        damped = self._gram.copy(order="F")
        damped[np.diag_indices_from(damped)] += self._gram.dtype.type(damping) * self._unit
        try:
            with one_thread():
                factor = cho_factor(damped, lower=False, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None

        def solve(v: Array) -> Array:
            right = np.asarray(v)
            with one_thread():
                if self._wide:
                    return jnp.asarray(-self._transposed_times(cho_solve(factor, right, check_finite=False)))
                return jnp.asarray(-cho_solve(factor, self._transposed_times(right), check_finite=False))

        return solve


class _Device:
    def __init__(self, jacobian: Array, devices: Devices):
        self._jacobian, self._devices = jacobian, devices
        self._gram, self._unit = devices.kept(_gram)(jacobian)

    def factor(self, damping: float) -> Solve | None:
        factor = self._devices.kept(_cholesky)(self._gram, self._unit, damping)
        if not bool(jnp.isfinite(factor[-1, -1])):
            return None
        return lambda v: self._devices.jit(_solve)(factor, self._jacobian, v)


def _gram(jacobian: Float[Array, "N P"]) -> tuple[Float[Array, "m m"], Float[Array, ""]]:
    wide = jacobian.shape[0] < jacobian.shape[1]
    left = jacobian if wide else jacobian.T
    gram = jnp.matmul(left, left.T, precision="highest")
    return gram, jnp.trace(gram) / jacobian.shape[1]


def _transposed_times(jacobian: Float[Array, "N P"], v: Float[Array, " N"]) -> Float[Array, " P"]:
    return jnp.matmul(jacobian.T, v, precision="highest")


def _cholesky(gram: Float[Array, "m m"], unit: Float[Array, ""], damping: float) -> Float[Array, "m m"]:
    return jnp.linalg.cholesky(gram + damping * unit * jnp.eye(gram.shape[0], dtype=gram.dtype))


def _solve(factor: Float[Array, "m m"], jacobian: Float[Array, "N P"], v: Float[Array, " N"]) -> Float[Array, " P"]:
    wide = jacobian.shape[0] < jacobian.shape[1]
    if wide:
        return -jacobian.T @ jax.scipy.linalg.cho_solve((factor, True), v)
    return -jax.scipy.linalg.cho_solve((factor, True), jacobian.T @ v)
