"""Points of the open unit cube, drawn from a key inside compiled code."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, UInt

from phijax._precision import ambient_precision

MAX_SOBOL_DIMENSION = 21201  # of the direction numbers of Joe & Kuo (2008) that scipy ships
METHODS = ("sobol", "uniform")


def draw(method: str, key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
    """`n` points of the open unit cube of dimension `d`, by `method`, in the ambient precision."""
    return sobol(key, n, d) if method == "sobol" else uniform(key, n, d)


def uniform(key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
    """Independent uniform points, strictly inside the cube."""
    if ambient_precision() == "float64":
        return _centered(jax.random.bits(key, (n, d), jnp.uint64) >> 12, 52)
    return _centered(jax.random.bits(key, (n, d), jnp.uint32) >> 8, 24)


def sobol(key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
    """The first `n` points of Sobol's sequence, shifted digitally by random bits from `key`: new points for each key.

    A power of two keeps the net balanced; any other `n` is allowed. (Owen 1998; L'Ecuyer & Lemieux 2002.)
    Raises ValueError above 21201 dimensions.
    """
    if d == 0:
        return uniform(key, n, d)
    shift = jax.random.bits(key, (1, d), jnp.uint32)
    shifted = jnp.asarray(sobol_integers(n, d)) ^ shift
    if ambient_precision() == "float64":
        return _centered(shifted, 32)
    return _centered(shifted >> 8, 24)


@functools.lru_cache(maxsize=64)
def sobol_integers(n: int, d: int) -> UInt[np.ndarray, "n d"]:
    """The unscrambled sequence as 32-bit integers: a constant, made once for all steps."""
    from scipy.stats import qmc

    if d > MAX_SOBOL_DIMENSION:
        raise ValueError(f"Sobol points have at most {MAX_SOBOL_DIMENSION} dimensions, not {d}; use method='uniform'.")
    engine = qmc.Sobol(d, scramble=False, bits=32)
    table = engine.random_base2(max(n - 1, 0).bit_length())[:n]
    integers = np.round(table * 2.0**32).astype(np.uint32)
    integers.setflags(write=False)
    return integers


def _centered(integers: UInt[Array, "n d"], bits: int) -> Float[Array, "n d"]:
    """Middles of 2^bits cells of (0, 1). The last may round up to 1, so that it is kept below."""
    dtype = jnp.dtype(ambient_precision())
    below_one = float(np.nextafter(dtype.type(1), dtype.type(0)))
    return jnp.minimum(integers.astype(dtype) * 2.0**-bits + 2.0 ** -(bits + 1), below_one)
