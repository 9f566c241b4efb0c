"""Trained weights as a plain npz file that NumPy reads without this package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.tree_util import keystr, tree_flatten_with_path

from phijax.evaluation.files import written_whole


def weight_arrays(layout: Any, model: Any) -> dict[str, np.ndarray]:
    """{path: array} of all weights, and what turns a point into inputs and outputs into fields.

    `networks/GROUP/...`: as in the model, whose layers are under `structure/GROUP` as text.
    `inputs/GROUP/COORDINATE`: (low, high, periodic); the input is the coordinate scaled to [-1, 1], or where periodic
    the cosine and sine of the angle it makes on a circle. `scales/FIELD`: factor of the output. A field with exact
    conditions is `lift + factor * output`, under `lifts/FIELD` and `factors/FIELD` as text; one with exact slopes is
    that and `slopes/FIELD/COORDINATES` times the output's derivative by these, such as "x" or "x,y", added up.
    """
    arrays: dict[str, np.ndarray] = {}
    for path, leaf in tree_flatten_with_path(model.networks)[0]:
        if isinstance(leaf, jax.Array | np.ndarray):
            arrays[f"networks/{keystr(path, simple=True, separator='/')}"] = np.asarray(leaf)
    for name, group in layout.groups.items():
        arrays[f"structure/{name}"] = np.array(str(model.networks[name]))
        for symbol, embedding in zip(group.coordinates, group.embeddings, strict=True):
            row = [embedding.low, embedding.high, float(embedding.periodic)]
            arrays[f"inputs/{name}/{symbol.name}"] = np.array(row)
        for field in group.fields:
            arrays[f"scales/{field.name}"] = np.array(group.scales[field.name])
            ansatz = group.ansatz[field.name]
            if not ansatz.trivial:
                arrays[f"lifts/{field.name}"] = np.array(str(ansatz.lift))
                arrays[f"factors/{field.name}"] = np.array(str(ansatz.factor))
            for orders, weight in ansatz.slopes.items():
                by = ",".join(s.name for s, order in zip(field.coordinates, orders, strict=True) for _ in range(order))
                arrays[f"slopes/{field.name}/{by}"] = np.array(str(weight))
    return arrays


def save_npz(path: str | Path, arrays: dict[str, np.ndarray]) -> Path:
    """Writes the arrays under their names; the file is whole or not there."""
    target = Path(path)
    target = target if target.suffix == ".npz" else target.with_name(target.name + ".npz")
    with written_whole(target) as part, part.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    return target
