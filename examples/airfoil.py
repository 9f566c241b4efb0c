"""Potential flow past a NACA 0012 airfoil (Jacobs, Ward & Pinkerton 1933) in a channel: `python airfoil.py`."""

from pathlib import Path

from sympy import Eq

import phijax as phi

x, y = phi.coordinates("x y")
potential = phi.field("potential", x, y)
corners = [(-1, -0.75), (2, -0.75), (2, 0.75), (-1, 0.75)]
channel = phi.Polygon((x, y), corners, holes=[Path(__file__).with_name("naca0012.csv")])
across = phi.normal_derivative(potential)

airfoil = phi.Problem(
    channel,
    {
        "continuity": Eq(phi.laplacian(potential), 0),
        "inlet": phi.on(channel.side("edge 3"), Eq(across, -1)),
        "outlet": phi.on(channel.side("edge 1"), Eq(potential, 0)),
        "walls": phi.on(channel.boundary(where=(y < -0.74) | (y > 0.74)), Eq(across, 0)),
        "airfoil": phi.on(channel.side("hole"), Eq(across, 0)),
    },
)

if __name__ == "__main__":
    solution = phi.solve(airfoil, seed=0, max_seconds=30)
    print(solution.report())
    solution.plot("airfoil.png")
