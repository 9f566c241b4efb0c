"""How references are compared."""

import numpy as np
from jaxtyping import Inexact


def relative_l2(values: Inexact[np.ndarray, "..."], exact: Inexact[np.ndarray, "..."]) -> float:
    """|values - exact| / |exact| in the Euclidean norm, complex values included."""
    return float(np.linalg.norm(np.ravel(values - exact)) / np.linalg.norm(np.ravel(exact)))
