"""u_t = 1e-4 u_xx + 5 u - 5 u^3 on [-1, 1], periodic, t in [0, 1], from an even initial value."""

from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from jaxtyping import Float
from scipy.special import erfc

from phijax.formulation import Reference
from phijax.problems.references._pieces import Pieces

DIFFUSION = 1e-4
VARIANTS = ("kink", "smooth")


def initial(x: Float[np.ndarray, "..."], variant: str) -> Float[np.ndarray, "..."]:
    """x^2 cos(pi x), whose slope jumps from -2 to 2 across x = 1; or smooth: sin^2(pi x / 2) cos(pi x)."""
    square = x**2 if variant == "kink" else np.sin(np.pi * x / 2) ** 2
    return square * np.cos(np.pi * x)


def layer(x: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """The part of u that rounds the kink off: it solves v_t = 1e-4 v_xx - 10 v on x < 1, as u + 1 does near the seam to
    first order, from zero, with the slope 2 exp(-10 t) at x = 1 that cancels that of the initial value.
    """
    width = np.sqrt(4 * DIFFUSION * np.maximum(t, 1e-300))
    away = (1 - x) / width
    return 2 * np.exp(-10 * t) * width * (np.exp(-(away**2)) / np.sqrt(np.pi) - away * erfc(away))


def evaluate(
    pieces: Pieces, variant: str, x: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."]
) -> Float[np.ndarray, "..."]:
    """u(x, t) from the pieces of its smooth part on 0 <= x <= 1; u is even, of period 2."""
    x, t = np.broadcast_arrays(np.asarray(x, float), np.asarray(t, float))
    x = np.abs(x - 2 * np.round(x / 2))
    u = pieces(x.ravel(), t.ravel()).reshape(x.shape)
    if variant == "kink":
        u = u + layer(x, t)
    return np.where(t == 0, initial(x, variant), u)


def stored(variant: str) -> Path:
    """Where the pieces of a variant are kept."""
    return Path(__file__).with_name(f"allen_cahn_{variant}.npz")


@lru_cache
def _kept(variant: str) -> tuple[Pieces, float]:
    with np.load(stored(variant)) as kept:
        return Pieces(kept["x_edges"], kept["t_edges"], kept["series"]), float(kept["error"])


def values(x: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."], variant: str) -> dict[str, np.ndarray]:
    """u by name."""
    return {"u": evaluate(_kept(variant)[0], variant, x, t)}


def reference(variant: str = "kink") -> Reference:
    """u(x, t) for any x and t in [0, 1]; `variant` is kink (x^2 cos pi x) or smooth.

    The error is five times the distance from a run by higher elements, at times between those of the series.
    Raises ValueError for another variant.
    """
    if variant not in VARIANTS:
        raise ValueError(f"allen_cahn has no variant {variant!r}; there are: {', '.join(VARIANTS)}.")
    source = "spectral elements, the kink split off" if variant == "kink" else "spectral elements"
    return Reference(solver=partial(values, variant=variant), error=_kept(variant)[1], source=source)
