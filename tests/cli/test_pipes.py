"""Output that nobody reads to its end is no fault."""

import subprocess
import sys


def test_a_reader_that_closes_the_pipe_ends_the_command_quietly():
    command = f"{sys.executable} -m phijax list | head -1; echo codes ${{PIPESTATUS[@]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=240)
    assert done.stdout.splitlines()[-1] == "codes 0 0"
    assert done.stderr == ""
