"""Exact slopes that cannot be built, or that contradict what they meet, are refused with the reason."""

import pytest
from sympy import Eq, Rational

import phijax as phi

pytestmark = pytest.mark.filterwarnings("ignore::phijax.DeclarationWarning")
x, y = phi.coordinates("x y")
t = phi.time("t")
u, v, q = phi.field("u", x, t), phi.field("v", x, y), phi.field("q", x, y, t)
slope = phi.normal_derivative
times, line = phi.Interval(t, 0, 2), phi.Interval(x, -1, Rational(3, 10))
strip, square = line * times, phi.Rectangle((x, 0, 1), (y, 0, 3))
disk = phi.Disk((x, y), center=(Rational(1, 2), 0), radius=2)
tube = phi.Disk((x, y)) * times
heat, poisson = Eq(u.diff(t), u.diff(x, 2)), Eq(phi.laplacian(v), 1)


def exact(region, *equations):
    return phi.on(region, *equations, exact=True)


START = phi.on(strip.at(t=0), Eq(u, 0))
REFUSED = {
    "along the side": (
        square,
        {"pde": poisson, "left": exact(square.side("left"), Eq(v.diff(y), 0))},
        "'left': v_y = 0 cannot be made exact: it holds the derivative by 'y', which is along the side and not across it; "
        "leave out exact=True.",
    ),
    "not along the normal": (
        disk,
        {"pde": poisson, "rim": exact(disk.boundary, Eq(v.diff(x), 0))},
        "'rim': v_x = 0 cannot be made exact: its derivatives are not along the normal; leave out exact=True.",
    ),
    "askew": (
        disk,
        {"pde": poisson, "rim": exact(disk.boundary, Eq(v.diff(x) + v.diff(y), 0))},
        "its derivatives are not along the normal; leave out exact=True.",
    ),
    "coefficient with a zero": (
        strip,
        {"pde": heat, "start": START, "left": exact(strip.side("left"), Eq((t - 1) * u.diff(x) + u, 0))},
        "the coefficient t - 1 of the slope has a zero there; leave out exact=True.",
    ),
    "coefficient of the value with a zero": (
        strip,
        {"pde": heat, "start": START, "left": exact(strip.side("left"), Eq((t - 1) * u, 0))},
        "the coefficient t - 1 of u itself has a zero there; leave out exact=True.",
    ),
    "unknown coefficient": (
        strip,
        {"pde": heat, "start": START, "left": exact(strip.side("left"), Eq(u.diff(x), phi.parameter("h") * u))},
        "it holds the unknown 'h', and only what is known beforehand can be built in; leave out exact=True.",
    ),
    "two fields": (
        square,
        {
            "pde": poisson,
            "q": Eq(phi.laplacian(phi.field("r", x, y)), 1),
            "left": exact(square.side("left"), Eq(v.diff(x), phi.field("r", x, y))),
        },
        "only values, slopes across a side, and sums of both can be built in; leave out exact=True.",
    ),
    "not linear": (
        strip,
        {"pde": heat, "start": START, "left": exact(strip.side("left"), Eq(u.diff(x), u**4))},
        "only values, slopes across a side, and sums of both can be built in; leave out exact=True.",
    ),
    "curvature beside the value": (
        strip,
        {"pde": heat, "start": START, "left": exact(strip.side("left"), Eq(u.diff(x, 2) + u, 1))},
        "'left': u + u_xx = 1 cannot be made exact: only values, slopes across a side, and sums of both can be built in",
    ),
    "mean along the side": (
        square,
        {"pde": poisson, "left": exact(square.side("left"), Eq(phi.integral(v, (y, 0, 3)) + v, 1))},
        "only values, slopes across a side, and sums of both can be built in; leave out exact=True.",
    ),
    "twice": (
        strip,
        {
            "pde": heat,
            "start": START,
            "one": exact(strip.side("left"), Eq(u.diff(x), 0)),
            "two": exact(strip.side("left"), Eq(slope(u) + u, 0)),
        },
        "'one' already prescribes the slope of u there; leave out exact=True.",
    ),
    "value and slope on a circle": (
        disk,
        {"pde": poisson, "one": exact(disk.boundary, Eq(v, 0)), "two": exact(disk.boundary, Eq(slope(v), 0))},
        "'two': n_x*v_x + n_y*v_y = 0 cannot be made exact: 'one' already prescribes v there; leave out exact=True.",
    ),
    "part of a side": (
        square,
        {"pde": poisson, "part": exact(square.boundary(where=y > 2), Eq(slope(v), 0))},
        "is no whole side of the domain; leave out exact=True.",
    ),
    "part of a circle": (
        disk,
        {"pde": poisson, "part": exact(disk.boundary(where=y > 0), Eq(slope(v), 0))},
        "is no whole side of the domain; leave out exact=True.",
    ),
    "end of a ring": (
        (ring := phi.Interval(x, 0, 1, periodic=True) * times),
        {"pde": heat, "start": phi.free(ring.at(t=0)), "end": exact(ring.at(x=0), Eq(u.diff(x), 0))},
        "'x' is periodic, so that {0} x [0, 2] in (x, t) is no side; leave out exact=True.",
    ),
    "slope against the start": (
        strip,
        {
            "pde": heat,
            "start": exact(strip.at(t=0), Eq(u, x)),
            "left": exact(strip.side("left"), Eq(u.diff(x), 3)),
        },
        "'start': as an exact condition on 'u' it contradicts 'left' where they meet (by 2.56, seen from x = 0.278, t = ",
    ),
    "slopes that do not cross": (
        square,
        {
            "pde": poisson,
            "left": exact(square.side("left"), Eq(v.diff(x), y)),
            "bottom": exact(square.side("bottom"), Eq(v.diff(y), 0)),
        },
        "'left': as an exact condition on 'v' it contradicts 'bottom' where they meet (by 2.98, seen from x = ",
    ),
    "rim against the start": (
        tube,
        {
            "pde": Eq(q.diff(t), phi.laplacian(q)),
            "rim": exact(tube.boundary, Eq(slope(q), 1)),
            "start": exact(tube.at(t=0), Eq(q, x**2 + y**2)),
        },
        "'rim': as an exact condition on 'q' it contradicts 'start' where they meet (by 1, seen from x = ",
    ),
    "coefficient that varies towards a slope": (
        square,
        {
            "pde": poisson,
            "left": exact(square.side("left"), Eq(v.diff(x), (1 + y) * v)),
            "bottom": exact(square.side("bottom"), Eq(v.diff(y), 0)),
        },
        "'bottom': as an exact condition on 'v' it cannot hold together with 'left': where they meet the coefficient of "
        "'v' varies along a side with a slope of its own (seen from x = ",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_built_says_why(name):
    domain, constraints, message = REFUSED[name]
    with pytest.raises(phi.DeclarationError) as caught:
        phi.Problem(domain, constraints)
    assert len(caught.value.faults) == 1
    assert message in str(caught.value)


def test_a_sum_written_by_coordinate_is_no_value_to_the_checks_for_clashes():
    left = strip.side("left")
    soft = {"pde": heat, "start": phi.free(strip.at(t=0)), "sum": phi.on(left, Eq(u - u.diff(x), 5))}
    assert phi.Problem(strip, {**soft, "value": phi.on(left, Eq(u, 2))}).trained.keys() == {"pde", "sum", "value"}
