"""What every table can hold and every message can show: nothing else comes into a question or a description."""

from __future__ import annotations

import re

_HALF = re.compile("[\ud800-\udfff]")
_LONGEST = 60


def writable(value: object) -> bool:
    r"""Text of whole characters: half of one, a lone surrogate, could neither be sent to a backend nor be recorded.

    >>> writable("مكة"), writable("\ud800"), writable(5)
    (True, False, False)
    """
    return isinstance(value, str) and not _HALF.search(value)


def storable(number: float) -> bool:
    """A number within 64 bits; NaN and infinity are not.

    >>> storable(-(2**63)), storable(2**63), storable(float("nan"))
    (True, False, False)
    """
    return -(2**63) <= number < 2**63


def shown(value: object) -> str:
    """Something given as a message quotes it.

    >>> shown("مكة"), shown((0, 10**9_999))
    ("'مكة'", 'a number of thousands of digits')
    """
    try:
        return shortened(repr(value))
    except ValueError:  # Python refuses to write such integers
        return "a number of thousands of digits"


def shortened(text: str) -> str:
    r"""The beginning of a text, on one line.

    >>> shortened("x = 1\n  OR " + " OR ".join(["y = 2"] * 9))
    'x = 1 OR y = 2 OR y = 2 OR y = 2 OR y = 2 OR y = 2 OR y = 2…'
    """
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1].rstrip() + "…"
