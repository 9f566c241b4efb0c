"""Docstrings say `name: what it is.` on lines of their own; on the site these lines are a list."""

import re
from typing import Any

import griffe

ENTRY = re.compile(r"(\w+(?:, \w+)*): (?=\S)")


class Lists(griffe.Extension):
    """Makes a list of what a docstring says of arguments and attributes."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = listed(obj.docstring.value)


def listed(docstring: str) -> str:
    """`docstring` with a list in place of lines that begin with names and a colon."""
    lines: list[str] = []
    inside = False
    for line in docstring.splitlines():
        if entry := ENTRY.match(line):
            lines += [] if inside else [""]
            line, inside = f"- **{entry[1]}**: {line[entry.end() :]}", True
        elif inside and (not line or (line[0].isupper() and lines[-1].endswith("."))):
            lines += [""]
            inside = False
        lines.append(line)
    return "\n".join(lines)
