"""Strictness for the whole suite: an accidental (n,) against (n, 1) is an error, not an (n, n) table."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("MPLBACKEND", "Agg")

import jax

jax.config.update("jax_numpy_rank_promotion", "raise")
