"""1/cosh and 1/sinh with slopes that stay finite where cosh and sinh overflow: beyond 89 in float32."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array


@jax.custom_jvp
def sech(z: Array) -> Array:
    """1 / cosh(z)."""
    return 1 / jnp.cosh(z)


@sech.defjvp
def _sech_slope(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (z,), (direction,) = primals, tangents
    value = sech(z)
    return value, -value * jnp.tanh(z) * direction


@jax.custom_jvp
def csch(z: Array) -> Array:
    """1 / sinh(z)."""
    return 1 / jnp.sinh(z)


@csch.defjvp
def _csch_slope(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (z,), (direction,) = primals, tangents
    value = csch(z)
    return value, -value / jnp.tanh(z) * direction
