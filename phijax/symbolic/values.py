"""What users write in place of an expression: Python's, NumPy's and JAX's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy


def as_expression(value: Any) -> sympy.Basic:
    """A number or an expression as sympy's.

    Raises TypeError for anything else; for strings too, which sympy would evaluate.
    """
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()
    try:
        return sympy.sympify(value, strict=True)
    except sympy.SympifyError:
        raise TypeError(f"{value!r} ({type(value).__name__}) is no number and no sympy expression.") from None


def first_masked(values: Any) -> int | None:
    """First row whose entry is masked, None where none is: NumPy drops masks, and what they hide would be data."""
    if not np.ma.is_masked(values):
        return None
    return int(np.flatnonzero(np.ma.getmaskarray(values).reshape(-1))[0])


def measured(array: np.ndarray) -> np.ndarray:
    """Numbers of any kind as float64 or complex128: whole ones of few bits would wrap round as soon as one is subtracted."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
