"""A string that is let go at rest: `python wave.py`."""

from sympy import Eq, cos, pi, sin

import phijax as phi

x, t = phi.coordinate("x"), phi.time("t")
u = phi.field("u", x, t)
string = phi.Interval(x, 0, 1) * phi.Interval(t, 0, 1)

wave = phi.Problem(
    string,
    {
        "wave": Eq(u.diff(t, 2), u.diff(x, 2)),
        "start": phi.on(string.at(t=0), {"shape": Eq(u, sin(pi * x)), "rest": Eq(u.diff(t), 0)}, exact=True),
        "ends": phi.on(string.boundary(x), Eq(u, 0), exact=True),
    },
    reference={u: sin(pi * x) * cos(pi * t)},
)


def main():
    solution = phi.solve(wave, seed=0)  # linear: one least-squares solve
    print(f"relative error {solution.errors()['u']['relative_l2']:.1e}")
    return solution


if __name__ == "__main__":
    main().animate("wave.gif")
