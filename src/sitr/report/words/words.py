"""The meaning of the numbers in plain sentences, in one language.

Every number in a sentence is a bound and is rounded so that it stays one. Reports take all their sentences from here;
renderers hold only structure. A language is one class with the methods of `English` and one attribute for each kind of
question; `Words` is the union of the languages, so that the type checker finds a sentence that one of them lacks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sitr.language import Language, spoken
from sitr.namespace import Later
from sitr.report.words.english.english import ENGLISH, English

if TYPE_CHECKING:
    from sitr.report.words.arabic import arabic
else:  # most reports are in English
    arabic = Later("sitr.report.words.arabic.arabic")

Words: TypeAlias = "English | arabic.Arabic"


def in_words(words: Words | None = None) -> Words:
    """These words, or those of the language that is spoken now.

    >>> in_words().code
    'en'
    """
    if words is not None:
        return words
    return ENGLISH if spoken() is Language.ENGLISH else arabic.ARABIC
