"""The problems and their stored references are found in a wheel, with no checkout beside it."""

import json
import subprocess
import sys

import numpy as np

from phijax import problems
from phijax.problems.references import allen_cahn

SAY = """
import json, numpy, phijax.problems as problems
u = problems.get("allen_cahn").problem().reference.solver(x=numpy.array([0.3]), t=numpy.array([0.5]))["u"]
print(json.dumps([problems.__file__, list(problems.__path__), problems.names(), float(u[0])]))
"""


def test_a_wheel_carries_problems_and_references(installed, tmp_path):
    environment = {"PYTHONPATH": str(installed), "JAX_PLATFORMS": "cpu", "PATH": ""}
    run = subprocess.run([sys.executable, "-c", SAY], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    file, path, names, value = json.loads(run.stdout)
    assert file.startswith(str(installed))
    assert path == [str(installed / "phijax" / "problems")]
    assert names == problems.names()
    assert value == allen_cahn.reference().solver(x=np.array([0.3]), t=np.array([0.5]))["u"].item()
