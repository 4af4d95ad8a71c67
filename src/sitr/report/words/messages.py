"""Messages in other languages.

Errors and help texts are written in English where they are raised. Another language has a catalogue: a JSON file that
maps each English template to its translation. `{}` stands for a value in English; `{0}`, `{1}`, … stand for the same
values in the translation, in any order. A second file has phrases that occur as values. A message without an entry is
shown in English, so nothing is ever hidden; a test walks the source and proves that there is none.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sitr.dataclass import dataclass
from sitr.errors import SitrError
from sitr.language import Language, spoken
from sitr.report.words.numerals import numeral

_EXPECTED = "Expected {}, got {}."


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Translations of message templates.

    >>> catalogue = Catalogue({"There is no file {}.": "لا يوجد ملف {0}.", "a file": "ملف"})
    >>> catalogue.say("a file"), catalogue.say("something new")
    ('ملف', 'something new')
    """

    entries: Mapping[str, str]

    def say(self, message: str, *, least: int = 2) -> str:
        """The translation of a message; the message itself if there is none. Values are translated if they can be.

        Templates with fewer than `least` letters of their own are not tried: they would fit almost everything.
        """
        if (same := self.entries.get(message)) is not None:
            return same
        found = [each for each in self.entries if "{}" in each and _letters(each) >= least and _may_be(each, message)]
        for template in sorted(found, key=_letters, reverse=True):
            if match := _pattern(template).fullmatch(message):
                return _filled(self.entries[template], [self.say(value, least=8) for value in match.groups()], match)
        composed = self._sentences(message) or self._about(message) or self._detected(message)
        return composed or _listed(message) or message

    def _sentences(self, message: str) -> str:
        """A text that was composed of several messages; empty if one of them has no translation."""
        parts = re.split(r"(?<=[.?!]) (?=[A-Z])", message)
        said = [self.say(each) for each in parts] if len(parts) > 1 else []
        return "" if any(one == other for one, other in zip(said, parts, strict=False)) else " ".join(said)

    def _about(self, message: str) -> str:
        """A known phrase and what it is about: `a join: JOIN wards`."""
        head, colon, rest = message.partition(": ")
        return f"{self.entries[head]}: {isolated(rest)}" if colon and head in self.entries else ""

    def _detected(self, message: str) -> str:
        """What was detected in a CSV file: the types stay as they are, and how it is written is said.

        >>> Catalogue({"without a header": "من دون سطر عناوين"}).say("age integer, without a header")
        '\u2068age integer\u2069، من دون سطر عناوين'
        """
        if (found := _DETECTED.fullmatch(message)) is None:
            return ""
        return "، ".join([isolated(found[1]), *map(self.part, re.split(r", (?=with(?:out)? )", found[2]))])

    def part(self, message: str) -> str:
        """A message within a longer text: if it stays in English, its direction must not disturb the text around."""
        said = self.say(message)
        return said if said != message else isolated(message)


def _filled(template: str, values: list[str], match: re.Match[str]) -> str:
    """The template with its values. Values that stay as they are keep their direction, unless one encloses them."""
    text, enclosed = "", 0
    for literal, name, _, _ in string.Formatter().parse(template):
        text += literal
        enclosed += literal.count("\u2066") - literal.count("\u2069")
        if name is not None:
            value = values[int(name)]
            text += value if enclosed or value != match[int(name) + 1] else isolated(numeral(value))
    return text


_ITEM = r"(?:--[\w-]+|'[^']*'|[A-Z][A-Z_*]*…?(?:\([^()]*\))?)"
_DETECTED = re.compile(r"(.+? (?:integer|real|text|boolean|date|timestamp)), (with(?:out)? .+)", re.DOTALL)
_LIST = re.compile(rf"({_ITEM}(?:, {_ITEM})*) (and|or) ({_ITEM})")


def _listed(message: str) -> str:
    """A list of options, names or code: only the word before the last one is translated."""
    if (found := _LIST.fullmatch(message)) is None:
        return ""
    *first, last = [*found[1].split(", "), found[3]] if "(" not in found[1] else [found[1], found[3]]
    word = " و" if found[2] == "and" else " أو "
    return "، ".join(map(isolated, first)) + word + isolated(last)


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


def question_text(sql: str) -> str:
    """A proposed question, with its comments in the language that is spoken now."""
    found = catalogue(spoken())
    if found is None:
        return sql
    return re.sub(r"/\* (.*?) \*/", lambda comment: f"/* {found.say(comment[1])} */", sql)


def error_text(error: SitrError) -> str:
    """The text of an error in the language that is spoken now."""
    found = catalogue(spoken())
    if found is None:
        return error.message
    wanted, given, do = map(found.part, (error.wanted, error.given, error.do))
    if not error.wanted or error.wanted.endswith("."):
        return " ".join(filter(None, (wanted, given, do)))
    return f"{found.entries[_EXPECTED].format(wanted, given)} {do}"


@cache
def _loaded(language: Language) -> Catalogue:
    folder = Path(__file__).with_name(language.name.lower())
    texts = ((folder / name).read_text(encoding="utf-8") for name in ("phrases.json", "messages.json"))
    return Catalogue({english: said for text in texts for english, said in json.loads(text).items()})


def _may_be(template: str, message: str) -> bool:
    """A quick look at both ends, before the pattern is compiled."""
    first, *_, last = template.split("{}")
    return message.startswith(first) and message.endswith(last)


def _letters(template: str) -> int:
    """How much of a template is text: of two templates that fit, the one that says more is meant."""
    return sum(map(str.isalpha, template))


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile("(.*?)".join(map(re.escape, template.split("{}"))), re.DOTALL)
