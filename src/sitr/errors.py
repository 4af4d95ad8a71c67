"""Every error a user of Sitr can meet, as one tree.

::

    SitrError
    ├── InvalidParameter        an argument that cannot be used: Laplace(scale=0), a confidence of 95
    ├── InvalidUse              an object used against its rules: a copy of coins, `and` between conditions
    ├── UnknownCall             a method that an object does not have: budget.filter(…)
    ├── InvalidPromise          a promise that cannot exist: ε < 0, δ > 1, NaN
    ├── IncompatiblePromises    promises of different flavors where one flavor is needed
    ├── Undecided               a promise and a loss that are too close to compare
    ├── DescriptionError        the description of a data set does not fit the data or itself
    ├── SourceError             the data cannot be opened, or are not of the described kind
    ├── QuestionError           a question that cannot be asked
    │   ├── UnknownName         a column or table that is not there
    │   └── ForbiddenConstruct  SQL outside the allow-list
    ├── BudgetExceeded          the question costs more than is left
    ├── LedgerError             the ledger cannot be used as asked
    │   ├── LedgerBusy          another program is writing to it
    │   ├── LedgerMismatch      it was opened earlier with another promise
    │   ├── LedgerUncertain     it may have recorded a change whose end nobody saw
    │   └── NotAllowed          its rules or roles do not allow this, or not yet
    ├── BackendFailure          the data could not be read after the charge
    ├── MissingExtra            a part of Sitr that needs a library which is not installed
    ├── BadUsage                a command line that cannot be understood
    └── FileError               a file that cannot be read or written as asked

A message has at most two sentences: what is wrong, quoting the offending value, and what to do. An error in a text that
the user wrote also has an excerpt, which points at the offending part. Messages are made before any data are read, from
public things only: `BackendFailure` is the one error raised later, and its text is always the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Self
from unicodedata import category, east_asian_width


@dataclass(frozen=True, slots=True)
class Excerpt:
    r"""A part of a text: the line that it starts in, its place there and its length; lines and columns start at 1.

    >>> print(Excerpt.of("SELECT ward,\n  AVG(cost)", 15, 24))
    line 2:   AVG(cost)
              ^^^^^^^^^
    """

    text: str
    """The line."""
    line: int
    column: int
    """The first character of the part, counted in characters (code points) of the line."""
    length: int
    """How many characters of the line belong to the part."""

    @classmethod
    def of(cls, text: str, start: int, end: int) -> Excerpt:
        """The part from `start` to before `end`; of several lines, the first one."""
        breaks = [found.end() for found in re.finditer(r"\r\n|\r|\n", text) if found.end() <= start]
        first = breaks[-1] if breaks else 0
        line = re.split(r"[\r\n]", text[first:], maxsplit=1)[0]
        column = start - first
        return cls(line, len(breaks) + 1, column + 1, max(1, min(end - start, len(line) - column)))

    def __str__(self) -> str:
        return "\n".join(self.drawn())

    def drawn(self, *, head: str = "") -> tuple[str, str]:
        """The line and the carets under the part, as a terminal shows them: of a long line, the surroundings.

        The `head` says which line it is.
        """
        first, last = self.column - 1, self.column - 1 + self.length
        before, part, after = self.text[:first], self.text[first:last], self.text[last:]
        if len(self.text) > _WIDEST:
            before = before if len(before) <= _AROUND else "…" + before[-_AROUND:]
            part, after = (part, after) if len(part) <= _AROUND else (part[:_AROUND], "…")
            after = after if len(after) <= _AROUND else after[:_AROUND] + "…"
        left, middle, right = map(_harmless, (before, part, after))
        head = f"{head or f'line {self.line}:'} "
        return head + left + middle + right, " " * (cells(head) + cells(left)) + "^" * max(1, cells(middle))


_WIDEST, _AROUND = 90, 30
"""The longest line that is shown whole, and how much of a longer one is shown on either side of the part."""


ISOLATES = "\u2066\u2068\u2069"
"""Characters that enclose text of another direction. They are invisible and cannot reorder what is outside."""


def printable(text: str) -> str:
    r"""Text that cannot act on a terminal.

    >>> printable("ward\x1b[31m")
    'ward�[31m'
    """
    return "".join(character if character.isprintable() or character in ISOLATES else "�" for character in text)


def _harmless(text: str) -> str:
    """Tabs as spaces, so that carets stand under the characters that they mean."""
    return printable(text.replace("\t", "    "))


def cells(text: str) -> int:
    """How wide a terminal shows a text: Chinese characters are two cells wide, and Arabic vowel signs have no width."""
    return sum(0 if category(sign) in ("Mn", "Me") else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)


CAN_BE_ASKED = "This question can be asked:"
"""What stands before a question that has no obstacle."""


class SitrError(Exception):
    """The root of the tree.

    `wanted` and `given` are noun phrases, which make one sentence, and `do` is a second one. Where "expected … got …"
    does not say it well, `wanted` is left out and `given` is a whole sentence.

    >>> str(SitrError(wanted="a price such as zcdp(0.05)", given="0.05", do="Name a flavor."))
    'Expected a price such as zcdp(0.05), got 0.05. Name a flavor.'
    >>> str(SitrError(given="The ledger sitr.db is in use by another program.", do="Try again in a moment."))
    'The ledger sitr.db is in use by another program. Try again in a moment.'

    `excerpt` points at the part of a text that is wrong, and is shown below the sentences. A question may have several
    obstacles: then this error is about the first one, `others` are about the rest, and `instead` is a similar question
    that can be asked, if one was found.
    """

    others: tuple[SitrError, ...] = ()
    instead: str | None = None

    def __init__(self, *, wanted: str = "", given: str, do: str, excerpt: Excerpt | None = None) -> None:
        if not wanted or wanted.endswith("."):
            problem = f"{wanted} {given}".strip()
        else:
            problem = f"Expected {wanted}, got {given}."
        super().__init__(f"{problem} {do}")
        self.wanted = wanted
        self.given = given
        self.do = do
        self.excerpt = excerpt

    @property
    def message(self) -> str:
        """The sentences, without the excerpt."""
        return super().__str__()

    def __str__(self) -> str:
        parts = [self.message if self.excerpt is None else f"{self.message}\n{self.excerpt}", *map(str, self.others)]
        return "\n".join([*parts, *([] if self.instead is None else [f"{CAN_BE_ASKED}\n{self.instead}"])])

    def among(self, others: Iterable[SitrError], *, instead: str | None = None) -> Self:
        """The same error, with the other obstacles of the question and a question that can be asked instead."""
        self.others, self.instead = tuple(others), instead
        return self

    def __reduce__(self) -> tuple[object, ...]:
        fields = (self.wanted, self.given, self.do, self.excerpt, self.others, self.instead)
        return (_rebuild, (type(self), *fields))


def _rebuild(
    kind: type[SitrError],
    wanted: str,
    given: str,
    do: str,
    excerpt: Excerpt | None,
    others: tuple[SitrError, ...] = (),
    instead: str | None = None,
) -> SitrError:
    """Pickling calls with positional arguments; ours are keywords."""
    return kind(wanted=wanted, given=given, do=do, excerpt=excerpt).among(others, instead=instead)


class InvalidParameter(SitrError, ValueError):
    """An argument that cannot be used."""


class InvalidUse(SitrError, TypeError):
    """An object used against its rules."""


class UnknownCall(SitrError, AttributeError):
    """A method that an object does not have."""


class InvalidPromise(SitrError, ValueError):
    """A promise that cannot exist."""


class IncompatiblePromises(SitrError, TypeError):
    """Promises of different flavors where one flavor is needed."""


class Undecided(SitrError):
    """A promise and a loss that are too close to compare: neither "kept" nor "broken" could be proved."""


class DescriptionError(SitrError, ValueError):
    """The description of a data set does not fit the data or itself."""


class SourceError(SitrError):
    """The data cannot be opened, or are not of the described kind."""


class QuestionError(SitrError, ValueError):
    """A question that cannot be asked."""


class UnknownName(QuestionError):
    """A column or table that is not there."""


class ForbiddenConstruct(QuestionError):
    """SQL outside the allow-list."""


class BudgetExceeded(SitrError):
    """The question costs more than is left."""


class LedgerError(SitrError):
    """The ledger cannot be used as asked."""


class LedgerBusy(LedgerError):
    """Another program is writing to the ledger."""


class LedgerMismatch(LedgerError):
    """The ledger was opened earlier with another promise."""


class LedgerUncertain(LedgerError):
    """A change may be recorded: its commit was not confirmed, or its witness could not be written after it."""


class NotAllowed(LedgerError):
    """The steward's rules or roles do not allow this, or not yet: nothing was spent."""


