"""Where a known expression, or one of its derivatives, jumps or has no bound: searched for by numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import sympy

from phijax.formulation.numeric import sample_domain, values
from phijax.geometry import Interval, Region

Points = dict[sympy.Symbol, np.ndarray]
SLACK = 1e-6
GRID = 257
CELLS = 64
ZOOMS = 5  # each by half the grid's number of cells: to the last bit
LINES = 4
STEP = 1e-5  # of the region's length: how far from a switch one-sided derivatives are taken


@dataclass(frozen=True)
class Break:
    """A derivative by one coordinate that jumps, by `size`, or that has no bound where `size` is infinite; `at`: where."""

    symbol: sympy.Symbol
    order: int
    size: float
    at: dict[sympy.Symbol, float]


@dataclass(frozen=True)
class Searched:
    """An expression of a region's coordinates. center: of the ball into which it is extended, empty for none."""

    expression: sympy.Expr
    region: Region
    center: dict[sympy.Symbol, float]

    @property
    def relevant(self) -> list[sympy.Symbol]:
        """Coordinates of the region on which it depends."""
        return sorted(self.expression.free_symbols & set(self.region.bounds), key=lambda s: s.name)

    @property
    def middle(self) -> Points:
        """The middle of the region, the center of the ball for its coordinates; one point."""
        middle = {symbol: sum(ends) / 2 for symbol, ends in self.region.bounds.items()}
        return {s: np.array([value]) for s, value in {**middle, **self.center}.items()}

    @property
    def is_suspect_at_center(self) -> bool:
        """Whether it may have no limit at the center of its ball."""
        return bool(self.center) and not self.expression.is_polynomial(*self.center)

    def length(self, symbol: sympy.Symbol) -> float:
        """Of the region along a coordinate."""
        low, high = self.region.bounds[symbol]
        return high - low

    def size(self, expression: sympy.Expr) -> float:
        """Largest finite absolute value in the region."""
        size = np.abs(values(expression, sample_domain(self.region, 64)))
        return float(np.max(size[np.isfinite(size)], initial=1e-300))

    def derivative(self, symbol: sympy.Symbol, order: int) -> sympy.Expr:
        """By a coordinate, away from where it jumps."""
        return self.expression.diff(symbol, order).replace(sympy.DiracDelta, lambda *_: sympy.S.Zero)


def find_break(what: Searched, orders: dict[sympy.Symbol, int]) -> Break | None:
    """The first break found of a derivative up to these orders, of lowest order along its coordinate."""
    found = _spread_at_center(what) if what.is_suspect_at_center else None
    switches = _switches(what.expression)
    for symbol in () if found else what.relevant:
        places = [_roots(switch, symbol, what) for switch in switches if switch.has(symbol)]
        places += [what.middle] if what.is_suspect_at_center and symbol in what.center else []
        if places:
            joined = {s: np.concatenate([place[s] for place in places]) for s in what.middle}
            found = next(_breaks(what, symbol, joined, orders[symbol]), None)
        if found:
            break
    return found


def _switches(expression: sympy.Expr) -> list[sympy.Expr]:
    """Expressions at whose zeros something in `expression` may have a jump or a kink."""
    found: dict[sympy.Expr, None] = {}
    for node in sympy.preorder_traversal(expression):
        if isinstance(node, sympy.Abs | sympy.sign | sympy.Heaviside):
            found[node.args[0]] = None
        elif isinstance(node, sympy.Max | sympy.Min):
            found |= {one - other: None for one, other in combinations(node.args, 2)}
        elif isinstance(node, sympy.Rel):
            found[node.lhs - node.rhs] = None
        elif isinstance(node, sympy.floor | sympy.ceiling | sympy.frac):
            found[sympy.sin(sympy.pi * node.args[0])] = None
        elif isinstance(node, sympy.Mod):
            found[sympy.sin(sympy.pi * node.args[0] / node.args[1])] = None
        elif isinstance(node, sympy.Pow) and node.exp.is_number and not node.exp.is_integer:
            found[node.base] = None
    return list(found)


