"""A heat sink: heat enters a base from below and leaves by four fins into the air: `python heat_sink.py`."""

from sympy import Eq

import phijax as phi

x, y = phi.coordinates("x y")
T = phi.field("T", x, y)  # above the temperature of the air
base = phi.Rectangle((x, 0, 7), (y, 0, 1)).named(bottom="chip", left="air", right="air", top="air")
sink = base | phi.Rectangle((x, 0, 1), (y, 0.5, 3)).named("air").repeat(4, x=2)
across = phi.normal_derivative(T)

heat_sink = phi.Problem(
    sink,
    {
        "conduction": Eq(phi.laplacian(T), 0),
        "chip": phi.on(sink.side("chip"), Eq(across, 5)),
        "air": phi.on(sink.side("air"), Eq(across, -0.5 * T)),
    },
)


def main(steps=200):
    points = {"conduction": 600, "chip": 100, "air": 400}
    more = {"network": phi.MLP(width=16, depth=2), "points": points, "balancer": phi.Static({"chip": 10, "air": 10})}
    solution = phi.solve(heat_sink, seed=0, method="network", max_steps=steps, **more)
    leaving = phi.integral(0.5 * T, over=sink.side("air")) / (5 * 7)  # over what enters
    print(f"heat leaving over heat entering {float(solution.evaluate(leaving)):.4f}")
    return solution


if __name__ == "__main__":
    main().plot("heat_sink.png")
