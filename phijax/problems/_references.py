"""The form of a reference solution that is made of numbers, for what a sympy expression cannot hold."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Inexact

Values = Callable[..., dict[str, Inexact[np.ndarray, "..."]]]


@dataclass(frozen=True)
class NumericReference:
    """A solution in numbers, with what is known about its error.

    `values(x=..., t=...)` takes arrays that broadcast, by coordinate name, and gives one array a field; `errors`: relative
    L2 error of each field, as the reference itself estimates it; `source`: a sentence that says how it was made.
    """

    values: Values
    errors: Mapping[str, float]
    source: str

    @property
    def error(self) -> float:
        """The largest of the estimates."""
        return max(self.errors.values())

    def __call__(self, **coordinates: Float[np.ndarray, "..."]) -> dict[str, Inexact[np.ndarray, "..."]]:
        return self.values(**coordinates)


def relative_l2(values: Inexact[np.ndarray, "..."], exact: Inexact[np.ndarray, "..."]) -> float:
    """|values - exact| / |exact| in the Euclidean norm, complex values included."""
    return float(np.linalg.norm(np.ravel(values - exact)) / np.linalg.norm(np.ravel(exact)))
