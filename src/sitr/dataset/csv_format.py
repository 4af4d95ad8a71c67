"""The format of a CSV file, fixed when the data set is protected, so that later questions need not detect it."""

from __future__ import annotations

from dataclasses import dataclass

QUOTE = '"'
"""The usual quotation mark."""
DECIMALS = (".", ",")
"""The decimal marks, the usual one first."""


@dataclass(frozen=True, slots=True)
class CsvFormat:
    """How the lines of a CSV file are written.

    Delimiter, quote, formats of dates and timestamps as in strptime (an empty format means ISO 8601), and the decimal
    mark of numbers. Where the mark is a comma, a point separates thousands, as in 1.234,56.
    """

    delimiter: str = ","
    quote: str = QUOTE
    date_format: str = ""
    timestamp_format: str = ""
    decimal: str = DECIMALS[0]
