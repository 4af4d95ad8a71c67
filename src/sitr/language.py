"""The language that Sitr speaks to its user: English, unless a command or a program chooses another.

Commands and sessions choose it, reports and messages are made in it, and so it belongs to none of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum


class Language(Enum):
    """The languages of reports and messages, by their usual short names."""

    ENGLISH = "en"
    ARABIC = "ar"


_SPOKEN = ContextVar("_SPOKEN", default=Language.ENGLISH)


def spoken() -> Language:
    """The language of the reports and messages that are made now."""
    return _SPOKEN.get()


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Make reports and messages in this language.

    >>> with speaking(Language.ARABIC):
    ...     spoken()
    <Language.ARABIC: 'ar'>
    """
    token = _SPOKEN.set(language)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def preferred(environment: Mapping[str, str] = os.environ) -> Language:
    """The language of the user's locale, if Sitr speaks it; else English.

    >>> preferred({"LANG": "ar_EG.UTF-8"}), preferred({"LC_ALL": "C", "LANG": "ar_EG.UTF-8"})
    (<Language.ARABIC: 'ar'>, <Language.ENGLISH: 'en'>)
    """
    locale = next(filter(None, (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    known = {language.value: language for language in Language}
    return known.get(locale.replace("-", "_").partition("_")[0].partition(".")[0].lower(), Language.ENGLISH)
