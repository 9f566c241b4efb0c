"""What lowering refuses."""

from __future__ import annotations


class LoweringError(NotImplementedError):
    """An expression that has no counterpart in JAX."""
