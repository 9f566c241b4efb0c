"""The suite's own strictness: what it turns into errors would pass without a word (tests/conftest.py, pyproject.toml)."""

import warnings

import jax.numpy as jnp
import pytest


def test_rows_against_a_column_are_an_error_and_no_table():
    with pytest.raises(ValueError, match=r"shapes \(2,\) \(2, 1\).*rank_promotion.*raise"):
        jnp.ones(2) + jnp.ones((2, 1))


def test_a_warning_is_an_error():
    with pytest.raises(UserWarning, match="something"):
        warnings.warn("something", stacklevel=1)
