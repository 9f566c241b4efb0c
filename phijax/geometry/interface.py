"""The face that two regions share, and a region extended over the coordinates that it lacks."""

from __future__ import annotations

from phijax.geometry._numbers import is_space
from phijax.geometry.boundary import Boundary
from phijax.geometry.fixed import Fixed
from phijax.geometry.interval import Interval
from phijax.geometry.product import Product, product, without_normal
from phijax.geometry.region import Region
from phijax.geometry.selection import Selection
from phijax.geometry.trimmed import Trimmed, trimmed
from phijax.geometry.unresolved import Unresolved


def interface(left: Region, right: Region) -> Region:
    """The face shared by two regions that touch, with one normal, from `left` to `right`.

    Never raises for regions: what can't be resolved is in `faults`.
    """
    if left.faults + right.faults:
        return Unresolved(left.coordinates, left.faults + right.faults)
    boxes = all(isinstance(factor, Interval | Fixed) for region in (left, right) for factor in region.factors)
    faults = _why_not(left, right) if boxes else ()
    if set(left.coordinates) == set(right.coordinates) and (faults or not boxes):
        shared = _shared_faces(left, right)
        return Unresolved(left.coordinates, faults) if faults and shared.faults else shared
    if faults:
        return Unresolved(left.coordinates, faults)
    others = {factor.coordinates: factor for factor in right.factors}
    return product(*(_shared(factor, others[factor.coordinates]) for factor in left.factors))


def _shared_faces(left: Region, right: Region) -> Region:
    parts = [(name, trimmed(Trimmed(face, right, inner=None, opposite=True))) for name, face in left.faces()]
    found = tuple((name, part) for name, part in parts if part.depends or not part.empty)
    if not found:
        fault = f"interface of {left} and {right}: no part of the boundary of one is on that of the other from outside."
        return Unresolved(left.coordinates, (fault,))
    return found[0][1] if len(found) == 1 else Boundary(found)


def _why_not(left: Region, right: Region) -> tuple[str, ...]:
    place = f"interface of {left} and {right}"
    if {f.coordinates for f in left.factors} != {f.coordinates for f in right.factors}:
        return (f"{place}: the two must be intervals or boxes over the same coordinates.",)
    others = {factor.coordinates: factor for factor in right.factors}
    apart = [(a, others[a.coordinates]) for a in left.factors if a != others[a.coordinates]]
    if len(apart) != 1:
        differing = "nothing" if not apart else ", ".join(name for a, _ in apart for name in a.names)
        return (f"{place}: they must differ along one coordinate, where they touch; they differ along {differing}.",)
    a, b = apart[0]
    if not all(map(is_space, a.coordinates)):
        return (f"{place}: {a.names[0]} is not of space, and an interface has a normal in space.",)
    if not isinstance(a, Interval) or not isinstance(b, Interval) or not _touching(a, b):
        return (f"{place}: {a.body()} and {b.body()} in {', '.join(a.names)} do not touch at one end.",)
    return ()


def _touching(a: Interval, b: Interval) -> int:
    """+1 where b begins at the end of a, -1 where it ends at a's beginning, else 0."""
    if a.periodic or b.periodic:
        return 0
    return int(a.ends[1] == b.ends[0]) - int(a.ends[0] == b.ends[1])


def _shared(a: Region, b: Region) -> Region:
    if a == b:
        return without_normal(a)
    assert isinstance(a, Interval)
    assert isinstance(b, Interval)
    sign = _touching(a, b)
    return Fixed(a.coordinate, a.upper if sign > 0 else a.lower, sign)


def extend(region: Region, domain: Region) -> Region:
    """`region` over all of the coordinates of `domain`: what it lacks, it takes from the domain's factors.

    So the boundary of a plate, in a domain with time, holds at all times. Coordinates come in the domain's order.
    """
    known = set(region.coordinates)
    lacking = [factor for factor in domain.factors if not known & set(factor.coordinates)]
    partly = [f for f in domain.factors if known & set(f.coordinates) and not set(f.coordinates) <= known]
    if partly:
        missing = ", ".join(s.name for f in partly for s in f.coordinates if s not in known)
        fault = f"{region} lacks {missing}, which {partly[0]} has only together with {', '.join(region.names)}; use at."
        return Unresolved(region.coordinates, (*region.faults, fault))
    if not lacking:
        return region
    return _ordered(product(region, *(without_normal(factor) for factor in lacking)), domain)


def _ordered(region: Region, domain: Region) -> Region:
    if isinstance(region, Boundary):
        return Boundary(tuple((name, _ordered(piece, domain)) for name, piece in region.pieces))
    if isinstance(region, Selection):
        return type(region)(_ordered(region.base, domain), region.where)
    if not isinstance(region, Product):
        return region
    place = {symbol: i for i, symbol in enumerate(domain.coordinates)}
    order = lambda factor: min(place.get(symbol, len(place)) for symbol in factor.coordinates)
    return Product(tuple(sorted(region.factors, key=order)))
