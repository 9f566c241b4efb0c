"""What the tests of declarations have in common: coordinates, fields, regions, and the faults of a declaration."""

from sympy import Eq

import phijax as phi

x, y = phi.coordinates("x y")
t, Re = phi.time("t"), phi.coordinate("Re", kind="parameter")
u, w, v = phi.field("u", x, t), phi.field("w", x), phi.field("v", x, y)
interval, times = phi.Interval(x, 0, 1), phi.Interval(t, 0, 1)
strip, square = interval * times, phi.Rectangle((x, 0, 1), (y, 0, 1))
heat, bar, poisson = Eq(u.diff(t), u.diff(x, 2)), Eq(w.diff(x, 2), 1), Eq(phi.laplacian(v), 1)
start = phi.on(strip.at(t=0), Eq(u, 0))


def faults(domain, constraints):
    """Texts of all faults of a declaration; none where there is none."""
    try:
        phi.Problem(domain, constraints)
    except phi.DeclarationError as error:
        return [str(fault) for fault in error.faults]
    return []
