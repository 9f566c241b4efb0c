"""Strictness for the whole suite: an accidental (n,) against (n, 1) is an error, not an (n, n) table."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "Agg")

import zipfile
from pathlib import Path

import jax
import pytest
from hatchling.builders.wheel import WheelBuilder

jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture(autouse=True)
def flags():
    """Commands set JAX's flags for their own process, which here is that of all tests."""
    before = jax.config.jax_enable_x64
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """Folder that holds what the wheel holds, and no checkout beside it."""
    folder = tmp_path_factory.mktemp("wheel")
    root = str(Path(__file__).parents[1])
    built = next(WheelBuilder(root).build(directory=str(folder / "dist"), versions=["standard"]))
    zipfile.ZipFile(built).extractall(folder / "site")
    return folder / "site"
