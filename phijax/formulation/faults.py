"""Faults of a declaration, collected and raised at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One fault: the constraint it is in, None for the problem as a whole, and a sentence with the usual cure."""

    constraint: str | None
    message: str

    def __str__(self) -> str:
        return f"{self.constraint!r}: {self.message}" if self.constraint is not None else self.message


class DeclarationError(ValueError):
    """A problem that cannot be compiled; `faults` holds every reason."""

    def __init__(self, faults: Iterable[Fault]):
        self.faults = tuple(faults)
        count = len(self.faults)
        head = "The problem has a fault:" if count == 1 else f"The problem has {count} faults:"
        super().__init__("\n".join([head, *(f"  {number}. {fault}" for number, fault in enumerate(self.faults, 1))]))

    def __reduce__(self):
        return DeclarationError, (self.faults,)


class DeclarationWarning(UserWarning):
    """Something in a declaration that is legal, and often not what was meant."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A clause that names what `name` may have been meant for, and what there is."""
    known = list(known)
    close = difflib.get_close_matches(str(name), known, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    return f"{meant}known: {', '.join(known) or 'none'}"