def _roots(switch: sympy.Expr, symbol: sympy.Symbol, what: Searched) -> Points:
    """Places where a switch is zero, or touches it, on a few lines along a coordinate, as far as they are inside."""
    starts = what.middle
    if len(what.relevant) > 1:
        more = sample_domain(what.region, LINES)
        starts = {s: np.concatenate([column, more[s]]) for s, column in starts.items()}
    low, high = what.region.bounds[symbol]
    grid = np.broadcast_to(np.linspace(low, high, GRID), (len(starts[symbol]), GRID))
    signed = _along(switch, symbol, grid, starts, what.region)
    size, top = np.nan_to_num(np.abs(signed), nan=np.inf), np.nanmax(np.abs(signed), initial=0.0)
    crossing = np.pad(signed[:, :-1] * signed[:, 1:] < 0, ((0, 0), (0, 1)))
    padded = np.pad(size, ((0, 0), (1, 1)), constant_values=np.inf)
    lowest = (size <= padded[:, :-2]) & (size <= padded[:, 2:]) & (size < 0.1 * top)
    lines, cells = (found[:CELLS] for found in np.nonzero(crossing | lowest))
    starts = {s: column[lines] for s, column in starts.items()}
    rows = np.arange(len(lines))
    for _ in range(ZOOMS if len(lines) else 0):
        low, high = grid[lines, np.maximum(cells - 1, 0)], grid[lines, np.minimum(cells + 1, GRID - 1)]
        grid, lines = np.linspace(low, high, GRID, axis=-1), rows
        size = np.nan_to_num(np.abs(_along(switch, symbol, grid, starts, what.region)), nan=np.inf)
        cells = np.argmin(size, axis=1)
    zero = size[lines, cells] < 1e-9 * top
    return {s: (grid[lines, cells] if s == symbol else column)[zero] for s, column in starts.items()}


def _along(switch: sympy.Expr, symbol: sympy.Symbol, grid: np.ndarray, starts: Points, region: Region) -> np.ndarray:
    """Values on lines along a coordinate, (lines, n) as `grid` is; NaN outside of the region."""
    points = _on_lines(symbol, grid, starts)
    found = values(switch, points).real
    if not all(isinstance(factor, Interval) for factor in region.factors):
        found = np.where(region.inside({s.name: column for s, column in points.items()}), found, np.nan)
    return found.reshape(grid.shape)


def _on_lines(symbol: sympy.Symbol, grid: np.ndarray, starts: Points) -> Points:
    return {s: grid.ravel() if s == symbol else np.repeat(c, grid.shape[1]) for s, c in starts.items()}


def _breaks(what: Searched, symbol: sympy.Symbol, places: Points, highest: int) -> Iterator[Break]:
    """What jumps, or grows without bound, at places along a coordinate, from the value on."""
    low, high = what.region.bounds[symbol]
    near = places[symbol][:, None] + STEP * (high - low) * np.array([-1, -0.1, 0.1, 1])[None, :]
    near = np.where((near >= low) & (near <= high), near, np.nan)
    for order in range(highest + 1 if len(near) else 0):
        derivative = what.derivative(symbol, order)
        scale = what.size(derivative) + what.size(what.expression) / (high - low) ** order
        around = values(derivative, _on_lines(symbol, near, places)).reshape(near.shape)
        outer, inner = np.abs(around[:, [0, 3]]), np.abs(around[:, [1, 2]])
        grows = np.any((inner > 2 * outer) & (inner > SLACK * scale), axis=1)
        jump = np.abs(around[:, 2] - around[:, 1])
        jumps = (jump > SLACK * scale) & (jump > 0.5 * np.abs(around[:, 3] - around[:, 0]))
        for row in np.flatnonzero(grows | jumps):
            at = {s: float(column[row]) for s, column in places.items() if s in what.relevant}
            yield Break(symbol, order, float("inf") if grows[row] else float(jump[row]), at)


def _spread_at_center(what: Searched) -> Break | None:
    """A value that depends on the direction from which the center of a ball is reached."""
    spreads = []
    for part in (STEP, STEP / 10):
        places = {s: np.repeat(value, 2 * len(what.center)) for s, value in what.middle.items()}
        for i, symbol in enumerate(what.center):
            places[symbol][2 * i : 2 * i + 2] += part * what.length(symbol) * np.array([-1, 1])
        around = values(what.expression, places)
        spreads.append(np.max(np.abs(around[:, None] - around[None, :])))
    if spreads[1] > SLACK * what.size(what.expression) and spreads[1] > 0.5 * spreads[0]:
        return Break(next(iter(what.center)), 0, float(spreads[1]), dict(what.center))
    return None
