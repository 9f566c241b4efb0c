"""What the command line sets is for its own process: the cache of compiled programs, the precision flag."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from phijax.cli.errors import exit_code_of
from phijax.cli.process import cache_folder
from phijax.training.interrupt import AGAIN

NAMES = ("PHIJAX_NO_CACHE", "PHIJAX_CACHE_DIR", "XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR")


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"HOME": "/home/ada"}, Path("/home/ada/.cache/phijax")),
        ({"HOME": "/home/ada", "XDG_CACHE_HOME": "/caches"}, Path("/caches/phijax")),
        ({"XDG_CACHE_HOME": "/caches", "PHIJAX_CACHE_DIR": "/mine"}, Path("/mine")),
        ({"PHIJAX_CACHE_DIR": "/mine", "PHIJAX_NO_CACHE": "0"}, Path("/mine")),
        ({"PHIJAX_CACHE_DIR": "/mine", "PHIJAX_NO_CACHE": "1"}, None),
    ],
)
def test_the_cache_is_where_the_user_keeps_caches(monkeypatch, variables, folder):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == folder


def flags(tmp_path, call, **variables):
    """(x64 flag, cache folder) that JAX has after `call`, in a process of its own."""
    program = f"import jax; from phijax.cli.process import configure_jax; {call}; c = jax.config;"
    program += "print(c.jax_enable_x64, c.jax_compilation_cache_dir)"
    plain = {name: value for name, value in os.environ.items() if name not in NAMES}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=plain | variables, capture_output=True, text=True, check=True, cwd=tmp_path)
    return done.stdout.split()


def test_flags_are_set_where_they_are_asked_for(tmp_path):
    own = str(tmp_path / "own")
    assert flags(tmp_path, "configure_jax('float64')", PHIJAX_CACHE_DIR=own) == ["True", own]
    assert flags(tmp_path, "configure_jax(None, cache=False)", PHIJAX_CACHE_DIR=own) == ["False", "None"]
    jaxs = str(tmp_path / "jax")
    assert flags(tmp_path, "configure_jax('float32')", PHIJAX_CACHE_DIR=own, JAX_COMPILATION_CACHE_DIR=jaxs) == [
        "False",
        jaxs,
    ]


def test_a_platform_that_jax_has_not_is_wrong_usage(capsys, monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "foo")
    error = RuntimeError("Unable to initialize backend 'foo': Backend 'foo' is not in the list of known backends")
    assert exit_code_of(error, debug=False) == 2
    assert capsys.readouterr().err == (
        "phijax: JAX finds no device for JAX_PLATFORMS='foo'; unset it, or set cpu, cuda or tpu.\n"
    )


# A shell's background job begins with SIGINT ignored.
ENDLESS = """import signal
import jax
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
jax.jit(lambda: jax.lax.while_loop(lambda i: i >= 0, lambda i: 1 - i, 0))().block_until_ready()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_second_signal_ends_a_process_that_is_in_a_compiled_program(tmp_path, number, code):
    (tmp_path / "endless.py").write_text(ENDLESS)
    command = [sys.executable, "-m", "phijax", "check", "endless.py"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.2)
    for _ in range(2):  # as `timeout` sends it: one signal, which waits for the program
        process.send_signal(number)
    time.sleep(AGAIN)
    assert process.poll() is None
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (code, f"phijax: {number.name} again: ended at once.\n")
