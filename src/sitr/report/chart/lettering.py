"""How much room words need: estimates that hold for the wide fonts among those that a reader may have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

NARROW = 320.0
"""The narrowest place for a chart, in pixels: a telephone's screen without margins. What fits there fits everywhere."""

_WIDTHS = {
    **dict.fromkeys("ijlI|'.,:;!", 0.34),
    **dict.fromkeys(" \u00a0frt()[]/-", 0.41),
    **dict.fromkeys("w±×+−=<>~", 0.85),
    **dict.fromkeys("mMW%@…—", 1.0),
}
"""The widths of letters in ems; others are as wide as a capital, a small letter or a digit."""
_BOLD, _TIED, _ROUNDING = 1.1, "\u00a0", 1e-9


def width(words: str, *, size: int = 12, weight: int = 400) -> float:
    """About how many pixels wide these words are, rather too many than too few.

    >>> width("illicit") < width("maximum"), width("مستشفى") > 0, width("") == 0
    (True, True, True)
    """
    return size * sum(map(_ems, words)) * (_BOLD if weight > 400 else 1.0)


def _ems(letter: str) -> float:
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    kind = unicodedata.category(letter)
    if kind in {"Mn", "Me", "Cf"}:
        return 0.0
    if ord(letter) > 0x2E7F or kind == "So":
        return 1.3 if ord(letter) > 0xFFFF or kind == "So" else 1.05
    return 0.74 if kind == "Lu" else 0.64


def cut(words: str, room: float, *, size: int = 12, weight: int = 400) -> str:
    """The words, or as many of their letters as fit into this many pixels.

    >>> cut("cardiology", 300), cut("cardiology", 50)
    ('cardiology', 'cardi…')
    """
    if width(words, size=size, weight=weight) <= room * (1 + _ROUNDING):
        return words
    left = room - width("…", size=size, weight=weight)
    kept = 0
    while kept < len(words) and (left := left - width(words[kept], size=size, weight=weight)) >= 0:
        kept += 1
    return words[:kept].rstrip() + "…"


def lines(words: str, room: float, *, size: int = 12, weight: int = 400, most: int = 8) -> list[str]:
    """The words in lines of at most this many pixels; beyond `most` lines, the last one is cut.

    A symbol stays in one line with its number.

    >>> lines("The line joins upper bounds.", 100)
    ['The line joins', 'upper bounds.']
    >>> lines("The line joins upper bounds.", 100, most=1)
    ['The line join…']
    """
    found = [each.replace(_TIED, " ") for each in _broken(_tied(words), room, size, weight)]
    if len(found) > most:
        found[most - 1 :] = [cut(" ".join(found[most - 1 :]), room, size=size, weight=weight)]
    return found


def _tied(words: str) -> str:
    """The words with a space that does not break around these signs."""
    return re.sub(" ([=×≤±]) ", rf"{_TIED}\1{_TIED}", words)


def _broken(words: str, room: float, size: int, weight: int) -> Iterator[str]:
    begun = ""
    for word in words.split(" "):
        longer = f"{begun} {word}" if begun else word
        if begun and width(longer, size=size, weight=weight) > room:
            yield cut(begun, room, size=size, weight=weight)
            longer = word
        begun = longer
    yield cut(begun, room, size=size, weight=weight)
