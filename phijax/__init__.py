"""phijax: solve partial differential equations with physics-informed neural networks on JAX."""

from importlib.metadata import PackageNotFoundError as _NotInstalled
from importlib.metadata import version as _version

# Declare.
from phijax.formulation import DeclarationError as DeclarationError
from phijax.formulation import DeclarationWarning as DeclarationWarning
from phijax.formulation import Problem as Problem
from phijax.formulation import Reference as Reference
from phijax.formulation import data as data
from phijax.formulation import free as free
from phijax.formulation import manufactured as manufactured
from phijax.formulation import on as on
from phijax.formulation import periodic as periodic
from phijax.geometry import Ball as Ball
from phijax.geometry import Box as Box
from phijax.geometry import Disk as Disk
from phijax.geometry import Interval as Interval
from phijax.geometry import Point as Point
from phijax.geometry import PointCloud as PointCloud
from phijax.geometry import Rectangle as Rectangle
from phijax.geometry import Region as Region
from phijax.geometry import Sphere as Sphere
from phijax.geometry import interface as interface
from phijax.symbolic import coordinate as coordinate
from phijax.symbolic import coordinates as coordinates
from phijax.symbolic import curl as curl
from phijax.symbolic import div as div
from phijax.symbolic import dt as dt
from phijax.symbolic import field as field
from phijax.symbolic import fields as fields
from phijax.symbolic import function as function
from phijax.symbolic import grad as grad
from phijax.symbolic import integral as integral
from phijax.symbolic import laplacian as laplacian
from phijax.symbolic import normal as normal
from phijax.symbolic import normal_derivative as normal_derivative
from phijax.symbolic import parameter as parameter
from phijax.symbolic import time as time

try:
    __version__ = _version("phijax")
except _NotInstalled:  # a bare checkout on the path
    __version__ = "0.1.0"
