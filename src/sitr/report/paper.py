"""A paper: what is shown of a plan or an answer, described once for the terminal, the page, notebooks and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from sitr.accounting.filter import Filter
from sitr.dataclass import dataclass
from sitr.flavors.arrows import Kept
from sitr.flavors.random import RandomDP
from sitr.ledger.receipt import Receipt
from sitr.namespace import Later
from sitr.neighbors.unit import Person
from sitr.plans.plan import Plan
from sitr.report import envelope
from sitr.report.headline import Headline
from sitr.report.level import Level
from sitr.report.words.protects import Protects
from sitr.report.words.words import Words

if TYPE_CHECKING:
    from sitr.report import views as every_flavor
    from sitr.report.evidence import evidence
else:  # they know all mechanisms and all flavors, and a preview on a terminal shows neither
    evidence, every_flavor = Later("sitr.report.evidence.evidence"), Later("sitr.report.views")

Facts: TypeAlias = tuple[tuple[str, str], ...]
"""Labels and sentences, in order."""


class Role(Enum):
    """What the cells of a column are."""

    KEY = "names the row"
    TEXT = "text"
    NUMBER = "a number, with or without its error"
    INTERVAL = "the interval of the number before it"
    BAR = "a bar, on terminals only"


@dataclass(frozen=True, slots=True)
class PaperColumn:
    """A column of a table."""

    heading: str
    role: Role = Role.TEXT
    of: str = ""
    """What an interval is of, for readers who do not see the column before it."""
    terminal: bool = True
    """Whether a terminal has room for it."""
    detail: bool = False
    """Whether a page shows it only on demand, in a table of its own beside the keys."""
    computed: bool = False
    """Whether its numbers follow from released ones and are not among them; the checker compares those of others."""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table, whose rows are made when they are shown."""

    columns: tuple[PaperColumn, ...]
    rows: Callable[[], Iterable[tuple[str, ...]]]
    size: int
    """The number of rows."""
    ruled: bool = True
    """Whether a line separates the headings from the rows on a terminal."""
    notes: Callable[[], tuple[str, ...]] = tuple
    """Sentences below the rows about numbers in them that look wrong."""


