"""Slow flow (Stokes) round a cylinder in a channel: `python cylinder.py`."""

from sympy import Eq, Rational

import phijax as phi

x, y = phi.coordinates("x y")
u, v, p = phi.fields("u v p", x, y)  # the pressure in units of 20, which make p about one
channel = phi.Rectangle((x, -2, 2), (y, -1, 1)).named(left="inlet", right="outlet", bottom="walls", top="walls")
channel -= phi.Disk((x, y), radius=Rational(2, 5)).named("cylinder")
far = {u: 1 - y**2, v: 0}

flow = phi.Problem(
    channel,
    {
        "stokes": {"x": Eq(phi.laplacian(u), 20 * p.diff(x)), "y": Eq(phi.laplacian(v), 20 * p.diff(y))},
        "continuity": phi.div((u, v)),
        "inlet": phi.on(channel.side("inlet"), far),
        "outlet": phi.on(channel.side("outlet"), far),
        "walls": phi.on(channel.side("walls"), {u: 0, v: 0}),
        "cylinder": phi.on(channel.side("cylinder"), {u: 0, v: 0}),
        "gauge": phi.on(channel.at(x=2, y=0), Eq(p, 0)),
    },
)


def main(steps=150):
    points = {"stokes": 600, "continuity": 600, "inlet": 60, "outlet": 60, "walls": 120, "cylinder": 120}
    weights = phi.Static({"continuity": 100, "inlet": 100, "outlet": 100, "walls": 100, "cylinder": 100})
    more = {"network": phi.MLP(width=16, depth=3), "points": points, "balancer": weights, "max_steps": steps}
    solution = phi.solve(flow, seed=0, method="network", **more)
    above = solution.evaluate(phi.integral(u, (y, 0.4, 1)), x=0)
    print(f"flow above the cylinder {float(above):.4f}")  # half of all, 2/3, by symmetry
    return solution


if __name__ == "__main__":
    main().plot("cylinder.png")
