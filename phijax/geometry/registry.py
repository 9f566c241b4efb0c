"""Every kind of region by name, so that a stored `spec` can be read back: `REGIONS[kind](**fields)`."""

from __future__ import annotations

from phijax.geometry.arcs import Arcs
from phijax.geometry.ball import Ball, Sphere
from phijax.geometry.boundary import Boundary
from phijax.geometry.cloud import PointCloud
from phijax.geometry.combination import Combination
from phijax.geometry.curve import Curve
from phijax.geometry.fixed import Fixed
from phijax.geometry.image import Image
from phijax.geometry.implicit import Implicit
from phijax.geometry.interval import Interval
from phijax.geometry.level_set import LevelSet
from phijax.geometry.named import Named
from phijax.geometry.parametric_surface import ParametricSurface
from phijax.geometry.polygon import Polygon
from phijax.geometry.polyline import Polyline
from phijax.geometry.product import Product
from phijax.geometry.region import Region
from phijax.geometry.selection import Selection
from phijax.geometry.simplex import Facet, Simplex
from phijax.geometry.solid import Solid
from phijax.geometry.surface import Surface
from phijax.geometry.thinned import Thinned
from phijax.geometry.trimmed import Flipped, Trimmed
from phijax.geometry.unresolved import Unresolved

_KINDS = (Interval, Fixed, Ball, Sphere, PointCloud, Product, Boundary, Selection, Unresolved)
_MESHED = (Polygon, Polyline, Simplex, Facet, Surface, Solid)
_CURVED = (Curve, ParametricSurface, Implicit, LevelSet)
_MADE = (Image, Thinned, Arcs, Combination, Trimmed, Flipped, Named)

REGIONS: dict[str, type[Region]] = {kind.__name__: kind for kind in (*_KINDS, *_MESHED, *_CURVED, *_MADE)}
