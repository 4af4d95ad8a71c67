"""The format of a CSV file, fixed when the data set is protected, so that later questions need not detect it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from sitr.dataclass import dataclass
from sitr.errors import DescriptionError, quoted

QUOTE = '"'
"""The usual quotation mark."""
DECIMALS = (".", ",")
"""The decimal marks, the usual one first."""


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """How the lines of a CSV file are written.

    Delimiter, quote, formats of dates and timestamps as in strptime (an empty format means ISO 8601), and the decimal
    mark of numbers. Where the mark is a comma, a point separates thousands, as in 1.234,56. Without a header, columns
    are called column1, column2, …
    """

    delimiter: str = ","
    quote: str = QUOTE
    date_format: str = ""
    timestamp_format: str = ""
    decimal: str = DECIMALS[0]
    header: bool = True
    nulls: tuple[str, ...] = ()
    """Values that mean no value in every column, such as NA. An empty value always does."""


class DeclaredFormat(TypedDict, total=False):
    """What is declared about the format of a CSV file; what is left out is detected in its rows."""

    delimiter: str
    quote: str
    date_format: str
    timestamp_format: str
    decimal: str
    header: bool
    nulls: Sequence[str]


NOTHING: DeclaredFormat = {}

MISSING = ("NA", "N/A", "n/a", "NULL", "null", "None", "NaN", "nan", "-", "?")
"""What programs write for a number or a date that is missing. It does not turn a column into text."""


def check_written(written: DeclaredFormat) -> None:
    """Refuse a declared format that no file can have.

    >>> check_written({"delimiter": ";", "date_format": "%d.%m.%Y"})
    """
    if written.get("decimal", DECIMALS[0]) not in DECIMALS:
        raise DescriptionError(
            wanted="'.' or ',' as the decimal mark",
            given=quoted(written["decimal"]),
            do="Choose one of those, or leave it out.",
        )
    for mark, wanted in (
        (written.get("delimiter", ","), "one character as the delimiter, such as ';'"),
        (written.get("quote", QUOTE), "one character as the quote, such as '\"'"),
    ):
        if not isinstance(mark, str) or len(mark) != 1 or not mark.isascii() or mark.isalnum() or mark in "\r\n":
            raise DescriptionError(
                wanted=wanted,
                given=quoted(mark),
                do="Choose another one, or leave it out; a tab is written as $'\\t' in a shell.",
            )
    for text, wanted in (
        (written.get("date_format", "%Y"), "a date format such as %d.%m.%Y"),
        (written.get("timestamp_format", "%Y"), "a timestamp format such as %d.%m.%Y %H:%M"),
    ):
        if not isinstance(text, str) or not any(year in text for year in ("%Y", "%y", "%x", "%c", "%s")):
            raise DescriptionError(
                wanted=wanted,
                given=quoted(text),
                do="Write %d for the day, %m for the month, %Y for the year, %H, %M and %S for the time.",
            )
    if not isinstance(written.get("header", True), bool):
        raise DescriptionError(
            wanted="True or False for header",
            given=quoted(written["header"]),
            do="Say whether the first line names the columns.",
        )
    nulls = written.get("nulls", ())
    if isinstance(nulls, str) or not all(isinstance(each, str) and _is_value(each) for each in nulls):
        raise DescriptionError(
            wanted="a list of values that mean no value, without spaces around them",
            given=quoted(nulls),
            do="Write for example nulls=['NA', '-'] (--null NA --null=-); an empty value always means no value.",
        )


def _is_value(text: str) -> bool:
    """Whether a field can be this text: bytes of a shell that are not UTF-8 arrive as half characters.

    >>> _is_value("NA"), _is_value(" NA"), _is_value(""), _is_value(chr(0xDCFF))
    (True, False, False, False)
    """
    return text.strip() == text != "" and not any(0xD800 <= ord(letter) <= 0xDFFF for letter in text)
