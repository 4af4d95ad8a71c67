"""The language and the digits in which Sitr speaks to its user: English, unless others are chosen.

Commands and sessions choose them, reports and messages are made in them, and so they belong to none of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import TypeVar

from sitr.errors import InvalidUse


class Language(Enum):
    """The languages of reports and messages, by their usual short names."""

    ENGLISH = "en"
    ARABIC = "ar"


class Digits(Enum):
    """The digits of numbers in Arabic texts, by the names of the options. Other languages always have Latin digits."""

    LATIN = "latin"
    ARABIC_INDIC = "arabic-indic"


DIGITS = "SITR_DIGITS"
"""The environment variable that chooses the digits of commands."""

_SPOKEN = ContextVar("_SPOKEN", default=Language.ENGLISH)
_DIGITS = ContextVar("_DIGITS", default=Digits.LATIN)


def spoken() -> Language:
    """The language of the reports and messages that are made now."""
    return _SPOKEN.get()


def digits() -> Digits:
    """The digits of the Arabic texts that are made now."""
    return _DIGITS.get()


@contextmanager
def speaking(language: Language, digits: Digits | None = None) -> Iterator[None]:
    """Make reports and messages in this language; Arabic ones with these digits, or with the same as before.

    >>> with speaking(Language.ARABIC):
    ...     spoken()
    <Language.ARABIC: 'ar'>
    """
    token = _SPOKEN.set(language)
    chosen = _DIGITS.set(_DIGITS.get() if digits is None else digits)
    try:
        yield
    finally:
        _SPOKEN.reset(token)
        _DIGITS.reset(chosen)


def preferred(environment: Mapping[str, str] = os.environ) -> Language:
    """The language of the user's locale, if Sitr speaks it; else English.

    >>> preferred({"LANG": "ar_EG.UTF-8"}), preferred({"LC_ALL": "C", "LANG": "ar_EG.UTF-8"})
    (<Language.ARABIC: 'ar'>, <Language.ENGLISH: 'en'>)
    """
    locale = next(filter(None, (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    known = {language.value: language for language in Language}
    return known.get(locale.replace("-", "_").partition("_")[0].partition(".")[0].lower(), Language.ENGLISH)


def preferred_digits(environment: Mapping[str, str] = os.environ) -> Digits:
    """The digits that the environment variable chooses; Latin ones if it is not set.

    >>> preferred_digits({"SITR_DIGITS": "arabic-indic"}), preferred_digits({})
    (<Digits.ARABIC_INDIC: 'arabic-indic'>, <Digits.LATIN: 'latin'>)
    """
    wanted = environment.get(DIGITS) or Digits.LATIN.value
    return choice(wanted, Digits, option=DIGITS)


Choice = TypeVar("Choice", bound=Enum)


def choice(wanted: str, kind: type[Choice], *, option: str) -> Choice:
    """The member of an enumeration by its name in options.

    >>> choice("ar", Language, option="--lang")
    <Language.ARABIC: 'ar'>
    """
    known = {each.value: each for each in kind}
    if not isinstance(wanted, str) or wanted not in known:
        raise InvalidUse(
            wanted=f"{option} with one of {', '.join(known)}", given=repr(wanted), do="Choose one of those."
        )
    return known[wanted]
