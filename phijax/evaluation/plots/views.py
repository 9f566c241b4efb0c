"""Views: which coordinates of a region a picture shows, where the others are held, and what of a region is seen so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy

from phijax.evaluation.plots.panels import letter
from phijax.geometry import Product, Region
from phijax.geometry.product import product
from phijax.symbolic import kind_of

MOST_SHOWN = 3
_RANK = {"space": 0, "time": 1, "parameter": 2}


@dataclass(frozen=True)
class View:
    """shown: one to three coordinates, the axes of the picture in order. held: of the others, the middle of each."""

    shown: tuple[sympy.Symbol, ...]
    held: dict[sympy.Symbol, float]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the axes."""
        return tuple(symbol.name for symbol in self.shown)

    @property
    def spatial(self) -> bool:
        """Whether all axes are of space, so that they share one scale."""
        return all(kind_of(symbol) == "space" for symbol in self.shown)

    def place(self, fixed: dict[sympy.Symbol, float]) -> str:
        """Where the picture is taken, as mathematics: what is held, at its fixed value where it has one."""
        values = ((s, fixed.get(s, value)) for s, value in self.held.items())
        return ", ".join(f"{letter(s.name)} = {value:.4g}" for s, value in values)


def view_of(region: Region) -> View:
    """The first three coordinates of space; where there are fewer than two, time and parameters as well."""
    ranked = sorted(region.coordinates, key=lambda symbol: _RANK[kind_of(symbol)])
    space = [symbol for symbol in ranked if kind_of(symbol) == "space"]
    shown = space[:MOST_SHOWN] if len(space) > 1 else ranked[:2]
    if [kind_of(symbol) for symbol in shown] == ["space", "time"]:
        shown = shown[::-1]  # time runs to the right
    bounds = region.bounds
    return View(tuple(shown), {s: sum(bounds[s]) / 2 for s in ranked if s not in shown})


def seen(region: Region, view: View) -> Region | None:
    """The part of a region that lies in the view, over the shown coordinates alone; None where it cannot be cut so.

    Factors of other coordinates are dropped, and one that has both is cut where the view holds them.
    """
    if region.faults:
        return None
    if not isinstance(region, Product) and len(region.pieces) > 1:
        return None  # piece by piece
    kept = []
    for factor in region.factors:
        hidden = {s: view.held[s] for s in factor.coordinates if s in view.held}
        if len(hidden) == len(factor.coordinates):
            continue
        for symbol, value in hidden.items():
            factor = factor.at({symbol: value})
        if factor.faults:
            return None
        kept += [part for part in factor.factors if set(part.coordinates) <= set(view.shown)]
    return product(*kept) if kept else None


def columns_of(table: dict, view: View) -> list[np.ndarray]:
    """The columns of the shown coordinates, in the order of the axes; zeros for one that the table lacks."""
    size = len(next(iter(table.values())))
    return [np.asarray(table[name], float) if name in table else np.zeros(size) for name in view.names]
