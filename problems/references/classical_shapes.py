"""Classical solvers of built-in problems on shapes: finite elements (scikit-fem; the extra `bench`)."""

import numpy as np

from phijax.problems.references import _finite_elements as elements
from phijax.problems.references._collocation import Measured, against


def poisson_lshape() -> Measured:
    (x, y), found = elements.lshape(3, 10)
    return against("poisson_lshape", found, x=x, y=y), "quadratic elements, refined at the corner"


def poisson_disks() -> Measured:
    (x, y), found = elements.disks(8)
    return against("poisson_disks", found, x=x, y=y), "curved quadratic elements on an eighth"


def poisson_mesh() -> Measured:
    (x, y, z), found = elements.torus(2)
    return against("poisson_mesh", found, x=x, y=y, z=z), "quadratic elements on tetrahedra"


def heat_fin() -> Measured:
    (x, y), found = elements.fin(6, 120)
    t = np.linspace(0, 1, len(found))[:, None]
    at = dict(zip("xyt", np.broadcast_arrays(x, y, t), strict=True))
    return against("heat_fin", {"T": found}, **at), "curved quadratic elements on an eighth, trapezoidal rule"


def stokes_cylinder() -> Measured:
    ((x, y), flow), (corners, pressure) = elements.channel(12)
    errors = {name: against("stokes_cylinder", {name: value}, x=x, y=y) for name, value in flow.items()}
    errors["p"] = against("stokes_cylinder", pressure, x=corners[0], y=corners[1])
    return errors, "elements of Taylor and Hood"
