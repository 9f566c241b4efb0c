"""Points of the open unit cube, drawn from a key inside compiled code."""

from __future__ import annotations

import functools
import importlib.util
import math
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from jaxtyping import Array, Float, PRNGKeyArray, UInt

from phijax._precision import ambient_precision

MAX_SOBOL_DIMENSION = 21201  # of the direction numbers of Joe & Kuo (2008) that scipy ships
METHODS = ("sobol", "uniform", "halton", "latin", "grid")


def draw(method: str, key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
    """`n` points of the open unit cube of dimension `d`, by `method`, in the ambient precision."""
    return {"sobol": sobol, "uniform": uniform, "halton": halton, "latin": latin, "grid": grid}[method](key, n, d)


def uniform(key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
    """Independent uniform points, strictly inside the cube."""
    if ambient_precision() == "float64":
        return _centered(jax.random.bits(key, (n, d), jnp.uint64) >> 12, 52)
    return _centered(jax.random.bits(key, (n, d), jnp.uint32) >> 8, 24)


def sobol(key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
    """The first `n` points of Sobol's sequence, scrambled by random bits from `key`: new points for each key.

    A random triangular matrix of bits and a digital shift (Matousek 1998) give the variance of Owen's scrambling: for
    smooth functions the error falls as n^(-3/2), where a shift alone stops at n^-1. Only the generators of the
    sequence are constants, so that compiled code does not grow with `n`.
    A power of two keeps the net balanced; any other `n` is allowed. Raises ValueError above 21201 dimensions.
    """
    if d == 0:
        return uniform(key, n, d)
    bits = max(n - 1, 0).bit_length()
    matrix_key, shift_key = jax.random.split(key)
    generators = _scrambled(sobol_generators(bits, d), jax.random.bits(matrix_key, (bits, d), jnp.uint32))
    integers = jnp.broadcast_to(jax.random.bits(shift_key, (1, d), jnp.uint32), (n, d))
    index = jnp.arange(n, dtype=jnp.uint32)[:, None]
    for bit in range(bits):
        integers ^= (index >> bit & 1) * generators[None, bit]
    if ambient_precision() == "float64":
        return _centered(integers, 32)
    return _centered(integers >> 8, 24)


def halton(key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
    """The first `n` points of Halton's sequence (1960), moved round the cube by one random shift (Cranley & Patterson 1976)."""
    bases = [int(sympy.prime(axis + 1)) for axis in range(d)]  # type: ignore[arg-type]
    columns = []
    for base in bases:
        index, share = jnp.arange(1, n + 1), 1.0 / base
        column = jnp.zeros(n, ambient_precision())
        for _ in range(max(1, math.ceil(math.log(n + 1, base)))):
            column, index, share = column + share * (index % base).astype(column.dtype), index // base, share / base
        columns.append(column)
    shift = jax.random.uniform(key, (1, d), ambient_precision())
    return _kept_inside(jnp.mod(jnp.stack(columns, axis=1) + shift, 1.0) if d else uniform(key, n, d))


def latin(key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
    """A Latin hypercube (McKay, Beckman & Conover 1979): along each axis one point in each n-th, the axes in random order."""
    order_key, place_key = jax.random.split(key)
    cells = jnp.broadcast_to(jnp.arange(n)[:, None], (n, d))
    cells = jax.random.permutation(order_key, cells, axis=0, independent=True).astype(ambient_precision())
    return _kept_inside((cells + uniform(place_key, n, d)) / n)


def grid(key: PRNGKeyArray, n: int, d: int) -> Float[Array, "n d"]:
    """Middles of equal cells, the same for every key; ValueError unless `n` is the power of a whole number."""
    each = round(n ** (1 / d)) if d else 1
    if each**d != n:
        lower, upper = math.floor(n ** (1 / d)) ** d if d else 1, math.ceil(n ** (1 / d)) ** d if d else 1
        allowed = f"{lower} or {upper}" if lower != upper else f"{upper}"
        raise ValueError(
            f"a grid of {d} coordinate{'s' * (d != 1)} has {allowed} points, not {n}; ask for one of these."
        )
    middles = (np.arange(each) + 0.5) / each
    mesh = np.meshgrid(*[middles] * d, indexing="ij")
    return jnp.asarray(
        np.stack([axis.ravel() for axis in mesh], axis=1) if d else np.zeros((n, 0)), ambient_precision()
    )


def _kept_inside(unit: Float[Array, "n d"]) -> Float[Array, "n d"]:
    """Strictly inside the cube, whatever was rounded."""
    half_cell = float(np.finfo(unit.dtype).eps) / 4
    return jnp.clip(unit, half_cell, 1 - 2 * half_cell)


def _scrambled(generators: UInt[np.ndarray, "b d"], random: UInt[Array, "b d"]) -> UInt[Array, "b d"]:
    """Each generator times a random triangular matrix of bits with ones on its diagonal, a matrix a dimension."""
    ones = np.uint32(1) << np.arange(31, 31 - len(generators), -1, dtype=np.uint32)[:, None]
    columns = ones | (random & (ones - np.uint32(1)))
    chosen = jnp.where((generators[:, None] & ones[None]) > 0, columns[None], np.uint32(0))
    return jax.lax.reduce(chosen, np.uint32(0), jax.lax.bitwise_xor, (1,))


@functools.lru_cache(maxsize=64)
def sobol_generators(bits: int, d: int) -> UInt[np.ndarray, "b d"]:
    """Points 1, 2, 4, ... of the unscrambled sequence as 32-bit integers; the exclusive or of them gives all others."""
    if d > MAX_SOBOL_DIMENSION:
        raise ValueError(f"Sobol points have at most {MAX_SOBOL_DIMENSION} dimensions, not {d}; use method='uniform'.")
    generators = _generators(bits, *_direction_numbers(d))
    generators.setflags(write=False)
    return generators


def _direction_numbers(d: int) -> tuple[UInt[np.ndarray, " d"], UInt[np.ndarray, "d m"]]:
    """Primitive polynomials as bits, and the first numbers of each dimension, as scipy ships them."""
    # Its file is read beside its module: importing scipy.stats takes longer than all else that a second start does.
    spec = importlib.util.find_spec("scipy.stats")
    assert spec is not None, "scipy is installed with this package"
    assert spec.origin is not None, "scipy.stats is a folder with files"
    with np.load(Path(spec.origin).parent / "_sobol_direction_numbers.npz") as table:
        return table["poly"][:d].astype(np.uint64), table["vinit"][:d].astype(np.uint64)


def _generators(
    bits: int, polynomials: UInt[np.ndarray, " d"], first: UInt[np.ndarray, "d m"]
) -> UInt[np.ndarray, "b d"]:
    """Points 1, 2, 4, ... by the recurrence of Bratley & Fox (1988)."""
    numbers = np.zeros((bits, len(polynomials)), np.uint64)
    degrees = np.array([int(p).bit_length() - 1 for p in polynomials])
    for k in range(bits):
        for degree in np.unique(degrees):
            of = degrees == degree
            if degree == 0:
                numbers[k, of] = 1
            elif k < degree:
                numbers[k, of] = first[of, k]
            else:
                new = numbers[k - degree, of] ^ (numbers[k - degree, of] << np.uint64(degree))
                for j in range(1, degree):
                    bit = polynomials[of] >> np.uint64(degree - j) & np.uint64(1)
                    new ^= bit * (numbers[k - j, of] << np.uint64(j))
                numbers[k, of] = new
    places = np.arange(31, 31 - bits, -1, dtype=np.uint64)[:, None]
    return (numbers << places).astype(np.uint32)


def _centered(integers: UInt[Array, "n d"], bits: int) -> Float[Array, "n d"]:
    """Middles of 2^bits cells of (0, 1). The last may round up to 1, so that it is kept below."""
    dtype = jnp.dtype(ambient_precision())
    below_one = float(np.nextafter(dtype.type(1), dtype.type(0)))
    return jnp.minimum(integers.astype(dtype) * 2.0**-bits + 2.0 ** -(bits + 1), below_one)
