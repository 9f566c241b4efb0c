"""Plain tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]], widest: int = 100) -> str:
    """Rows with aligned columns, the first one their heads; entries are cut at `widest` characters."""
    cut = [[entry if len(entry) <= widest else f"{entry[: widest - 3]}..." for entry in row] for row in rows]
    widths = [max(len(row[i]) for row in cut) for i in range(len(cut[0]))]
    return "\n".join("  ".join(e.ljust(w) for e, w in zip(row, widths, strict=True)).rstrip() for row in cut)
