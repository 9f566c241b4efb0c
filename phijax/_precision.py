"""Scoped floating-point precision: float64 inside a call, without touching the process-wide flag."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Literal, ParamSpec, TypeVar

import jax
import jax.numpy as jnp

Precision = Literal["float32", "float64"]
PRECISIONS: tuple[Precision, ...] = ("float32", "float64")
_P = ParamSpec("_P")
_R = TypeVar("_R")


def check_precision(precision: str) -> Precision:
    """`precision` itself, or a ValueError that names the two that exist."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision={precision!r} is not known; choose 'float32' or 'float64'.")
    return precision  # type: ignore[return-value]


def precision_scope(precision: str) -> AbstractContextManager:
    """Context in which new JAX arrays are of `precision`. Per thread: a worker thread enters its own."""
    wide = check_precision(precision) == "float64"
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(wide)
    from jax.experimental import enable_x64  # type: ignore[attr-defined]  # releases before jax.enable_x64

    return enable_x64(wide)


def ambient_precision() -> Precision:
    """The precision that JAX gives a new array here and now."""
    return "float64" if jnp.zeros(()).dtype == jnp.float64 else "float32"


def scoped(precision: str, function: Callable[_P, _R]) -> Callable[_P, _R]:
    """`function`, entered in `precision` at every call."""

    @functools.wraps(function)
    def inside(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with precision_scope(precision):
            return function(*args, **kwargs)

    return inside
