"""Burgers' equation u_t + u u_x = nu u_xx from u = -sin(pi x), by the transformation of Cole and Hopf."""

from functools import partial

import numpy as np
from jaxtyping import Float

from phijax.formulation import Reference
from phijax.problems.references._norms import relative_l2

# Beyond this many units of the exponent below its maximum the integrand is under rounding.
_CUT = 40.0
_SPACING = 0.4  # of the trapezoid rule, in widths of the narrowest peak: enough for rounding (0.73 for a Gaussian)
_CHUNK = 4_000_000  # nodes held at a time


def cole_hopf(
    x: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."], nu: float, spacing: float = _SPACING
) -> Float[np.ndarray, "..."]:
    """u(x, t) on the whole line, whose odd period makes u(+-1, t) = 0.

    u = -E[sin(pi (x - s))], the mean over s in the weight exp(-s^2 / (4 nu t) - cos(pi (x - s)) / (2 pi nu)) (Cole 1951,
    Hopf 1950). The weight is entire and has died at |s| = t + sqrt(4 nu t 40), so that the trapezoid rule between those
    ends converges geometrically, at any nu and t; only the distance of the exponent from its maximum is formed.
    """
    shape = np.broadcast_shapes(np.shape(x), np.shape(t))
    flat_x, flat_t = (np.broadcast_to(np.asarray(value, float), shape).ravel() for value in (x, t))
    late = np.flatnonzero(flat_t > 0)
    u = -np.sin(np.pi * flat_x)
    nodes = np.linspace(-1.0, 1.0, _node_count(flat_t.max(initial=0.0), nu, spacing))
    for part in np.array_split(late, 1 + late.size * nodes.size // _CHUNK):
        u[part] = _mean(flat_x[part, None], flat_t[part, None], nu, nodes)
    return u.reshape(shape)


def _node_count(t: float, nu: float, spacing: float) -> int:
    reach = np.sqrt(t) + np.sqrt(4 * nu * _CUT)  # over sqrt(t)
    sharpest = (1 + np.pi * t) / (2 * nu)  # second derivative of the exponent, times t
    return int(np.ceil(2 * reach * np.sqrt(sharpest) / spacing)) + 1


def _mean(
    x: Float[np.ndarray, "n 1"], t: Float[np.ndarray, "n 1"], nu: float, nodes: Float[np.ndarray, " k"]
) -> Float[np.ndarray, " n"]:
    reach = np.sqrt(t) + np.sqrt(4 * nu * _CUT)
    start = x - np.sqrt(t) * reach * nodes
    exponent = (reach * nodes) ** 2 / (4 * nu) + np.cos(np.pi * start) / (2 * np.pi * nu)
    weight = np.exp(exponent.min(axis=1, keepdims=True) - exponent)
    return -(np.sin(np.pi * start) * weight).sum(axis=1) / weight.sum(axis=1)


def _estimate(nu: float, t_end: float) -> float:
    x, t = np.linspace(0.0, 1.0, 41)[:, None], np.linspace(0.0, t_end, 9)[None, :]
    halved = relative_l2(cole_hopf(x, t, nu), cole_hopf(x, t, nu, spacing=_SPACING / 2))
    return max(halved, 2e-15)  # the rounding that both share


def values(x: Float[np.ndarray, "..."], t: Float[np.ndarray, "..."], nu: float) -> dict[str, np.ndarray]:
    """u by name."""
    return {"u": cole_hopf(x, t, nu)}


def reference(nu: float = 0.01 / np.pi, t_end: float = 1.0) -> Reference:
    """u(x, t) for x in [-1, 1] and t in [0, t_end]; the error is the distance from twice the nodes."""
    source = "Cole-Hopf integral"
    return Reference(solver=partial(values, nu=float(nu)), error=_estimate(float(nu), float(t_end)), source=source)
