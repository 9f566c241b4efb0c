"""Every kind of region by name, so that a stored `spec` can be read back: `REGIONS[kind](**fields)`."""

from __future__ import annotations

from phijax.geometry.ball import Ball, Sphere
from phijax.geometry.boundary import Boundary
from phijax.geometry.cloud import PointCloud
from phijax.geometry.curve import Curve
from phijax.geometry.fixed import Fixed
from phijax.geometry.implicit import Implicit
from phijax.geometry.interval import Interval
from phijax.geometry.level_set import LevelSet
from phijax.geometry.product import Product
from phijax.geometry.region import Region
from phijax.geometry.selection import Selection
from phijax.geometry.surface import ParametricSurface
from phijax.geometry.unresolved import Unresolved

REGIONS: dict[str, type[Region]] = {
    kind.__name__: kind
    for kind in (
        *(Interval, Fixed, Ball, Sphere, PointCloud, Product, Boundary, Selection, Unresolved),
        *(Curve, ParametricSurface, Implicit, LevelSet),
    )
}
