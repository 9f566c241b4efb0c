"""The benchmark of a Gauss-Newton step: what it prints."""

import json
import subprocess
import sys


def test_a_gauss_newton_step_is_printed_beside_what_it_cannot_do_without():
    command = [sys.executable, "-m", "phijax", "bench", "least-squares", "--rows", "64"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1].removeprefix("RESULT "))
    assert (found["parameters"], found["residuals"]) == (921, 64)
    assert abs(found["ratio"] - found["ms_step"] / found["ms_floor"]) < 0.01 * found["ratio"]
    assert abs(sum(found["shares"].values()) - 1) < 0.01


def test_too_few_residuals_are_refused():
    command = [sys.executable, "-m", "phijax", "bench", "least-squares", "--rows", "3"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "--rows 3: give at least 64." in done.stderr
