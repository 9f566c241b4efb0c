"""Report of an ensemble: what its members reached, and how far they are apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from phijax.evaluation.report import LARGE, aligned

Table = tuple[Sequence[str], Sequence[Sequence[str]]]  # head, rows


def statistics(values: Sequence[float]) -> dict[str, float]:
    """{"median", "mean", "worst"} of errors; NaN where there are none."""
    found = np.asarray(values, dtype=float)
    if not found.size:
        return dict.fromkeys(("median", "mean", "worst"), float("nan"))
    return {"median": float(np.median(found)), "mean": float(np.mean(found)), "worst": float(np.max(found))}


@dataclass(frozen=True)
class FieldSpread:
    """How far the members' values of a field are apart.

    relative: root mean square of their standard deviation over that of their mean. max: the largest, taken at `where`.
    """

    relative: float
    max: float
    where: dict[str, float]


@dataclass(frozen=True)
class EnsembleReport:
    """All that is known of an ensemble.

    tables: head and rows of each, the rows as text. spreads: by field. cautions: what speaks against believing the result.
    """

    title: str
    facts: Mapping[str, str]
    tables: Sequence[Table]
    spreads: Mapping[str, FieldSpread]
    reasons: Sequence[str] = ()
    cautions: Sequence[str] = ()

    def __str__(self) -> str:
        blocks = [self.title, aligned([(f"  {name}", value) for name, value in self.facts.items()])]
        for head, rows in self.tables:
            if rows:
                blocks.append(aligned([(f"  {first}", *rest) for first, *rest in (head, *rows)]))
        if self.reasons:
            blocks.append("\n".join(["  chosen by rule", *(f"  - {reason}" for reason in self.reasons)]))
        if self.cautions:
            blocks.append("\n".join(f"  ! {caution}" for caution in self.cautions))
        return "\n\n".join(blocks)

    def __repr__(self) -> str:
        return f"<Report of {self.title}>"


def far_apart(spreads: Mapping[str, FieldSpread]) -> list[str]:
    """A caution for each field of which the seeds say different things."""
    return [
        f"{name}: the seeds differ by {spread.relative:.0%} of its size, most at "
        f"{', '.join(f'{n}={v:.4g}' for n, v in spread.where.items())}; at least some have not reached a solution."
        for name, spread in spreads.items()
        if spread.relative > LARGE
    ]


def gathered(cautions: Mapping[int | str, Sequence[str]]) -> list[str]:
    """The members' cautions, each kind once, in the words of the first who has it."""
    kinds: dict[str, tuple[str, list[str]]] = {}
    for seed, said in cautions.items():
        for caution in said:
            kinds.setdefault(re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", caution), (caution, []))[1].append(str(seed))
    every = len(cautions)
    return [
        caution if len(seeds) == every else f"{caution} (seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)})"
        for caution, seeds in kinds.values()
    ]
