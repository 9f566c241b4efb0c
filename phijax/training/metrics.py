"""Metrics of a run: records in memory, and the same records as JSON lines on disk."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from phijax._numbers import is_whole
from phijax.training.step import Report

METRICS_FILE = "metrics.jsonl"


def record_of(
    step: int,
    report: Report,
    terms: Iterable[str],
    *,
    seconds: float,
    learning_rate: float | None = None,
    optimizer: dict[str, float] | None = None,
) -> dict[str, Any]:
    """What is written of one step: plain floats by name, of all digits, terms in declaration order.

    The losses, weights and unknowns are those at the parameters with which `step` began, and the learning rate is
    the one with which it moved them.
    """
    report = jax.device_get(report)
    losses = {term: float(report.losses[term]) for term in terms}
    weights = {term: float(report.weights[term]) for term in losses}
    record = {
        "step": step,
        "total": float(report.total),
        "losses": losses,
        "weights": weights,
        "weighted": {term: weights[term] * value for term, value in losses.items()},
    }
    if report.parameters:
        record["parameters"] = {name: np.asarray(value).tolist() for name, value in report.parameters.items()}
    if learning_rate is not None:
        record["learning_rate"] = learning_rate
    if optimizer:
        record["optimizer"] = optimizer
    record["seconds"] = round(seconds, 3)
    return record


class History:
    """Records of the logged steps, in order, as columns of NumPy arrays; `events` are changes of stage and the like."""

    def __init__(self, lines: Iterable[dict[str, Any]] = ()):
        self.records: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        for line in lines:
            self.add(line)

    def add(self, line: dict[str, Any]) -> None:
        """Append a record or an event."""
        (self.events if "event" in line else self.records).append(line)

    def __len__(self) -> int:
        return len(self.records)

    @property
    def steps(self) -> np.ndarray:
        """Logged steps, shape (records,)."""
        return np.array([record["step"] for record in self.records], dtype=np.int64)

    @property
    def total(self) -> np.ndarray:
        """The weighted sum that was minimised, shape (records,)."""
        return self._column(lambda record: record["total"])

    @property
    def learning_rate(self) -> np.ndarray:
        """Learning rate of each logged step, NaN where none is known, shape (records,)."""
        return self._column(lambda record: record.get("learning_rate"))

    @property
    def losses(self) -> dict[str, np.ndarray]:
        """Raw loss of each term, shape (records,)."""
        return self._columns("losses")

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """Weight of each term, shape (records,)."""
        return self._columns("weights")

    @property
    def weighted(self) -> dict[str, np.ndarray]:
        """Weight times loss of each term, shape (records,)."""
        return self._columns("weighted")

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """Unknowns of the problem by name, shape (records, ...)."""
        return self._columns("parameters")

    def _column(self, read: Any) -> np.ndarray:
        return np.array([math.nan if (v := read(record)) is None else v for record in self.records], dtype=float)

    def _columns(self, group: str) -> dict[str, np.ndarray]:
        names = dict.fromkeys(name for record in self.records for name in record.get(group, {}))
        return {name: self._column(lambda r, name=name: r.get(group, {}).get(name)) for name in names}


def read_metrics(
    path: Path, before: int | None = None, stage_begun: bool = False, seed: int | str | None = None
) -> History:
    """The history in a metrics file, up to but not including step `before`.

    seed: of whose run, in the file of an ensemble. stage_begun: whether a stage that begins at step `before` has been told
    already. A last line that was cut short, by a run killed while writing it, is left out; so is any other that is damaged,
    with a warning.
    """
    texts = path.read_bytes().split(b"\n") if path.exists() else []
    lines = []
    for number, text in enumerate(texts, 1):
        line = _whole_line(text)
        if line is None:
            if number < len(texts):
                warnings.warn(f"{path}: line {number} is damaged and left out.", RuntimeWarning, stacklevel=2)
            continue
        if line.pop("seed", None) != seed:
            continue
        told = stage_begun and line["step"] == before and line.get("event") == "stage"
        if before is None or line["step"] < before or told:
            lines.append(line)
    return History(lines)


def _whole_line(text: bytes) -> dict[str, Any] | None:
    """A record or an event as it was written, None for what is neither."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or not is_whole(line.get("step"), least=0):
        return None
    groups = [line.get(name, {}) for name in ("losses", "weights", "weighted")]
    if "event" in line or "total" not in line:
        return line if isinstance(line.get("event"), str) else None
    if not all(isinstance(group, dict) for group in groups):
        return None
    numbers = [line["total"], *(value for group in groups for value in group.values())]
    return line if all(map(_is_number, numbers)) else None


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


class MetricsWriter:
    """Appends records to a file, one line each, or keeps them in memory alone where `path` is None."""

    def __init__(self, path: Path | None, history: History):
        self.history = history
        self._path = path
        self._seed: dict[str, Any] = {}
        if path is not None:
            _rewrite(path, [*history.records, *history.events])

    @classmethod
    def several(cls, path: Path | None, histories: Mapping[int | str, History]) -> list[MetricsWriter]:
        """One for each seed, all to one file, whose lines say whose they are."""
        writers: list[MetricsWriter] = [cls(None, history) for history in histories.values()]
        if path is not None:
            marked = [{"seed": s} | line for s, own in histories.items() for line in (*own.records, *own.events)]
            _rewrite(path, marked)
        for writer, seed in zip(writers, histories, strict=True):
            writer._path, writer._seed = path, {"seed": seed}
        return writers

    def write(self, line: dict[str, Any]) -> None:
        """Append one record or event, on disk before this returns."""
        self.history.add(line)
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(_text(self._seed | line))


def _rewrite(path: Path, lines: list[dict[str, Any]]) -> None:
    """The file with these lines in order of their steps, whole or as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_suffix(".part")
    whole.write_text("".join(map(_text, sorted(lines, key=lambda line: line["step"]))))
    os.replace(whole, path)


def _text(line: dict[str, Any]) -> str:
    return json.dumps(_finite(line), allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    """JSON has no nan and no infinity: null stands for both."""
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
