"""Numbers and symbols as users write them: kept exact, checked once, turned into floats where points are computed."""

from __future__ import annotations

import difflib
import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Expr, Integer, Symbol, sympify
from sympy import Float as SympyFloat
from sympy.core.sympify import SympifyError

from phijax._precision import precision_scope
from phijax.symbolic import charts_of, kind_of


def exact(value: Any, what: str) -> Expr:
    """`value` as an exact finite real sympy number; a ValueError that begins with `what` for anything else."""
    number = _sympified(value, what)
    if number.free_symbols:
        names = ", ".join(sorted(map(str, number.free_symbols)))
        raise ValueError(f"{what} is {number}, which depends on {names}; give a number.")
    if number.is_real is False or not math.isfinite(_real(number, what)):
        raise ValueError(f"{what} is {value!r}: it must be a finite real number.")
    if isinstance(number, SympyFloat) and as_float(number).is_integer():
        return Integer(int(number))
    return number


def depends(value: Any) -> bool:
    """Whether a bound is an expression with symbols."""
    return isinstance(value, Expr) and bool(value.free_symbols)


def _sympified(value: Any, what: str) -> Expr:
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()  # numpy and jax scalars: their exact value as a Python number
    if not isinstance(value, bool | str):
        try:
            number = sympify(value, strict=True)
        except SympifyError:
            pass
        else:
            if isinstance(number, Expr):
                return number
    raise ValueError(f"{what} is {value!r}: it must be a number or a sympy number such as 2*pi.")


def _real(number: Expr, what: str) -> float:
    try:
        return as_float(number)
    except TypeError:
        raise ValueError(f"{what} is {number}: it must be a finite real number.") from None


@functools.lru_cache(maxsize=4096)
def as_float(number: Expr) -> float:
    """The nearest double of an exact number."""
    return float(number.evalf(30))


def symbols(given: Any, what: str) -> tuple[Symbol, ...]:
    """`given` as a tuple of distinct symbols."""
    each: tuple = (given,) if isinstance(given, Symbol | str) else tuple(given)
    for symbol in each:
        if not isinstance(symbol, Symbol):
            raise ValueError(
                f"{what}: {symbol!r} is no coordinate; make one with phi.coordinate({str(symbol)!r}) and give that."
            )
    for name in {s.name for s in each}:
        if sum(s.name == name for s in each) > 1:
            raise ValueError(f"{what}: the coordinate {name!r} is given more than once.")
    return each


def uncurved(given: Iterable[Symbol], what: str) -> None:
    """Refuses coordinates of a curvilinear chart where lengths and normals are taken as Cartesian ones."""
    for symbol in given:
        for chart in charts_of([symbol]):
            raise ValueError(
                f"{what}: {symbol} is of a {chart[0]} chart, in which lengths and normals are others; regions over it "
                f"are products of phi.Interval."
            )


def namespace(array: Any) -> Any:
    """`numpy` for its arrays, else `jax.numpy`: maps of points serve compiled code and, without JAX, declarations."""
    return np if isinstance(array, np.ndarray) else jnp


def by_jax(method: Callable[[Any, Any], Array]) -> Callable[[Any, Any], Any]:
    """A function of points that is written for JAX, for NumPy too: in float64, and back."""

    @functools.wraps(method)
    def either(self: Any, points: Any) -> Any:
        if not all(isinstance(column, np.ndarray) for column in points.values()):
            return method(self, points)
        with precision_scope("float64"):
            return np.asarray(method(self, {name: jnp.asarray(column, "float64") for name, column in points.items()}))

    return either


def unstacked(array: Array) -> tuple[Array, ...]:
    """The columns of an array of shape (n, d)."""
    return jnp.unstack(array, axis=1) if isinstance(array, jax.Array) else tuple(np.moveaxis(array, 1, 0))


def is_space(symbol: Symbol) -> bool:
    return kind_of(symbol) == "space"


def nearest(written: str, valid: Iterable[str]) -> str:
    """A clause that names the nearest valid name, and all of them."""
    names = list(valid)
    if not names:
        return "it has none"
    close = difflib.get_close_matches(written, names, n=1, cutoff=0.5)
    known = f"it has {', '.join(names)}"
    return f"did you mean {close[0]!r}? ({known})" if close else known


def inner_bounds(lower: float, upper: float, dtype: Any, name: str) -> tuple[float, float]:
    """Smallest and largest number of `dtype` strictly between `lower` and `upper`, as rounded to `dtype`."""
    dtype = np.dtype(dtype)
    low, high = dtype.type(lower), dtype.type(upper)
    first, last = np.nextafter(low, high), np.nextafter(high, low)
    tiny = np.finfo(dtype).tiny  # numbers below it are flushed to zero by compiled code
    first = tiny if 0 <= first < tiny else first
    last = -tiny if -tiny < last <= 0 else last
    if not low < first <= last < high:
        raise ValueError(
            f"{name}: no {dtype} number lies strictly between {lower} and {upper}; use precision='float64'."
        )
    return float(first), float(last)


def evenly_spread(n: int, size: int) -> Float[np.ndarray, "n c"]:
    """A Kronecker sequence on the roots of x^(size + 1) = x + 1 (Roberts 2018), inside the open cube."""
    root = 2.0
    for _ in range(64):
        root = (1 + root) ** (1 / (size + 1))
    steps = root ** -np.arange(1.0, size + 1)
    spread = np.mod(0.5 + steps * np.arange(1, n + 1)[:, None], 1.0)
    return np.clip(spread, 2.0**-30, 1 - 2.0**-30)
