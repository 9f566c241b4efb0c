"""Numbers out of symbolic expressions, for checks: points of a region and values there, in NumPy."""

from __future__ import annotations

import numpy as np
import sympy

from phijax.geometry import Region
from phijax.symbolic import Known, Table


def sample_domain(region: Region, count: int) -> dict[sympy.Symbol, np.ndarray]:
    """Points of the region's bounding box, spread evenly (a Kronecker sequence), the same at every call."""
    slopes = np.sqrt([sympy.prime(axis + 1) for axis in range(max(len(region.coordinates), 1))])
    cube = np.arange(1, count + 1)[:, None] * slopes % 1
    return {
        symbol: low + (high - low) * cube[:, axis] for axis, (symbol, (low, high)) in enumerate(region.bounds.items())
    }


def values(expression: sympy.Expr, points: dict[sympy.Symbol, np.ndarray]) -> np.ndarray:
    """The expression at points by symbol, shape (n,); NaN where it has no number there."""
    count = len(next(iter(points.values()), np.zeros(1)))
    symbols = list(points)
    stand_ins = {node: sympy.Dummy(f"k{i}", **_kind(node)) for i, node in enumerate(expression.atoms(Known))}
    inner = [_known(node, points, count) for node in stand_ins]
    try:
        numeric = sympy.lambdify(
            [*symbols, *stand_ins.values()], expression.xreplace(stand_ins), modules=["numpy", "scipy"]
        )
        with np.errstate(all="ignore"):
            result = np.asarray(numeric(*points.values(), *inner), dtype=complex)
    except (NotImplementedError, TypeError, ValueError, NameError, KeyError, ArithmeticError):
        return np.full(count, np.nan)
    return np.broadcast_to(result, (count,))


def _kind(node: Known) -> dict[str, bool]:
    return {"complex": True} if node.func.is_complex_valued else {"real": True}


def _known(node: Known, points: dict[sympy.Symbol, np.ndarray], count: int) -> np.ndarray:
    arguments = [_as_real(values(sympy.sympify(argument), points)) for argument in node.args]
    source = node.func.source
    if any(node.func.orders):
        return np.full(count, np.nan)
    if isinstance(source, Table):
        return _interpolated(source, arguments)
    try:
        return _as_number([np.asarray(source(*row)).reshape(()) for row in zip(*arguments, strict=True)])
    except Exception:  # a user's function may raise anything; a check that cannot be made is no fault
        return np.full(count, np.nan)


def _as_number(column: list[np.ndarray]) -> np.ndarray:
    array = np.asarray(column)
    return array if array.dtype.kind == "c" else array.astype(float)


def _as_real(column: np.ndarray) -> np.ndarray:
    """Without the imaginary part, where it is zero throughout."""
    return column if np.any(np.nan_to_num(column.imag)) else column.real


def _interpolated(table: Table, arguments: list[np.ndarray]) -> np.ndarray:
    from scipy.interpolate import PchipInterpolator, RegularGridInterpolator

    axes = tuple(table.axes.values())
    held = [np.clip(column, axis[0], axis[-1]) for column, axis in zip(arguments, axes, strict=True)]
    if len(axes) == 1:
        return PchipInterpolator(axes[0], table.values)(held[0])
    return RegularGridInterpolator(axes, table.values)(np.stack(held, axis=-1))


def largest(expression: sympy.Expr, points: dict[sympy.Symbol, np.ndarray]) -> tuple[float, dict[str, float]]:
    """Largest absolute value at the points, NaN left out, and the point where it is taken."""
    size = np.abs(values(expression, points))
    if np.all(np.isnan(size)):
        return 0.0, {}
    worst = int(np.nanargmax(size))
    return float(size[worst]), {symbol.name: float(column[worst]) for symbol, column in points.items()}


def reaches_beyond(inner: tuple[float, float], outer: tuple[float, float]) -> bool:
    """Whether an interval reaches beyond another by more than rounding."""
    slack = 1e-6 * (outer[1] - outer[0])
    return inner[0] < outer[0] - slack or inner[1] > outer[1] + slack
