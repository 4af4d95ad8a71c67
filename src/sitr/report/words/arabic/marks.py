"""Text of another direction inside Arabic lines, each part enclosed in Unicode isolates.

Formulas and numbers run from left to right; names and values of the user run in a direction of their own. Without
isolates, the displayed order of `ε = 0.5` or `(1, 10⁻⁶)` would depend on the text around it.

Numbers have the digits that the reader chose; code and names keep theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sitr.questions.aggregate.in_total import OVER_ALL
from sitr.questions.aggregate.term import ROWS_LEFT_OUT
from sitr.report.figures import visible
from sitr.report.words.messages import isolated
from sitr.report.words.numerals import numerals


def ltr(formula: str) -> str:
    r"""A formula that reads from left to right in any context, and that breaks only after a comma.

    >>> ascii(ltr("e = 1, d = 2"))
    "'\\u2066e\\xa0=\\xa01, d\\xa0=\\xa02\\u2069'"
    """
    return code(numerals(formula))


def code(text: str) -> str:
    """The same for code and names, which keep their digits."""
    unbroken = re.sub("(?<!,) ", "\u00a0", text)
    return f"\u2066{unbroken}\u2069"


def verbatim(text: str) -> str:
    """SQL and other code that readers may copy: from left to right, with every space as it is."""
    return f"\u2066{visible(text)}\u2069"


def named(text: str) -> str:
    """A name or a value of the user, made harmless, in its own direction."""
    return isolated(visible(text))


def measurement(name: str) -> str:
    """The name of a measurement; what it says in English words beside SQL is said in Arabic.

    >>> "WITH" in measurement("COUNT(DISTINCT id WITH ROWS LEFT OUT), over all groups")
    False
    """
    sql, whole = name.removesuffix(OVER_ALL), name.endswith(OVER_ALL)
    cut = " لمن تُركت صفوف لهم" if ROWS_LEFT_OUT in sql else ""
    return f"{named(sql.replace(ROWS_LEFT_OUT, ''))}{cut}{'، في المجموعات كلها معًا' if whole else ''}"


def listed(parts: Iterable[str]) -> str:
    """Parts of a list, separated by Arabic commas.

    >>> listed(["أ", "ب"])
    'أ، ب'
    """
    return "، ".join(parts)
