r"""Regular expressions of `questions.aggregate.expressions.patterns` as PostgreSQL reads them.

PostgreSQL decides whether a text matches with an automaton, as long as nobody asks where: it reads each character once.
But its signs mean other things: `.` is a line break too, and `\d`, `\w` and `\s` have the letters of all alphabets. So
a pattern, which was checked before, is written anew with the characters that are meant.
"""

from __future__ import annotations

_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": r" \t\n\f\r"}
_SPECIAL = frozenset(".*+?()[]{}|^$\\-")


def translated(pattern: str) -> str:
    r"""The same pattern for PostgreSQL.

    >>> print(translated(r"^a.\d[\w-]+\/"))
    ^a[^\n][0-9][0-9A-Za-z_-]+/
    """
    found, inside, at = [], False, 0
    while at < len(pattern):
        sign = pattern[at]
        at += 1
        if sign == "\\":
            found.append(_escaped(pattern[at], inside=inside))
            at += 1
        elif sign == "." and not inside:
            found.append(r"[^\n]")
        else:
            inside = sign == "[" or (inside and sign != "]")
            found.append(sign)
    return "".join(found)


def _escaped(sign: str, *, inside: bool) -> str:
    if sign in _CLASSES:
        return _CLASSES[sign] if inside else f"[{_CLASSES[sign]}]"
    return f"\\{sign}" if sign in _SPECIAL else sign
