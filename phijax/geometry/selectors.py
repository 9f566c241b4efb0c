"""Selecting from regions: `at`, `side`, `boundary`. Nothing here raises; what fails becomes a sentence in `faults`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import sympy
from sympy import Symbol

from phijax.geometry._numbers import exact, is_space, nearest
from phijax.geometry.boundary import Boundary
from phijax.geometry.interval import Interval
from phijax.geometry.predicate import unknown_node
from phijax.geometry.region import Region
from phijax.geometry.selection import restrict
from phijax.geometry.unresolved import Unresolved
from phijax.symbolic import degenerate, kind_of

_SIDES = (("left", "right"), ("bottom", "top"))


def at(region: Region, values: Mapping[str, Any]) -> Region:
    if isinstance(region, Unresolved):
        return region
    written = ", ".join(f"{name}={value}" for name, value in values.items())
    place, part, faults = f"at({written}) on {region}", region, []
    if not values:
        faults.append(f"at() on {region}: give a coordinate and its value, as in at({region.names[0]}=0).")
    by_name = {symbol.name: symbol for symbol in region.coordinates}
    for name, value in values.items():
        if name not in by_name:
            faults.append(f"{place}: there is no coordinate {name!r}; {nearest(name, by_name)}.")
            continue
        try:
            part = part.slice_at(by_name[name], exact(value, f"{name}"))
        except ValueError as problem:
            faults.append(f"{place}: {problem}")
    return Unresolved(region.coordinates, tuple(faults)) if faults else part


def boundary(region: Region) -> Boundary | Unresolved:
    if isinstance(region, Unresolved):
        return region
    try:
        faces = region.faces()
    except ValueError as problem:
        return Unresolved(region.coordinates, (str(problem),))
    if faces:
        return Boundary(faces)
    return Unresolved(region.coordinates, (f"the boundary of {region}: it has none in space{_why_none(region)}.",))


def _why_none(region: Region) -> str:
    if region.periodic:
        return f", since {_listed(region.periodic)} is periodic"
    if isinstance(region, Boundary) or region.has_normals:
        return ", being a boundary itself"
    if region.dimension == 0:
        return ", being a set of points"
    if not any(is_space(symbol) for symbol in region.coordinates):
        return "; time and parameters have no boundary: use at"
    return ""


def _listed(symbols: Iterable[Symbol]) -> str:
    return " and ".join(sorted(symbol.name for symbol in symbols))


def side(region: Region, name: Any) -> Region:
    if isinstance(region, Unresolved):
        return region
    found = _sides(region)
    if isinstance(name, str) and name in found:
        return found[name]
    return Unresolved(region.coordinates, (f"side({name!r}) of {region}: {_why_no_side(region, str(name), found)}.",))


def _sides(region: Region) -> dict[str, Region]:
    """Sides by every name they go by."""
    groups: dict[str, list[tuple[str, Region]]] = {}
    pieces = region.pieces if isinstance(region, Boundary) else getattr(boundary(region), "pieces", ())
    given = {name for name, face in pieces if name != face.face_name}  # a name of the user's is not a shape's own too
    for name, face in pieces:
        own = face.face_name or name
        for each in dict.fromkeys((name, name if own in given else own)):
            groups.setdefault(each, []).append((name, face))
    found = {name: pieces[0][1] if len(pieces) == 1 else Boundary(tuple(pieces)) for name, pieces in groups.items()}
    aliases = {}
    for symbol, names in zip(_named_axes(region), _SIDES, strict=False):
        for alias, sign in zip(names, "-+", strict=True):
            if f"{symbol.name}{sign}" in found:
                aliases[alias] = found[f"{symbol.name}{sign}"]
    return aliases | found


def named(region: Region, name: str | None, sides: Mapping[str, str]) -> Region:
    from phijax.geometry.named import Named, numbered

    if isinstance(region, Unresolved):
        return region
    if (name is None) == (not sides):
        raise ValueError(
            'named: give one name for all of the boundary, named("wall"), or names by side, named(left="in").'
        )
    faces = region.faces()
    labels = dict.fromkeys(range(len(faces)), name) if name is not None else {}
    found = _sides(region)
    for given, label in sides.items():
        if given not in found:
            raise ValueError(f"named: {region} has no side {given!r}; {nearest(given, found)}.")
        chosen = found[given].regions if isinstance(found[given], Boundary) else (found[given],)  # type: ignore[attr-defined]
        labels |= {i: label for i, (_, face) in enumerate(faces) if face in chosen}
    for label in labels.values():
        if not isinstance(label, str) or not label:
            raise ValueError(f"named: {label!r} is no name; give a text.")
    base, before = region, {}
    if isinstance(region, Named):
        base, before = region.base, {(piece, k): label for piece, k, label in region.labels}
    own = [(*key, labels.get(i) or before.get(key)) for i, key in enumerate(numbered(base.faces()))]
    return Named(base, tuple((piece, k, label) for piece, k, label in own if label is not None))


def _named_axes(region: Region) -> tuple[Symbol, ...]:
    """The space coordinates, where there are few enough for left, right, bottom and top to be plain."""
    axes = tuple(symbol for symbol in region.coordinates if is_space(symbol))
    return axes if len(axes) <= len(_SIDES) else ()


def _why_no_side(region: Region, name: str, found: Mapping[str, Region]) -> str:
    axes = {symbol.name: symbol for symbol in region.coordinates}
    aliases = {alias: s for s, names in zip(_named_axes(region), _SIDES, strict=False) for alias in names}
    symbol = aliases.get(name) or axes.get(name.rstrip("+-"))
    if symbol is not None and not is_space(symbol):
        return f"{symbol} is of kind {kind_of(symbol)}, and sides are of space; use at({symbol}=...)"
    if symbol is not None and symbol in region.periodic:
        return f"{symbol} is periodic and has no ends; use at({symbol}=...) for a slice"
    if (
        symbol is not None
        and name in {f"{symbol.name}-", f"{symbol.name}+", *aliases}
        and _touches_axis(region, symbol)
    ):
        return f"{symbol} reaches the axis of its chart, which is no side; use at({symbol}=...) for a condition there"
    if not any(map(is_space, axes.values())):
        return f"sides are of space, and {_listed(axes.values())} is not; use at"
    if not found:
        return "it has no sides; use .boundary"
    if _is_lost(region, name):
        return (
            f"a shape has a side of that name, and nothing of it is on the boundary of the whole; look at where the "
            f"shapes are. The sides are {', '.join(found)}"
        )
    return f"there is no such side; {nearest(name, found)}"


def _is_lost(region: Region, name: str) -> bool:
    """Whether a shape that the region is made of has a side of that name."""
    from phijax.geometry.combination import Combination
    from phijax.geometry.named import Named

    if isinstance(region, Named):
        return any(name == label for *_, label in region.labels) or _is_lost(region.base, name)
    parts = (region.first, region.second) if isinstance(region, Combination) else region.factors
    return any(part != region and (name in dict(part.faces()) or _is_lost(part, name)) for part in parts)


def _touches_axis(region: Region, symbol: Symbol) -> bool:
    factor = next((f for f in region.factors if isinstance(f, Interval) and f.coordinate == symbol), None)
    return factor is not None and any(degenerate(symbol, end) for end in (factor.lower, factor.upper))


def select(faces: Boundary, coordinates: tuple[Symbol | str, ...], where: Any) -> Region:
    place = (
        f"boundary({', '.join([*map(str, coordinates), *([] if where is None else [f'where={where}'])])}) of {faces}"
    )
    owners, faults = _owners(faces, coordinates)
    condition = sympy.true if where is None else _condition(faces, where, faults)
    kept = []
    for name, piece in faces.pieces:
        if not faults and (not owners or owners & set(piece.normal_coordinates)):
            part = restrict(piece, condition)
            kept += [] if part is None or part.empty else [(name, part)]
    if not kept and not faults:
        faults.append(f"nothing is selected, or a part too thin to find; {_pieces(faces)}")
    if faults:
        return Unresolved(faces.coordinates, tuple(f"{place}: {fault}." for fault in faults))
    return Boundary(tuple(kept))


def _pieces(faces: Boundary) -> str:
    return f"the pieces are {', '.join(name for name, _ in faces.pieces)}"


def _owners(faces: Boundary, coordinates: tuple[Symbol | str, ...]) -> tuple[set[Symbol], list[str]]:
    """The named coordinates across which there are faces, and a fault for each of the others."""
    by_name = {symbol.name: symbol for symbol in faces.coordinates}
    owners, faults = set(), []
    for written in coordinates:
        name = getattr(written, "name", str(written))
        symbol = by_name.get(name)
        if symbol is None:
            faults.append(f"there is no coordinate {name!r}; {nearest(name, by_name)}")
        elif not is_space(symbol):
            faults.append(
                f"{name} is of kind {kind_of(symbol)}, and a boundary has faces in space alone; use at({name}=...)"
            )
        elif symbol not in faces.normal_coordinates:
            faults.append(f"there is no face across {name}, which is {_why_no_face(faces, symbol)}")
        else:
            owners.add(symbol)
    return owners, faults


def _why_no_face(faces: Boundary, symbol: Symbol) -> str:
    return "periodic" if symbol in faces.periodic else "fixed or not part of this boundary"


def _condition(faces: Boundary, where: Any, faults: list[str]) -> Any:
    """`where` as a sympy condition on the coordinates of the boundary; faults are added for what it can't be."""
    if isinstance(where, bool | np.bool_):
        return sympy.true if where else sympy.false
    if not isinstance(where, sympy.logic.boolalg.Boolean):
        faults.append(f"where={where!r} is no condition; write one such as {faces.names[0]} > 0")
        return sympy.true
    by_name = {symbol.name: symbol for symbol in faces.coordinates}
    free: list[Any] = sorted(where.free_symbols, key=str)
    for symbol in free:
        if symbol.name not in by_name:
            faults.append(f"where={where} uses {symbol}, which is no coordinate; {nearest(symbol.name, by_name)}")
    node = unknown_node(where)
    if node is not None:
        faults.append(f"where={where} holds {node}, which can't be evaluated on points")
    return where.subs({symbol: by_name.get(symbol.name, symbol) for symbol in free})
