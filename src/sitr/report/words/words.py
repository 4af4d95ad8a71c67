"""The meaning of the numbers in plain sentences, in one language.

Every number in a sentence is a bound and is rounded so that it stays one. Reports take all their sentences from here;
renderers hold only structure. A language is one class with the methods of `English` and one attribute for each kind of
question; `Words` becomes the union of the languages, so that the type checker finds a sentence that one of them lacks.
"""

from __future__ import annotations

from typing import TypeAlias

from sitr.report.words.english.english import English

Words: TypeAlias = English