@dataclass(frozen=True, slots=True)
class Card:
    """A part of a section with a heading of its own."""

    heading: str
    figure: str = ""
    sentence: str = ""
    facts: Facts = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page; its parts are shown in this order. Without a heading it opens its part of the page."""

    heading: str
    code: str = ""
    value: str = ""
    sentences: tuple[str, ...] = ()
    table: PaperTable | None = None
    picture: str = ""
    cards: tuple[Card, ...] = ()
    facts: Facts = ()
    items: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    level: Level = Level.MECHANISMS
    """The part of the page to which it belongs."""


def nothing() -> tuple[Section, ...]:
    """No sections of its own."""
    return ()


@dataclass(frozen=True, slots=True)
class Paper:
    """What is shown. Pictures, sections and JSON are made when they are asked for."""

    words: Words
    question: str
    facts: Facts
    to_dict: Callable[[], dict[str, Any]] = field(repr=False)
    private: bool = True
    value: str = ""
    """The answer in one line: a value, or a sentence if the table would be empty."""
    table: PaperTable | None = None
    prices: Callable[[], PaperTable | None] = field(default=lambda: None, repr=False)
    """The errors at other prices, below the table of a preview; None if there are no others."""
    parts: tuple[tuple[str, Paper], ...] = ()
    """The papers of several answers by name, each with a question and a table of its own."""
    picture: Callable[[], str] | None = field(default=None, repr=False)
    brief: Callable[[], str] | None = field(default=None, repr=False)
    """The picture as a page shows it, if that is shorter."""
    sections: Callable[[], tuple[Section, ...]] = field(default=nothing, repr=False)
    notes: tuple[str, ...] = ()
    """Sentences below the table of a page."""
    caps: str = ""
    """The most that one person can contribute."""
    title: str = ""
    card: Facts = ()
    """What was released and how noisy it is, in a few words."""
    exact: bool = True
    """Whether the noise was added to whole numbers by exact samplers."""
    views: Callable[[], every_flavor.Views] | None = field(default=None, repr=False)
    """The promise through every flavor."""
    headline: Headline | None = None
    query: Protects | None = None
    receipt: Receipt | None = None
    """What was paid; None for a preview."""
    standing: Filter | None = None
    """The budget: after the charge, or now for a preview."""


def answered(
    kind: str,
    plan: Plan,
    found: Headline,
    receipt: Receipt,
    query: Protects,
    *,
    words: Words,
    own: Facts,
    content: Callable[[], dict[str, Any]],
    sections: Callable[[], tuple[Section, ...]],
    first: Facts = (),
    charged: str = "",
    **more: Any,
) -> Paper:
    """The paper of an answer. Its kind adds facts before and after the promise, sections, and a part of the JSON."""
    facts = (
        *again(receipt, words),
        *first,
        *_promised(found, query, words),
        *_random(plan, receipt.standing, words),
        *own,
        ("charged", charged or words.notation(receipt.entry.price)),
        *entry(receipt, words),
    )
    return Paper(
        words,
        plan.text,
        facts,
        lambda: envelope.of_answer(kind, plan, found, receipt) | {"plan": evidence.content(plan)} | content(),
        private=receipt.private,
        sections=sections,
        views=lambda: every_flavor.views(found, plan.loss()),
        headline=found,
        query=query,
        receipt=receipt,
        standing=receipt.standing,
        **more,
    )


def previewed(
    kind: str,
    plan: Plan,
    found: Headline,
    standing: Filter,
    query: Protects,
    *,
    words: Words,
    own: Facts,
    content: Callable[[], dict[str, Any]],
    price: str = "",
    table: PaperTable | None = None,
) -> Paper:
    """The paper of a preview: the same without an answer; `standing` is the budget now."""
    after = envelope.after_paying(plan, standing)
    facts = (
        ("price", price or words.notation(plan.price)),
        *_promised(found, query, words),
        *_random(plan, standing, words),
        *own,
        ("left now", words.notation(standing.remaining(), left=True)),
        ("left then", words.cannot_pay() if after is None else words.notation(after.remaining(), left=True)),
    )
    return Paper(
        words,
        plan.text,
        facts,
        lambda: envelope.of_preview(kind, plan, found, standing) | {"plan": evidence.content(plan)} | content(),
        table=table,
        headline=found,
        query=query,
        standing=standing,
    )


def entry(receipt: Receipt, words: Words) -> Facts:
    """What is left of the budget, and the ledger entry of the charge."""
    left = words.left_of(receipt.standing)
    return ("left then" if receipt.again else "left", left), ("entry", words.entry(receipt))


def again(receipt: Receipt, words: Words) -> Facts:
    """Whether this is the kept answer to an earlier question."""
    return (("asked again", words.again(receipt)),) if receipt.again else ()


def periods(query: Protects, words: Words) -> Facts:
    """Whom a promise protects, where it is not a person or a row but a person in a period."""
    period = query.unit.period if isinstance(query.unit, Person) else None
    return () if period is None else (("who is protected", words.protected(query)),)


def _promised(headline: Headline, query: Protects, words: Words) -> Facts:
    """The promise as every report states it: in its own flavor, as (ε, δ), in words, and for the odds."""
    promise, odds = cast("Kept", headline.promise), words.odds(headline, query)
    return (
        ("promise", words.promise(promise)),
        *periods(query, words),
        ("as (ε, δ)", words.headline(headline)),
        ("meaning", words.meaning(headline, query)),
        *([("odds", odds)] if odds else ()),
    )


def _random(plan: Plan, standing: Filter, words: Words) -> Facts:
    """The meaning of a budget with a γ, unless the meaning of the promise says it already."""
    newcomer = "" if isinstance(plan.price, RandomDP) else words.newcomer(standing.promise)
    return (("random", newcomer),) if newcomer else ()
