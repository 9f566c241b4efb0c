"""Weights as a plain file: evaluated again by NumPy alone they give the same fields."""

import numpy as np
import pytest
import sympy
from sympy import Eq, pi, sin

import phijax as phi
from phijax.networks import MLP

x, t = phi.coordinate("x"), phi.time("t")
u, v = phi.fields("u v", x, t)
k = phi.parameter("k", initial=2.5, positive=True)
ring = phi.Interval(x, -1, 1, periodic=True) * phi.Interval(t, 0, 2)


def problem():
    return phi.Problem(
        ring,
        {
            "pde": {"u": Eq(u.diff(t), k * v.diff(x)), "v": Eq(v.diff(t), u.diff(x))},
            "start": phi.on(ring.at(t=0), Eq(u, 3 * sin(pi * x)), exact=True),
            "rest": phi.on(ring.at(t=0), Eq(v, 5)),
        },
    )


def by_numpy(weights, group, x, t):
    """The documented recipe, with no package but NumPy and, for exact conditions, sympy."""
    inputs = []
    for name, column in (("x", x), ("t", t)):
        low, high, periodic = weights[f"inputs/{group}/{name}"]
        if periodic:
            angle = 2 * np.pi * (column - low) / (high - low)
            inputs += [np.cos(angle), np.sin(angle)]
        else:
            inputs.append(2 * (column - (low + high) / 2) / (high - low))
    layer, h = 0, np.stack(inputs, axis=-1)
    while f"networks/{group}/layers/{layer}/weight" in weights:
        h = np.tanh(h) if layer else h
        h = h @ weights[f"networks/{group}/layers/{layer}/weight"] + weights[f"networks/{group}/layers/{layer}/bias"]
        layer += 2
    fields = {}
    for position, name in enumerate(group.split(",")):
        value = weights[f"scales/{name}"] * h[:, position]
        if f"lifts/{name}" in weights:
            symbols = sympy.symbols("x t")
            lift, factor = (
                sympy.lambdify(symbols, sympy.sympify(str(weights[f"{part}/{name}"])))(x, t)
                for part in ("lifts", "factors")
            )
            value = lift + factor * value
        fields[name] = value
    return fields


def test_numpy_alone_gives_the_same_fields(untrained_solution, tmp_path):
    solution = untrained_solution(problem(), MLP(width=6, depth=2))
    path = solution.save_weights(tmp_path / "weights")
    assert path == tmp_path / "weights.npz"
    with np.load(path, allow_pickle=False) as stored:
        weights = dict(stored)
    random = np.random.default_rng(0)
    xs, ts = random.uniform(-1, 1, 50), random.uniform(0, 2, 50)
    (group,) = {name.split("/")[1] for name in weights if name.startswith("networks/")}
    again = by_numpy(weights, group, xs, ts)
    for name in ("u", "v"):
        np.testing.assert_allclose(again[name], solution[name](x=xs, t=ts), rtol=1e-12, atol=1e-12)
    assert weights["parameters/k"] == pytest.approx(2.5)
    assert weights["scales/v"] == 5.0
    assert "tanh" in str(weights[f"structure/{group}"])


def test_exact_slopes_are_stored_with_the_derivatives_of_the_output_that_they_take(untrained_solution, tmp_path):
    w, rod = phi.field("w", x, t), phi.Interval(x, 0, 1) * phi.Interval(t, 0, 2)
    declared = phi.Problem(
        rod,
        {
            "pde": Eq(w.diff(t), w.diff(x, 2)),
            "start": phi.on(rod.at(t=0), Eq(w, 2)),
            "ends": phi.on(rod.boundary(x), Eq(phi.normal_derivative(w) + w, t), exact=True),
        },
    )
    solution = untrained_solution(declared, MLP(width=6, depth=2))
    with np.load(solution.save_weights(tmp_path / "weights"), allow_pickle=False) as stored:
        weights = dict(stored)
    assert [name for name in weights if name.startswith("slopes/")] == ["slopes/w/x"]
    bare = {name: array for name, array in weights.items() if not name.startswith("lifts/")}
    random, step = np.random.default_rng(0), 1e-5
    xs, ts = random.uniform(0.1, 0.9, 50), random.uniform(0, 2, 50)
    output, ahead, behind = (by_numpy(bare, "w", xs + by, ts)["w"] for by in (0, step, -step))
    lift, factor, slope = (
        sympy.lambdify(sympy.symbols("x t"), sympy.sympify(str(weights[name])))(xs, ts)
        for name in ("lifts/w", "factors/w", "slopes/w/x")
    )
    again = lift + factor * output + slope * (ahead - behind) / (2 * step)
    np.testing.assert_allclose(again, solution.w(x=xs, t=ts), rtol=1e-8)


def test_a_failed_write_leaves_nothing(untrained_solution, tmp_path):
    solution = untrained_solution(problem(), MLP(width=3, depth=1))
    with pytest.raises(FileNotFoundError, match=rf"there is no folder {tmp_path / 'absent'}; make it first\."):
        solution.save_weights(tmp_path / "absent" / "weights.npz")
    assert list(tmp_path.iterdir()) == []
