"""Numbers in the digits that the reader of an Arabic text chose: Latin ones, or Arabic-Indic ones.

Arabic-Indic numbers have separators and a percent sign of their own. Code, names and hashes keep their digits, and so
do exponents, because Unicode has no others: 6.2 × 10⁻⁷ is ٦٫٢ × ١٠⁻⁷.
"""

from __future__ import annotations

import re

from sitr.language import Digits, digits

_INDIC = str.maketrans("0123456789.,%", "٠١٢٣٤٥٦٧٨٩٫٬٪")
_NUMBER = re.compile(
    r"(?<![A-Za-z_0-9])(?<![A-Za-z][- \u00a0])(?<![0-9]\.)"
    r"([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(\.[0-9]+)?(%?)(?![A-Za-z_0-9]|\.[0-9])"
)
"""A number, not a part of a name such as SHA-256 or DRV 2010, or of a version such as 0.1.0."""

_LEFT, _ARABIC = "\u200e", "\u061c"
"""Marks of direction. Two Arabic-Indic numbers in a formula would change places but for the left-to-right marks beside
them; the Arabic mark puts the percent sign after its number, as readers of Arabic expect it. [CLDR, ar, percentSign]"""


def numerals(text: str) -> str:
    r"""The text with its numbers in the chosen digits.

    >>> from sitr.language import Language, speaking
    >>> with speaking(Language.ARABIC, Digits.ARABIC_INDIC):
    ...     numerals("1,234.5").strip("\u200e"), numerals("SHA-256, e5"), numerals("6 × 10⁻⁷").replace("\u200e", "")
    ('١٬٢٣٤٫٥', 'SHA-256, e5', '٦ × ١٠⁻⁷')
    """
    if digits() is Digits.LATIN:
        return text
    return _NUMBER.sub(_indic, text).replace(2 * _LEFT, _LEFT)


def numeral(text: str) -> str:
    """The same for a text that may be a number; any other text stays as it is."""
    return numerals(text) if _NUMBER.fullmatch(text.removeprefix("-").removeprefix("−")) else text


def _indic(found: re.Match[str]) -> str:
    return f"{_LEFT}{found[0].translate(_INDIC)}{_ARABIC if found[3] else ''}{_LEFT}"
