"""Regions over named coordinates: what they measure, where they end, and how the unit cube maps onto them."""

from phijax.geometry.ball import Ball as Ball
from phijax.geometry.ball import Disk as Disk
from phijax.geometry.ball import Sphere as Sphere
from phijax.geometry.boundary import Boundary as Boundary
from phijax.geometry.cloud import PointCloud as PointCloud
from phijax.geometry.curve import Curve as Curve
from phijax.geometry.fixed import Fixed as Fixed
from phijax.geometry.fixed import Point as Point
from phijax.geometry.implicit import Implicit as Implicit
from phijax.geometry.implicit import where as where
from phijax.geometry.interface import extend as extend
from phijax.geometry.interface import interface as interface
from phijax.geometry.interval import Interval as Interval
from phijax.geometry.level_set import LevelSet as LevelSet
from phijax.geometry.product import Box as Box
from phijax.geometry.product import Product as Product
from phijax.geometry.product import Rectangle as Rectangle
from phijax.geometry.region import Placement as Placement
from phijax.geometry.region import Region as Region
from phijax.geometry.region import Rule as Rule
from phijax.geometry.registry import REGIONS as REGIONS
from phijax.geometry.selection import Selection as Selection
from phijax.geometry.surface import ParametricSurface as ParametricSurface
from phijax.geometry.unresolved import Unresolved as Unresolved
