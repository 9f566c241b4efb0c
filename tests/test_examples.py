"""The examples, with fewer steps: the number that each prints lies where the exact one says that it must."""

import importlib.util
import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
slow = pytest.mark.slow

# (arguments of main, least and greatest number, why). Least squares reach the bounds with decades to spare, Adam with half.
PRINTED = [
    pytest.param("by_hand", [1000], 0.125, 0.145, id="by_hand"),  # exp(-2) = 0.1353
    pytest.param("resume", [20], 0.0, 0.0, id="resume"),  # the same bits
    pytest.param("custom_balancer", [3000], 0.0, 3e-2, id="custom_balancer"),
    pytest.param("custom_sampler", [150], 0.0, 1e-4, id="custom_sampler"),
    pytest.param("conductivity", [40], 0.68, 0.72, id="conductivity"),  # 0.7, from readings of noise 0.01 of 1.4
    pytest.param("family", [60], 0.0, 1e-3, id="family"),
    pytest.param("schrodinger", [60], 0.0, 1e-3, id="schrodinger", marks=slow),
    pytest.param("wave", [], 0.0, 1e-9, id="wave", marks=slow),
    # What enters leaves; at the six inward corners the gradient has no bound, so 150 steps come within a sixth.
    pytest.param("heat_sink", [150], 0.83, 1.17, id="heat_sink", marks=slow),
    pytest.param("cylinder", [150], 0.64, 0.69, id="cylinder", marks=slow),  # by symmetry 2/3
    # 1.162 without walls (Abbott & von Doenhoff 1959), which add some 2 %; eighty steps come within a tenth of it.
    pytest.param("airfoil", [80], 1.1, 1.3, id="airfoil", marks=slow),
]


def loaded(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "arguments", "least", "greatest"), PRINTED)
def test_the_number_that_is_printed(name, arguments, least, greatest, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loaded(name).main(*arguments)
    said = capsys.readouterr().out.strip().splitlines()
    number = float(re.search(r"(\S+)$", said[-1])[1])
    assert least <= number <= greatest


def test_every_example_is_here_and_short():
    named = {param.id for param in PRINTED} | {"cavity"}  # cavity.py is a file for `phijax run`, which prints a report
    assert named == {path.stem for path in EXAMPLES.glob("*.py")}
    longest = max(EXAMPLES.glob("*.py"), key=lambda path: len(path.read_text(encoding="utf-8").splitlines()))
    assert len(longest.read_text(encoding="utf-8").splitlines()) <= 40


def test_the_cavity_is_declared_at_any_reynolds_number():
    printed = str(loaded("cavity").cavity(Re=250))
    assert "continuity" in printed
    assert "/250" in printed
