"""A declaration is sympy and NumPy alone: it neither waits for a device nor takes the memory of one (contract D2)."""

import os
import subprocess
import sys

import numpy as np

PROGRAM = """
import warnings; warnings.simplefilter("ignore")
import jax.numpy as jnp, phijax as phi, phijax.problems as problems
from sympy import Eq, cos, sin
x, y, z = phi.coordinates("x y z"); t = phi.time("t")
slanted = x + 2 * y > 0
disk, box = phi.Disk((x, y)), phi.Box((x, -1, 1), (y, -1, 1), (z, -1, 1))
cloud = phi.PointCloud({x: [0.1, -0.2, 0.3], y: [0.3, -0.4, 0.1]})
for region in (disk * phi.Interval(t, 0, 1), box, disk, phi.Ball((x, y, z)) * phi.Interval(t, 0, 1)):
    u = phi.field("u", *region.coordinates)
    parts = {"pde": Eq(u, sin(x)), "wall": phi.on(region.boundary(where=slanted), Eq(u, 1))}
    problem = phi.Problem(region, {**parts, "rest": phi.on(region.boundary(where=~slanted), Eq(u, cos(y)))})
    print(problem.constraints["wall"].region.measure / region.boundary.measure)
v = phi.field("v", x, y)
phi.Problem(disk, {"pde": Eq(phi.laplacian(v), 1), "wall": phi.on(disk.boundary, Eq(v, 0), exact=True),
                   "seen": phi.on(cloud, Eq(v, 1))})
hole = phi.where(phi.Rectangle((x, -2, 2), (y, -2, 2)), x**2 + y**2 > 1) * phi.Interval(t, 0, 1)
rim = phi.Curve({x: cos(z), y: sin(z)}, (z, 0, 6))
w, q = phi.field("w", x, y, t), phi.field("q", *phi.spherical("r theta phi")[:2])
phi.Problem(hole, {"pde": Eq(phi.laplacian(w), 1), "all": phi.on(hole.boundary, Eq(w, 0)), "cut": phi.on(rim, Eq(w, 0))})
r, a = q.coordinates
cone = phi.Interval(r, 0, 1) * phi.Interval(a, 0, 1)
phi.Problem(cone, {"pde": Eq(phi.laplacian(q), 1), "wall": phi.on(cone.boundary, Eq(phi.normal_derivative(q), 0)),
                   "mean": Eq(phi.integral(q, over=cone), 1)})
for name in problems.names():
    problems.get(name).problem()
try:
    jnp.zeros(1)
except RuntimeError as error:
    assert "no_such_device" in str(error), error
else:
    raise SystemExit("JAX found a device, so that this test says nothing")
"""


def test_problems_are_declared_where_jax_has_no_device():
    environment = {**os.environ, "JAX_PLATFORMS": "no_such_device"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose([float(share) for share in done.stdout.split()], 0.5, atol=1e-3)
