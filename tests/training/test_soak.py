"""R10, T2: a run that is killed again and again ends as the one that was not, and nothing that was saved is lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import phijax

SCRIPT = Path(__file__).with_name("lives.py")


def told(*arguments):
    """The last line of `lives.py`, read."""
    environment = os.environ | {"PYTHONPATH": str(Path(phijax.__file__).parents[1])}
    command = [sys.executable, "-W", "ignore", str(SCRIPT), *map(str, arguments)]
    ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.slow
def test_a_run_that_is_killed_fifty_times_at_random_moments_ends_with_the_same_bits(tmp_path):
    found = told("soak", tmp_path, 50, 7)
    assert found["kills"] == 50
    assert found["reached"] == [found["steps"], found["steps"]]
    assert found["lost"] == found["differing"] == []
    assert found["records_equal"]
    assert found["stages_equal"]


@pytest.mark.slow
def test_a_run_that_is_killed_before_any_file_operation_goes_on_to_the_same_bits(tmp_path):
    found = told("events", tmp_path, 10**6)
    assert found["operations"] > 30
    assert len(found["killed_at"]) == found["operations"]
    assert found["differing"] == []
