"""What parametric curves and surfaces share: their expressions with derivatives, their extent, their nearest points."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from jaxtyping import Array, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import as_float, exact, namespace, symbols, uncurved
from phijax.geometry.predicate import expression_value, unknown_node

Limits = tuple[Symbol, Expr, Expr]
Columns = Any  # arrays of NumPy or of JAX, of shape (n,) each
_NODES = 1024  # from which the nearest point of a set is sought, in blocks
_BLOCKS = 16
_STEPS = 12  # of Newton's method from the nearest node of each block


def checked_limits(given: Any, what: str) -> Limits:
    """(symbol, lower, upper) of a parameter, or a ValueError."""
    if not isinstance(given, tuple | list | sympy.Tuple) or len(given) != 3 or not isinstance(given[0], Symbol):
        raise ValueError(f"{what}: a parameter is (symbol, lower, upper), as in (s, 0, 1); got {given!r}.")
    symbol: Any = given[0]
    lower, upper = (exact(value, f"{what}: a bound of {given[0]}") for value in given[1:])
    if not as_float(lower) < as_float(upper):
        raise ValueError(f"{what}: the bounds of {symbol} are {lower} and {upper}; the lower must be less.")
    return as_real(symbol), lower, upper


def as_real(symbol: Symbol) -> Symbol:
    """The symbol, known to be real: of another, sympy leaves the derivative of an absolute value undone."""
    return symbol if symbol.is_real else sympy.Symbol(symbol.name, real=True)


def checked_place(given: Any, parameters: Sequence[Symbol], dimensions: Iterable[int], what: str) -> tuple:
    """Pairs (coordinate, expression of the parameters), or a ValueError."""
    pairs = tuple(given.items()) if isinstance(given, Mapping) else tuple(map(tuple, given))
    allowed = tuple(dimensions)
    each = symbols([symbol for symbol, _ in pairs], what)
    uncurved(each, what)
    if len(each) not in allowed:
        raise ValueError(f"{what}: give {' or '.join(map(str, allowed))} coordinates, not {len(each)}.")
    if len({s.name for s in (*each, *parameters)}) < len(each) + len(parameters):
        raise ValueError(f"{what}: a parameter has the name of a coordinate or of another parameter; rename it.")
    found = []
    for symbol, expression in pairs:
        expression = sympy.sympify(expression, strict=True)
        expression = expression.xreplace({free: as_real(free) for free in expression.free_symbols})
        strange = sorted(map(str, expression.free_symbols - set(parameters)))
        if strange:
            raise ValueError(f"{what}: {symbol} = {expression} depends on {strange[0]}, which is no parameter of it.")
        slopes = (expression, *(expression.diff(p) for p in parameters))
        node = next((node for slope in slopes if (node := unknown_node(slope)) is not None), None)
        if node is not None:
            raise ValueError(f"{what}: {symbol} = {expression} holds {node}, which can't be evaluated on points.")
        found.append((symbol, expression))
    return tuple(found)


class Map:
    """A map from a box of m parameters to R^d, with its first and second derivatives, on arrays of NumPy or JAX."""

    def __init__(self, place: Sequence[Expr], limits: Sequence[Limits]):
        self.place, self.parameters = tuple(place), tuple(symbol for symbol, _, _ in limits)
        self.lower = tuple(as_float(lower) for _, lower, _ in limits)
        self.upper = tuple(as_float(upper) for _, _, upper in limits)

    @functools.cached_property
    def slopes(self) -> tuple[tuple[Expr, ...], ...]:
        """By parameter, then by coordinate."""
        return tuple(tuple(e.diff(p) for e in self.place) for p in self.parameters)

    @functools.cached_property
    def bends(self) -> dict[tuple[int, int], tuple[Expr, ...]]:
        """Second derivatives, each pair of parameters once."""
        m, smooth = len(self.parameters), lambda e: e.replace(sympy.DiracDelta, lambda *_: sympy.S.Zero)
        pairs = [(i, j) for i in range(m) for j in range(i, m)]
        return {(i, j): tuple(smooth(e.diff(self.parameters[j])) for e in self.slopes[i]) for i, j in pairs}

    def values(self, expressions: Sequence[Expr], at: Sequence[Columns]) -> Any:
        """Expressions of the parameters, stacked along a last axis."""
        columns = {p.name: column for p, column in zip(self.parameters, at, strict=True)}
        return namespace(at[0]).stack([expression_value(e, columns) for e in expressions], -1)

    @functools.cached_property
    def closed(self) -> tuple[bool, ...]:
        """For each parameter, whether its two ends are one place."""
        return tuple(self._meets(k, self.place) for k in range(len(self.parameters)))

    @functools.cached_property
    def smooth(self) -> tuple[bool, ...]:
        """For each parameter, whether the map goes on smoothly from one end to the other."""
        both = enumerate(zip(self.closed, self.slopes, strict=True))
        return tuple(closed and self._meets(k, slopes) for k, (closed, slopes) in both)

    def _meets(self, k: int, expressions: Sequence[Expr]) -> bool:
        spread = np.linspace(0.013, 0.987, 17)
        ends = []
        for bound in (self.lower[k], self.upper[k]):
            at = [low + (high - low) * spread for low, high in zip(self.lower, self.upper, strict=True)]
            at[k] = np.full(17, bound)
            ends.append(self.values(expressions, at))
        return bool(np.allclose(*ends, rtol=0, atol=1e-9 * (1e-300 + np.abs(ends).max())))

    def extent(self) -> list[tuple[float, float]]:
        """Least and greatest value of each coordinate: the best of a grid, made better by a local search."""
        from scipy.optimize import minimize

        size = 1025 if len(self.parameters) == 1 else 65
        axes = [np.linspace(low, high, size) for low, high in zip(self.lower, self.upper, strict=True)]
        at = [axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")]
        values = self.values(self.place, at)
        box, found = list(zip(self.lower, self.upper, strict=True)), []
        for i, expression in enumerate(self.place):
            slopes = [slope[i] for slope in self.slopes]
            ends = []
            for sign, start in ((1, values[:, i].argmin()), (-1, values[:, i].argmax())):

                def signed(p: Any, sign: int = sign, expression: Expr = expression, slopes: Any = slopes) -> Any:
                    row = self.values([expression, *slopes], [np.atleast_1d(c) for c in p])[0]
                    return sign * row[0], sign * row[1:]

                best = minimize(signed, [c[start] for c in at], jac=True, bounds=box, method="L-BFGS-B", tol=1e-14)
                ends.append(sign * min(float(best.fun), sign * float(values[start, i])))
            found.append((ends[0], ends[1]))
        return found

    def distance(self, points: Sequence[Float[Array, "*n"]], starts: Float[np.ndarray, "k m"]) -> Float[Array, "*n"]:
        """To the set: from the nearest node of each block of `starts`, Newton's method for the foot of the normal."""
        stacked = jnp.stack([jnp.asarray(column) for column in points], -1)
        flat = stacked.reshape(-1, stacked.shape[-1])
        blocks = np.stack(np.array_split(starts[: len(starts) // _BLOCKS * _BLOCKS], _BLOCKS))
        return self._nearest(flat, jnp.asarray(blocks, flat.dtype)).reshape(stacked.shape[:-1])

    @functools.partial(jax.jit, static_argnums=0)
    def _nearest(self, flat: Float[Array, "n d"], tables: Float[Array, "b k m"]) -> Float[Array, "n"]:
        count = tables.shape[0] * tables.shape[1]
        spacing = [4 * (high - low) * _BLOCKS / count for low, high in zip(self.lower, self.upper, strict=True)]

        def block(best: Array, nodes: Array) -> tuple[Array, None]:
            places = self.values(self.place, [nodes[:, k] for k in range(len(self.parameters))])
            square = sum((flat[:, i, None] - places[None, :, i]) ** 2 for i in range(flat.shape[1]))
            at = nodes[jnp.argmin(square, axis=1)]
            foot = jax.lax.fori_loop(0, _STEPS, lambda _, p: self._newton(flat, p, spacing), at)
            nearest = jnp.minimum(jnp.min(square, axis=1), jnp.sum(self._offset(flat, foot) ** 2, -1))
            return jnp.minimum(best, nearest), None

        square, _ = jax.lax.scan(block, jnp.full(flat.shape[:1], jnp.inf, flat.dtype), tables)
        return jnp.sqrt(square)

    def starts(self) -> Float[np.ndarray, "k m"]:
        """Nodes for `distance`: a grid of the box of parameters, its ends included."""
        size = round(_NODES ** (1 / len(self.parameters)))
        axes = [np.linspace(low, high, size) for low, high in zip(self.lower, self.upper, strict=True)]
        return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], 1)

    def _offset(self, points: Float[Array, "n d"], at: Float[Array, "n m"]) -> Float[Array, "n d"]:
        return self.values(self.place, [at[:, k] for k in range(at.shape[1])]) - points

    def _newton(self, points: Float[Array, "n d"], at: Float[Array, "n m"], spacing: Sequence[float]) -> Array:
        """One step for the least distance; by the first derivatives alone where the second ones point away."""
        m, columns = at.shape[1], [at[:, k] for k in range(at.shape[1])]
        offset = self._offset(points, at)
        slopes = [self.values(slope, columns) for slope in self.slopes]
        force = [jnp.sum(offset * slope, -1) for slope in slopes]
        flat, bent = {}, {}
        for (i, j), bend in self.bends.items():
            flat[i, j] = jnp.sum(slopes[i] * slopes[j], -1)
            bent[i, j] = flat[i, j] + jnp.sum(offset * self.values(bend, columns), -1)
        tiny = float(jnp.finfo(at.dtype).tiny) ** 0.5
        if m == 1:
            steps = [force[0] / (jnp.where(bent[0, 0] > 0, bent[0, 0], flat[0, 0]) + tiny)]
        else:
            determinant = bent[0, 0] * bent[1, 1] - bent[0, 1] ** 2
            convex = (determinant > 0) & (bent[0, 0] > 0)
            a, b, c = (jnp.where(convex, bent[key], flat[key]) for key in ((0, 0), (0, 1), (1, 1)))
            determinant = a * c - b**2
            determinant = jnp.where(determinant > tiny, determinant, 1)
            steps = [(c * force[0] - b * force[1]) / determinant, (a * force[1] - b * force[0]) / determinant]
        moved = []
        for k, step in enumerate(steps):
            low, high = self.lower[k], self.upper[k]
            value = columns[k] - jnp.clip(step, -spacing[k], spacing[k])
            if self.closed[k]:
                value = jnp.where(
                    value < low, value + (high - low), jnp.where(value > high, value - (high - low), value)
                )
            moved.append(jnp.clip(value, low, high))
        return jnp.stack(moved, 1)
