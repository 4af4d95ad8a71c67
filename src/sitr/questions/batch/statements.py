"""Several questions in one text, separated by semicolons; a comment `-- name: wards` gives the next one a name."""

from __future__ import annotations

import re

from sitr.errors import QuestionError

_PART = re.compile(
    r"""
    (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")   # quoted, with whatever is in it
    |(?P<comment>--[^\n]*|/\*.*?\*/)
    |(?P<end>;)
    |(?P<other>[^'"\-/;]+|.)
    """,
    re.DOTALL | re.VERBOSE,
)
_NAME = re.compile(r"--\s*name\s*:\s*(.*\S)\s*", re.IGNORECASE)


def statements(text: str) -> dict[str, str]:
    """The questions by name, or by their number where none is given.

    >>> statements("-- name: wards\\nSELECT 1; SELECT ';' -- the second")
    {'wards': 'SELECT 1', '2': "SELECT ';'"}
    """
    found: dict[str, str] = {}
    name, written = "", ""
    for part in _PART.finditer(f"{text}\n;"):
        if part["comment"] is not None:
            given = _NAME.fullmatch(part["comment"])
            name = given[1] if given is not None else name
            written += " "
        elif part["end"] is None:
            written += part[0]
        elif written.strip():
            called = name or str(len(found) + 1)
            if called in found:
                raise QuestionError(
                    given=f"Two questions of the file have the name {called!r}.", do="Give each another name."
                )
            found[called] = written.strip()
            name, written = "", ""
    return found
