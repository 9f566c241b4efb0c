"""The problems and their stored references are found in a wheel, with no checkout beside it."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from phijax import problems
from phijax.problems.references import allen_cahn

ROOT = Path(__file__).resolve().parents[2]
SAY = """
import json, numpy, phijax.problems as problems
u = problems.get("allen_cahn").problem().reference.solver(x=numpy.array([0.3]), t=numpy.array([0.5]))["u"]
print(json.dumps([problems.__file__, list(problems.__path__), problems.names(), float(u[0])]))
"""


def test_a_wheel_carries_problems_and_references(tmp_path):
    wheel = pytest.importorskip("hatchling.builders.wheel")
    built = next(wheel.WheelBuilder(str(ROOT)).build(directory=str(tmp_path / "dist"), versions=["standard"]))
    zipfile.ZipFile(built).extractall(tmp_path / "site")
    environment = {"PYTHONPATH": str(tmp_path / "site"), "JAX_PLATFORMS": "cpu", "PATH": ""}
    run = subprocess.run([sys.executable, "-c", SAY], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    file, path, names, value = json.loads(run.stdout)
    assert file.startswith(str(tmp_path / "site"))
    assert path == [str(tmp_path / "site" / "phijax" / "problems")]
    assert names == problems.names()
    assert value == allen_cahn.reference().solver(x=np.array([0.3]), t=np.array([0.5]))["u"].item()