class BackendFailure(SitrError):
    """The data could not be read after the charge."""


class MissingExtra(SitrError, ImportError):
    """A part of Sitr that needs a library which is not installed."""


class BadUsage(SitrError, ValueError):
    """A command line that cannot be understood."""


class FileError(SitrError):
    """A file that cannot be read or written as asked."""


def quoted(value: object) -> str:
    """A value as a message shows it.

    >>> quoted("0.5"), quoted(10**9_999)
    ("'0.5'", 'a number with thousands of digits')
    """
    try:
        return repr(value)
    except ValueError:  # Python refuses to write such integers
        return "a number with thousands of digits"


def nearest(name: object, names: Iterable[str]) -> str | None:
    """The name that was probably meant, whatever its case; None if no name is near.

    >>> nearest("wardd", ["ward", "cost"]), nearest("COST", ["ward", "cost"]), nearest("x", ["ward", "cost"])
    ('ward', 'cost', None)
    """
    spelled = {known.lower(): known for known in names}
    near = get_close_matches(name.lower(), spelled, n=1) if isinstance(name, str) else []
    return spelled[near[0]] if near else None


def suggestion(name: object, names: Iterable[str]) -> str:
    """A sentence for someone who wrote a name that is not among these.

    >>> suggestion("wardd", ["ward", "cost"]), suggestion("x", ["ward", "cost"])
    ("Did you mean 'ward'?", "Choose one of 'ward', 'cost'.")
    """
    known = list(names)
    near = nearest(name, known)
    if near is not None:
        return f"Did you mean {near!r}?"
    return f"Choose one of {', '.join(map(repr, known))}." if known else "None is declared."


