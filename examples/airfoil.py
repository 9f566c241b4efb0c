"""Potential flow past a NACA 0012 airfoil (Jacobs, Ward & Pinkerton 1933) in a channel: `python airfoil.py`."""

from pathlib import Path

from sympy import Eq

import phijax as phi

x, y = phi.coordinates("x y")
psi = phi.field("psi", x, y)  # the stream function
corners = [(-1, -0.75), (2, -0.75), (2, 0.75), (-1, 0.75)]
channel = phi.Polygon((x, y), corners, holes=[Path(__file__).with_name("naca0012.csv")])

airfoil = phi.Problem(
    channel,
    {
        "irrotational": Eq(phi.laplacian(psi), 0),
        "far": phi.on(channel.side("outer"), Eq(psi, y)),
        "airfoil": phi.on(channel.side("hole"), Eq(psi, 0)),
    },
)


def main(steps=120):
    points = {"irrotational": 1500, "far": 300, "airfoil": 600}
    network, weights = phi.MLP(width=16, depth=3), phi.Static({"far": 100, "airfoil": 100})
    more = {"network": network, "points": points, "balancer": weights, "max_steps": steps}
    solution = phi.solve(airfoil, seed=0, method="network", **more)
    speed = float(solution.evaluate(psi.diff(y), x=0.3, y=0.0601))
    print(f"speed at the thickest place {speed:.3f}")  # 1.162 without walls (Abbott & von Doenhoff 1959)
    return solution


if __name__ == "__main__":
    main().plot("airfoil.png")
