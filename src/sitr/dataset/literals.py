"""The values that every table can hold and every message can show: no others enter a question or a description."""

from __future__ import annotations

import re

from sitr.errors import quoted

_HALF = re.compile("[\ud800-\udfff]")
_LONGEST = 60


def writable(value: object) -> bool:
    r"""Whether a value is valid Unicode text: a lone surrogate could be neither sent to a backend nor recorded.

    >>> writable("مكة"), writable("\ud800"), writable(5)
    (True, False, False)
    """
    return isinstance(value, str) and not _HALF.search(value)


def storable(number: float) -> bool:
    """Whether a number fits in 64 bits; NaN and infinity do not.

    >>> storable(-(2**63)), storable(2**63), storable(float("nan"))
    (True, False, False)
    """
    return -(2**63) <= number < 2**63


def shown(value: object) -> str:
    """A value as messages quote it, shortened to one line.

    >>> shown("مكة"), shown((0, 10**9_999))
    ("'مكة'", 'a number with thousands of digits')
    """
    return shortened(quoted(value))


def shortened(text: str) -> str:
    r"""The beginning of a text, on one line.

    >>> shortened("x = 1\n  OR " + " OR ".join(["y = 2"] * 9))
    'x = 1 OR y = 2 OR y = 2 OR y = 2 OR y = 2 OR y = 2 OR y = 2…'
    """
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1].rstrip() + "…"