def unknown_name(name: object, names: Iterable[str], *, lacks: str) -> UnknownName:
    """`lacks` says what has no such name.

    >>> str(unknown_name("wardd", ["ward", "cost"], lacks="The table visits has no column"))
    "The table visits has no column 'wardd'. Did you mean 'ward'?"
    """
    return UnknownName(given=f"{lacks} {name!r}.", do=suggestion(name, names))


def unknown_attribute(name: str, names: Iterable[str], *, module: str, instead: str | None = None) -> AttributeError:
    """For `__getattr__` of a module: Python's protocol demands an AttributeError, which is outside the tree."""
    do = suggestion(name, names) if instead is None else f"Write {instead}."
    return AttributeError(f"Module {module!r} has no attribute {name!r}. {do}")


# Files that are not there: in one place, because commands look for them before they load what reads them.


def no_description(path: object) -> DescriptionError:
    """There is no file at the path of a description."""
    return DescriptionError(
        given=f"There is no description of a data set at {path}.", do="Write one with `sitr protect`."
    )


def no_source(path: object) -> SourceError:
    """There is no file of rows at a path."""
    return SourceError(given=f"There is no file at {path}.", do="Check the path and the working directory.")


def no_ledger(path: object) -> LedgerError:
    """There is no ledger at a path, and none may be created."""
    return LedgerError(
        given=f"There is no ledger at {path}.",
        do="Check the path; if the ledger is lost, nobody knows what is left, so count the budget as spent.",
    )


def no_schedule(path: object, *, reason: str) -> InvalidPromise:
    """The file of a schedule cannot be opened."""
    return InvalidPromise(given=f"The schedule file {path} cannot be read: {reason}.", do="Check the path.")


class FewerThanAsked(UserWarning):
    """Fewer rows than requested: a warning, because the rows can be used and their price is not lost."""


class NotKept(UserWarning):
    """Paid noisy tables could not be written to disk: a warning, because the answer is still returned."""


class WiderThanAsked(UserWarning):
    """A proved interval that is wider than requested: a warning, because it is still valid."""


class LargeDelta(UserWarning):
    """A δ that is not well below 1 divided by the number of people, so that some of them may be exposed outright."""


class NotPrivate(UserWarning):
    """Answers that protect nobody: their noise comes from test coins, and anyone who knows the seed can subtract it."""
