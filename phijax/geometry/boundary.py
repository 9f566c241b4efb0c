"""Boundary: named pieces taken together, one unit cube for all of them, and selection by calling."""

from __future__ import annotations

import functools
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Array, Bool, Float
from sympy import Expr, Symbol

from phijax.geometry._numbers import namespace
from phijax.geometry.cells import Cells
from phijax.geometry.meshed import Merged
from phijax.geometry.pick import Pick
from phijax.geometry.placement import Coordinates, Placement, Rule
from phijax.geometry.region import Region


@dataclass(frozen=True)
class Boundary(Region):
    """A union of pieces over the same coordinates that share no more than edges.

    Its first cube coordinate picks the piece in proportion to the measures and is stretched to serve the piece, so
    that low-discrepancy points spread over all of the pieces.
    """

    named: tuple[tuple[str, Region], ...]

    def __post_init__(self) -> None:
        pieces = tuple((name, piece) for name, piece in self.named)
        if not pieces:
            raise ValueError("Boundary: give at least one piece.")
        if len({frozenset(piece.coordinates) for _, piece in pieces}) > 1:
            raise ValueError("Boundary: all pieces must have the same coordinates.")
        object.__setattr__(self, "named", pieces)

    @property
    def pieces(self) -> tuple[tuple[str, Region], ...]:
        return self.named

    @property
    def regions(self) -> tuple[Region, ...]:
        """The pieces without their names."""
        return tuple(piece for _, piece in self.pieces)

    @property
    def coordinates(self) -> tuple[Symbol, ...]:
        return self.regions[0].coordinates

    @property
    def dimension(self) -> int:
        return max(piece.dimension for piece in self.regions)

    @property
    def cube_dimension(self) -> int | None:
        sizes = [piece.cube_dimension for piece in self.regions]
        return None if None in sizes else max(1, *sizes)  # type: ignore[arg-type, type-var]

    @property
    def measure(self) -> float:
        return sum(piece.measure for piece in self.regions)

    @property
    def bounds(self) -> dict[Symbol, tuple[float, float]]:
        each = [piece.bounds for piece in self.regions]
        return {s: (min(b[s][0] for b in each), max(b[s][1] for b in each)) for s in self.coordinates}

    @property
    def fixed(self) -> dict[Symbol, Expr]:
        first, *others = (piece.fixed for piece in self.regions)
        return {s: v for s, v in first.items() if all(s in other and other[s] == v for other in others)}

    @property
    def periodic(self) -> frozenset[Symbol]:
        return frozenset().union(*(piece.periodic for piece in self.regions))

    @property
    def normal_coordinates(self) -> tuple[Symbol, ...]:
        if not all(piece.has_normals for piece in self.regions):
            return ()
        across = {symbol for piece in self.regions for symbol in piece.normal_coordinates}
        return tuple(symbol for symbol in self.coordinates if symbol in across)

    @property
    def constant_normal(self) -> dict[Symbol, int]:
        return self.regions[0].constant_normal if len(self.pieces) == 1 else {}

    @property
    def face_name(self) -> str | None:
        return self.pieces[0][0] if len(self.pieces) == 1 else None

    @property
    def cover(self) -> Region:
        return self if self.cube_dimension else Boundary(tuple((name, piece.cover) for name, piece in self.pieces))

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(fault for piece in self.regions for fault in piece.faults)

    @property
    def empty(self) -> bool:
        return all(piece.empty for piece in self.regions)

    def place(self, unit: Float[Array, "n c"]) -> Placement:
        if len(self.pieces) == 1:
            return self.regions[0].place(unit[:, : self.regions[0].cube_dimension])
        if self._meshed is not None:
            return self._meshed.place(unit)
        xp = namespace(unit)
        index, stretched = self._spread(unit)
        cells = Cells.of(self.regions)
        if cells is not None:
            return cells.place(index, stretched)
        each = [piece.place(stretched[:, : piece.cube_dimension]) for piece in self.regions]
        choose = lambda columns: xp.select([index == i for i in range(len(each))], columns)
        gather = lambda tables: {name: choose([table[name] for table in tables]) for name in tables[0]}
        coordinates = gather([part.coordinates for part in each])
        return Placement(coordinates, gather([part.normals for part in each]) if self.has_normals else None)

    def accept(self, unit: Float[Array, "n c"], placement: Placement) -> Bool[Array, "n"]:
        return self.cover.accept_by(unit, placement, self.regions)  # type: ignore[attr-defined]

    def accept_by(
        self, unit: Float[Array, "n c"], placement: Placement, regions: tuple[Region, ...]
    ) -> Bool[Array, "n"]:
        """Which of its points, `placement`, are of the regions that its pieces cover, one each."""
        index, stretched = self._spread(unit)
        accepted = [region.accept(stretched, placement) for region in regions]
        return namespace(unit).select([index == i for i in range(len(accepted))], accepted)

    def piece_of(self, unit: Float[Array, "n c"]) -> Array:
        """Index of the piece that each point of the cube goes to, (n,)."""
        if len(self.pieces) == 1:
            return namespace(unit).zeros(len(unit), int)
        return self._meshed.piece(unit[:, 0]) if self._meshed is not None else self._pick(unit[:, 0])[0]

    def _spread(self, unit: Float[Array, "n c"]) -> tuple[Array, Float[Array, "n c"]]:
        """Index of the piece, and the point of the piece's own cube."""
        if len(self.pieces) == 1 or self._meshed is not None:
            return self.piece_of(unit), unit
        index, first = self._pick(unit[:, 0])
        return index, namespace(unit).concatenate([first[:, None], unit[:, 1:]], axis=1)

    def _pick(self, unit: Float[Array, "n"]) -> tuple[Array, Float[Array, "n"]]:
        """Index of the piece, and where in the piece's share of (0, 1) the number lies."""
        return Pick.of(np.array([piece.measure for piece in self.regions]), unit.dtype).split(unit)

    @functools.cached_property
    def _meshed(self) -> Merged | None:
        return Merged.of(self.regions)

    def distance(self, points: Coordinates) -> Float[Array, "*n"]:
        """To the nearest piece."""
        return functools.reduce(namespace(points[self.names[0]]).minimum, [p.distance(points) for p in self.regions])

    def inside(self, points: Coordinates, tolerance: float | None = None) -> Bool[Array, "*n"]:
        return functools.reduce(operator.or_, [piece.inside(points, tolerance) for piece in self.regions])

    def quadrature(self, points_per_axis: int) -> Rule:
        """The pieces' rules, one after another."""
        rules = [piece.quadrature(points_per_axis) for piece in self.regions]
        join = lambda tables: {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
        normals = join([rule.normals for rule in rules]) if self.has_normals else None
        weights = np.concatenate([rule.weights for rule in rules])
        return Rule(join([rule.coordinates for rule in rules]), weights, normals)

    def slice_at(self, symbol: Symbol, value: Expr) -> Region:
        kept, refused = [], []
        for name, piece in self.pieces:
            try:
                kept.append((name, piece.slice_at(symbol, value)))
            except ValueError as problem:
                refused.append(problem)
        if not kept:
            raise refused[0]
        return Boundary(tuple(kept))

    def faces(self) -> tuple[tuple[str, Region], ...]:
        return ()

    def __call__(self, *coordinates: Symbol | str, where: Any = None) -> Region:
        """The pieces that bound the factors owning `coordinates`, and of these the part where `where` holds.

        where: a sympy relation between the coordinates, such as x > 0, or several joined by & and |.
        Never raises: what can't be resolved is in `faults`.
        """
        from phijax.geometry.selectors import select

        return select(self, coordinates, where)

    def body(self, tex: bool = False) -> str:
        bodies = [[factor.body(tex) for factor in piece.factors] for piece in self.regions]
        merged = [bodies[0]]
        for body in bodies[1:]:  # {0} x [0, 1] and {2} x [0, 1] are {0, 2} x [0, 1]
            differing = [i for i, (a, b) in enumerate(zip(merged[-1], body, strict=False)) if a != b]
            if (
                len(differing) == 1
                and len(body) == len(merged[-1])
                and all(_joins(each[differing[0]], tex) for each in (merged[-1], body))
            ):
                i = differing[0]
                merged[-1] = [*merged[-1][:i], _joined(merged[-1][i], body[i], tex), *merged[-1][i + 1 :]]
            else:
                merged.append(body)
        times, plus = (r" \times ", r" \cup ") if tex else (" x ", " + ")
        return plus.join(times.join(body) for body in merged)


def _joins(body: str, tex: bool) -> bool:
    return body.startswith(r"\{" if tex else "{") and body.endswith(r"\}" if tex else "}") and "^2" not in body


def _joined(left: str, right: str, tex: bool) -> str:
    close, opening = (r"\}", r"\{") if tex else ("}", "{")
    return f"{left.removesuffix(close)}, {right.removeprefix(opening)}"
