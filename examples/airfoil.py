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


def main(steps=150):
    points = {"continuity": 1500, "inlet": 100, "outlet": 100, "walls": 200, "airfoil": 600}
    network = phi.MLP(width=16, depth=3)
    solution = phi.solve(airfoil, seed=0, method="network", network=network, points=points, max_steps=steps)
    # Between the airfoil's thickest place and the wall passes half of the inflow of 1.5.
    speed = solution.evaluate(potential.diff(x), x=0.3, y=[0.065 + 0.685 * (k + 0.5) / 100 for k in range(100)])
    print(f"flow above the airfoil {0.685 * speed.mean():.4f}")  # 0.75
    return solution


if __name__ == "__main__":
    main().plot("airfoil.png")
