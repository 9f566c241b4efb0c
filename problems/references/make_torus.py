"""Makes torus.stl: `python -m phijax.problems.references.make_torus`."""

from pathlib import Path

import numpy as np
from jaxtyping import Float

from phijax.geometry.mesh_files import STL_HEADER, STL_TRIANGLE

STORED = Path(__file__).with_name("torus.stl")


def triangles(around: int = 64, across: int = 32, radius: float = 1.0, tube: float = 0.4) -> Float[np.ndarray, "k 3 3"]:
    """Corners of the halves of `around` x `across` quadrilaterals of a torus about the z axis, outward."""
    turn, twist = (2 * np.pi * np.arange(count) / count for count in (around, across))
    reach = radius + tube * np.cos(twist)
    places = np.stack(
        np.broadcast_arrays(
            np.cos(turn)[:, None] * reach,
            np.sin(turn)[:, None] * reach,
            np.broadcast_to(tube * np.sin(twist), (around, across)),
        ),
        axis=-1,
    )
    a, b = places, np.roll(places, -1, axis=0)
    c, d = np.roll(b, -1, axis=1), np.roll(a, -1, axis=1)
    return np.concatenate([np.stack(corners, axis=2).reshape(-1, 3, 3) for corners in ((a, b, c), (a, c, d))])


def main() -> None:
    """A binary STL file, which keeps single precision."""
    corners = triangles()
    table = np.zeros(len(corners), STL_TRIANGLE)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    table["corners"], table["normal"] = corners, normal / np.linalg.norm(normal, axis=1, keepdims=True)
    STORED.write_bytes(bytes(STL_HEADER - 4) + np.uint32(len(corners)).tobytes() + table.tobytes())
    print(f"{len(corners)} triangles, {STORED.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
