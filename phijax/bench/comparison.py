"""Who is ahead: what a network reached beside a classical solver and beside the best published figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from phijax.bench.accuracy import Row
from phijax.problems import Errors, Info

ROUNDING = 1e-12  # two errors below it are the same, and so are two that differ by less than `ALIKE`
ALIKE = 2.0


class Ahead(StrEnum):
    """Who has the smaller error in less time."""

    CLASSICAL = "classical"
    NETWORK = "network"
    EITHER = "one in error, one in time"


@dataclass(frozen=True)
class Comparison:
    """Who is ahead, and by how much in a sentence."""

    ahead: Ahead
    sentence: str


def against_classical(row: Row, info: Info) -> Comparison | None:
    """The medians and the longest wall time beside the classical solver's; None where one of them is not there."""
    if info.classical is None or not row.errors:
        return None
    errors, seconds, _ = info.classical
    ours, theirs = _compared(row.errors, errors)
    if not math.isfinite(ours):
        return Comparison(Ahead.CLASSICAL, "The classical solver is ahead: half of the network's runs or more failed.")
    faster = row.wall / seconds
    time = f"{_times(faster)} times less time" if faster >= 1 else f"{_times(1 / faster)} times the time"
    if _alike(ours, theirs):
        if faster >= 1:
            return Comparison(Ahead.CLASSICAL, f"The classical solver is ahead: the same error in {time}.")
        return Comparison(Ahead.NETWORK, f"The network is ahead: the classical solver has the same error in {time}.")
    if ours > theirs:
        less = f"{_times(ours / theirs)} times less error in {time}"
        if faster >= 1:
            return Comparison(Ahead.CLASSICAL, f"The classical solver is ahead: {less}.")
        return Comparison(Ahead.EITHER, f"Neither is ahead in both: the classical solver has {less}.")
    less = f"{_times(theirs / ours)} times less error"
    if faster >= 1:
        return Comparison(
            Ahead.EITHER, f"Neither is ahead in both: the network has {less}, the classical solver takes {time}."
        )
    return Comparison(Ahead.NETWORK, f"The network is ahead: {less}, and the classical solver takes {time}.")


def against_published(row: Row, info: Info) -> str:
    """A sentence; empty where nothing is published, or nothing was reached."""
    if info.published is None or not row.errors:
        return ""
    errors, source = info.published
    ours, theirs = _compared(row.errors, errors)
    figure = f"The best published figure is {errors_text(errors)} ({source})"
    if not math.isfinite(ours):
        return f"{figure}."
    if _alike(ours, theirs):
        return f"{figure}: the same."
    if ours > theirs:
        return f"{figure}: {_times(ours / theirs)} times less than here."
    return f"{figure}: {_times(theirs / ours)} times more than here."


def errors_text(errors: Errors) -> str:
    """One number, or one a name."""
    if isinstance(errors, Mapping):
        return ", ".join(f"{name} {value:.1e}" for name, value in errors.items())
    return f"{errors:.1e}"


def _compared(ours: Mapping[str, float], theirs: Errors) -> tuple[float, float]:
    """(our error, their error): the worst of ours beside one number, else of the name where we are furthest behind."""
    if not isinstance(theirs, Mapping):
        return max(ours.values()), theirs
    return max(
        ((ours.get(name, math.inf), value) for name, value in theirs.items()), key=lambda pair: pair[0] / pair[1]
    )


def _alike(ours: float, theirs: float) -> bool:
    return max(ours, theirs) <= ROUNDING or 1 / ALIKE < ours / theirs < ALIKE


def _times(ratio: float) -> str:
    if ratio >= 1e5:
        return f"{ratio:.0e}"
    return f"{ratio:.1f}" if ratio < 10 else f"{float(f'{ratio:.2g}'):,.0f}"
