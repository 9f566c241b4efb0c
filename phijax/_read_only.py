"""A mapping that cannot be changed, and that is copied and pickled all the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V", covariant=True)


class ReadOnly(Mapping[_K, _V]):
    """A copy of a mapping, in its order. Equal to any mapping of the same entries."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[_K, _V]):
        object.__setattr__(self, "_entries", dict(entries))

    def __getitem__(self, key: _K) -> _V:
        return self._entries[key]

    def __iter__(self) -> Iterator[_K]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name!r} cannot be set: the mapping is read-only.")

    def __reduce__(self) -> tuple:
        return ReadOnly, (dict(self._entries),)

    def __repr__(self) -> str:
        return repr(self._entries)
