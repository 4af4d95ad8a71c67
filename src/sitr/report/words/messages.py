"""Messages in other languages.

Errors and help texts are written in English where they are raised. Another language has a catalogue: a JSON file that
maps each English template to its translation. `{}` stands for a value in English; `{0}`, `{1}`, … stand for the same
values in the translation, in any order. A message without an entry is shown in English, so nothing is ever hidden; a
test walks the source and proves that there is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sitr.errors import SitrError
from sitr.report.words.language import Language, spoken

_EXPECTED = "Expected {}, got {}."


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Translations of message templates.

    >>> catalogue = Catalogue({"There is no file {}.": "لا يوجد ملف {0}.", "a file": "ملف"})
    >>> catalogue.say("a file"), catalogue.say("something new")
    ('ملف', 'something new')
    """

    entries: Mapping[str, str]

    def say(self, message: str) -> str:
        """The translation of a message; the message itself if there is none. Values are translated if they can be."""
        if (exact := self.entries.get(message)) is not None:
            return exact
        found = [template for template in self.entries if "{}" in template and _may_be(template, message)]
        for template in sorted(found, key=_letters, reverse=True):
            if match := _pattern(template).fullmatch(message):
                return self.entries[template].format(*(self.value(value) for value in match.groups()))
        return message

    def value(self, value: str) -> str:
        """A part of a longer text: if it stays in English, its direction must not disturb the text around it."""
        said = self.say(value)
        return said if said != value else isolated(value)


def isolated(value: str) -> str:
    """A value that keeps its own direction inside a line of another direction (Unicode's first strong isolate)."""
    return f"\u2068{value}\u2069" if value else value


def catalogue(language: Language) -> Catalogue | None:
    """The catalogue of a language; None for English, in which messages are written."""
    return None if language is Language.ENGLISH else _loaded(language)


def said(message: str) -> str:
    """A message in the language that is spoken now."""
    found = catalogue(spoken())
    return message if found is None else found.say(message)


def error_text(error: SitrError) -> str:
    """The text of an error in the language that is spoken now."""
    found = catalogue(spoken())
    if found is None:
        return error.message
    wanted, given, do = map(found.value, (error.wanted, error.given, error.do))
    if not error.wanted or error.wanted.endswith("."):
        return " ".join(filter(None, (wanted, given, do)))
    return f"{found.entries[_EXPECTED].format(wanted, given)} {do}"


@cache
def _loaded(language: Language) -> Catalogue:
    path = Path(__file__).with_name(language.name.lower()) / "messages.json"
    return Catalogue(json.loads(path.read_text(encoding="utf-8")))


def _may_be(template: str, message: str) -> bool:
    """A quick look at both ends, before the pattern is compiled."""
    first, *_, last = template.split("{}")
    return message.startswith(first) and message.endswith(last) and _letters(template) > 1


def _letters(template: str) -> int:
    """How much of a template is text: of two templates that fit, the one that says more is meant."""
    return sum(map(str.isalpha, template))


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile("(.*?)".join(map(re.escape, template.split("{}"))), re.DOTALL)
