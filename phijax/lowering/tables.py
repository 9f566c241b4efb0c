"""Known functions as JAX: callables of JAX or NumPy, and interpolated tables, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from phijax.symbolic import Table


class _AsNumPy(NDArrayOperatorsMixin):
    """Stands for a traced scalar inside a function written for NumPy: NumPy's functions on it call JAX's."""

    def __init__(self, value: Any):
        self.value = value

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs.get("out") is not None:
            return NotImplemented
        counterpart = getattr(jnp, ufunc.__name__, None)
        return NotImplemented if counterpart is None else _AsNumPy(counterpart(*map(_unwrap, inputs)))

    def __array_function__(self, function: Callable, types: Any, args: Any, kwargs: Any) -> Any:
        counterpart = getattr(jnp, function.__name__, None)
        if counterpart is None:
            return NotImplemented
        args, kwargs = jax.tree.map(_unwrap, (args, kwargs), is_leaf=lambda leaf: isinstance(leaf, _AsNumPy))
        return _AsNumPy(counterpart(*args, **kwargs))

    def __getitem__(self, index: Any) -> _AsNumPy:
        return _AsNumPy(self.value[index])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.value, name)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[_AsNumPy]:
        return (self[i] for i in range(len(self)))

    # What asks for a number now, as `if`, float() and SciPy do, is refused: there is none while JAX traces.

    def __bool__(self) -> bool:
        return bool(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value.__array__(*args, **kwargs)


def _unwrap(value: Any) -> Any:
    return value.value if isinstance(value, _AsNumPy) else value


def known_function(func: Any) -> Callable[..., Any]:
    """The function of scalars that a known function's class stands for, differentiated as often as it says."""
    source = func.source
    base = _interpolated(source) if isinstance(source, Table) else _called(func, source)
    for position, order in enumerate(func.orders):
        for _ in range(order):
            base = _slope(base, position)
    return base


def _slope(function: Callable, position: int) -> Callable:
    def slope(*args: Any) -> Any:
        def along(value: Any) -> Any:
            return function(*args[:position], value, *args[position + 1 :])

        at = args[position]
        return jax.jvp(along, (at,), (jnp.ones_like(at),))[1]

    return slope


def _called(func: Any, source: Callable) -> Callable[..., Any]:
    """Calls with arrays of one entry, so that functions of vectors and of scalars both serve."""
    name = func.base_name

    def call(*args: Any) -> Any:
        vectors = [jnp.reshape(arg, (1,)) for arg in args]
        try:
            result = source(*vectors)
        except (jax.errors.TracerArrayConversionError, jax.errors.ConcretizationTypeError):
            try:
                result = _unwrap(source(*map(_AsNumPy, vectors)))
            except (TypeError, ValueError, jax.errors.JAXTypeError) as error:
                raise ValueError(
                    f"the function {name!r} cannot be traced by JAX ({type(error).__name__}); write it with jax.numpy or "
                    f"numpy operations on arrays, without float() or if on its arguments, or give a table of it."
                ) from error
        except ImportError:
            raise
        except Exception as error:  # a user's function may raise anything
            raise ValueError(
                f"the function {name!r} fails on an array ({type(error).__name__}: {error}); write it with jax.numpy or "
                f"numpy operations on arrays."
            ) from error
        try:
            result = jnp.asarray(_unwrap(result))
        except Exception:  # whatever is no array
            raise ValueError(
                f"the function {name!r} gives {type(result).__name__}; a number, or an array of them, is needed."
            ) from None
        if result.size != 1:
            raise ValueError(
                f"the function {name!r} gives shape {result.shape} for one point; one value a point is needed."
            )
        if jnp.iscomplexobj(result) and not func.is_complex_valued:
            raise ValueError(
                f"the function {name!r} gives complex values; make it by phi.function({name!r}, ..., complex=True)."
            )
        return jnp.reshape(result, ()).astype(vectors[0].dtype if not jnp.iscomplexobj(result) else result.dtype)

    return call


def _interpolated(table: Table) -> Callable[..., Any]:
    if len(table.axes) > 1:
        return _multilinear(table)
    from scipy.interpolate import PchipInterpolator

    (axis,) = table.axes.values()
    coefficients = PchipInterpolator(axis, table.values).c[::-1].T

    def cubic(x: Any) -> Any:
        knots, polynomials = jnp.asarray(axis, x.dtype), jnp.asarray(coefficients, x.dtype)
        held = jnp.clip(x, knots[0], knots[-1])
        piece = jnp.clip(jnp.searchsorted(knots, held, side="right") - 1, 0, len(axis) - 2)
        c = polynomials[piece]
        h = held - knots[piece]
        return c[0] + h * (c[1] + h * (c[2] + h * c[3]))

    return cubic


def _multilinear(table: Table) -> Callable[..., Any]:
    axes = tuple(table.axes.values())

    def linear(*args: Any) -> Any:
        values = jnp.asarray(table.values, args[0].dtype)
        for axis, x in zip(axes, args, strict=True):
            knots = jnp.asarray(axis, x.dtype)
            held = jnp.clip(x, knots[0], knots[-1])
            piece = jnp.clip(jnp.searchsorted(knots, held, side="right") - 1, 0, len(axis) - 2)
            share = (held - knots[piece]) / (knots[piece + 1] - knots[piece])
            values = values[piece] * (1 - share) + values[piece + 1] * share
        return values

    return linear
