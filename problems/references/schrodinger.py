"""i h_t + h_xx / 2 + |h|^2 h = 0 from h = 2 sech x: two solitons, bound and breathing."""

import numpy as np
from jaxtyping import Complex, Float

from phijax.problems import NumericReference


def bound_solitons(x: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."]) -> Complex[np.ndarray, "..."]:
    """h(x, t) on the whole line (Satsuma and Yajima 1974); |h| has period pi / 2 and reaches 4 at x = 0, t = pi / 4."""
    x, t = np.abs(np.asarray(x, float)), np.asarray(t, float)
    # Numerator and denominator are divided by exp(4 |x|) / 2: no overflow, however far out.
    decay = np.exp(-2 * x)
    top = decay**0.5 * ((1 + decay**3) + 3 * np.exp(4j * t) * decay * (1 + decay))
    bottom = (1 + decay**4) + 4 * decay * (1 + decay**2) + 6 * np.cos(4 * t) * decay**2
    return 4 * np.exp(0.5j * t) * top / bottom


def reference() -> NumericReference:
    """h(x, t), complex."""

    def values(x, t):
        return {"h": bound_solitons(x, t)}

    return NumericReference(values, {"h": 1e-15}, "closed form (Satsuma and Yajima 1974), to rounding")
