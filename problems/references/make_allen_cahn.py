"""Makes allen_cahn_kink.npz and allen_cahn_smooth.npz: `python -m phijax.problems.references.make_allen_cahn` (1 min)."""

import time

import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp

from phijax.problems.references._elements import Elements, elements, lobatto
from phijax.problems.references._norms import relative_l2
from phijax.problems.references._pieces import Pieces, fit, times
from phijax.problems.references.allen_cahn import DIFFUSION, VARIANTS, evaluate, initial, layer, stored

# Fronts stand near x = 0.07 (late) and x = 0.5, a layer at x = 1.
_FRONT = np.concatenate([[0.4, 0.425], np.linspace(0.45, 0.55, 9), [0.575, 0.6, 0.65]])
EDGES = np.concatenate([np.linspace(0.0, 0.2, 9), [0.25, 0.3, 0.35], _FRONT, [0.7, 0.8, 0.9, 0.95, 0.975, 1.0]])
SLABS = np.array([0.0, 0.01, 0.1, 0.4, 0.7, 1.0])


def solve(
    mesh: Elements, variant: str, at: Float[np.ndarray, " k"], tolerance: float = 1e-12
) -> Float[np.ndarray, "n k"]:
    """The smooth part of u, u - layer for the kink, at the nodes and at increasing times.

    The nodes are so close that stability, not accuracy, sets the steps of the explicit method: its error stays far under
    that of the elements, dense output included.
    """
    kinked = variant == "kink"

    def rate(t, smooth):
        part = layer(mesh.nodes, np.asarray(t)) if kinked else 0.0
        u = smooth + part
        change = -DIFFUSION * (mesh.stiffness @ smooth) / mesh.mass + 5 * u - 5 * u**3 + 10 * part
        if kinked:
            change[-1] -= DIFFUSION * 2 * np.exp(-10 * t) / mesh.mass[-1]  # the slope at x = 1, weakly
        return change

    start = initial(mesh.nodes, variant)
    options = {"method": "DOP853", "rtol": tolerance, "atol": tolerance / 10, "first_step": 1e-6}
    with np.errstate(over="ignore", invalid="ignore"):  # in trial steps past the stability limit, which are refused
        return solve_ivp(rate, (0.0, at[-1]), start, t_eval=at, **options).y


def make(variant: str, degree: int, order: int) -> Pieces:
    """The pieces by elements of one degree in x and series of one order in t."""
    mesh = elements(EDGES, degree)
    unique, place = np.unique(times(SLABS, order), return_inverse=True)
    values = solve(mesh, variant, unique)[:, place.ravel()].reshape(-1, SLABS.size - 1, order + 1)
    return fit(EDGES, SLABS, lobatto(degree)[0], mesh.split(values))


def compare(pieces: Pieces, variant: str, degree: int) -> float:
    """Relative L2 distance from a run by elements of another degree, at times between those of the series."""
    mesh, at = elements(EDGES, degree), np.linspace(0.0, 1.0, 200)[1:]
    finer = solve(mesh, variant, at)
    if variant == "kink":
        finer = finer + layer(mesh.nodes[:, None], at)
    return relative_l2(evaluate(pieces, variant, mesh.nodes[:, None], at), finer)


def main() -> None:
    """Make, compare, store."""
    for variant in VARIANTS:
        began = time.perf_counter()
        coarse = make(variant, degree=12, order=10)
        middle = time.perf_counter()
        kept = make(variant, degree=18, order=16)
        coarse_error, error = (compare(pieces, variant, degree=22) for pieces in (coarse, kept))
        path = stored(variant)
        np.savez_compressed(path, x_edges=kept.x_edges, t_edges=kept.t_edges, series=kept.series, error=5 * error)
        size = path.stat().st_size // 1024
        print(f"{variant}: degree 12 {coarse_error:.1e} in {middle - began:.1f} s, degree 18 {error:.1e}, {size} kB")


if __name__ == "__main__":
    main()
