"""Placement: points of a region by name; rules, which are points with weights; and functions evaluated at points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sympy import Expr, Symbol
from sympy import latex as sympy_latex

from phijax.geometry._numbers import is_space, namespace
from phijax.symbolic import text

if TYPE_CHECKING:
    from phijax.geometry.region import Region

Coordinates = Mapping[str, Float[Array, "*n"]]


class Placement(NamedTuple):
    """Points of a region by coordinate name, each (n,), and the outward unit normal there where the region has one."""

    coordinates: dict[str, Float[Array, "*n"]]
    normals: dict[str, Float[Array, "*n"]] | None = None

    def weighted(self, weights: Float[np.ndarray, "m"]) -> Rule:
        """Points of NumPy as the nodes of a rule."""
        columns: Any = (self.coordinates, self.normals)
        return Rule(columns[0], weights, columns[1])


class Rule(NamedTuple):
    """Nodes and weights of a quadrature rule in float64, each (m,), and the normals at the nodes of a boundary."""

    coordinates: dict[str, Float[np.ndarray, "m"]]
    weights: Float[np.ndarray, "m"]
    normals: dict[str, Float[np.ndarray, "m"]] | None = None

    @property
    def nodes(self) -> Placement:
        """The nodes without their weights."""
        columns: Any = (self.coordinates, self.normals)
        return Placement(*columns)


def at_points(region: Region, function: Callable[[Coordinates], Array], points: Coordinates) -> Any:
    """A function of points of a region: of JAX arrays, in their precision; of anything else in float64, and as NumPy.

    ValueError, with the names, where a coordinate is missing.
    """
    missing = [name for name in region.names if name not in points]
    if missing:
        raise ValueError(f"points of {region} need the coordinate {', '.join(missing)}; given: {', '.join(points)}.")
    given = {name: points[name] for name in region.names}
    if any(isinstance(column, jax.Array) for column in given.values()):
        return function(_one_shape({name: jnp.asarray(column) + 0.0 for name, column in given.items()}))
    columns: Any = {name: np.asarray(column, np.float64) for name, column in given.items()}
    return np.asarray(function(_one_shape(columns)))


def _one_shape(columns: dict[str, Array]) -> dict[str, Array]:
    xp = namespace(next(iter(columns.values())))
    return dict(zip(columns, xp.broadcast_arrays(*columns.values()), strict=True))


def written(number: Expr, tex: bool) -> str:
    """An exact number as text or LaTeX."""
    return sympy_latex(number) if tex else text(number)


def space_zeros(coordinates: tuple[Symbol, ...], like: Float[Array, "n"]) -> dict[str, Float[Array, "n"]]:
    """A zero normal over the space coordinates, to be filled in."""
    return {symbol.name: namespace(like).zeros_like(like) for symbol in coordinates if is_space(symbol)}
