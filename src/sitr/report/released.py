"""What a mechanism released from a column: as text, as a dictionary, as a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

from markupsafe import Markup
from rich.console import Group, RenderableType
from rich.text import Text

from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.flavors.random import RandomDP
from sitr.neighbors.relation import Relation
from sitr.neighbors.unit import Row
from sitr.report import plots
from sitr.report.certificate import before, promise_dict
from sitr.report.english import ENGLISH
from sitr.report.figures import about, at_most, visible
from sitr.report.headline import Headline
from sitr.report.html import render as filled
from sitr.report.text import facts, promised
from sitr.report.words import notation


@dataclass(frozen=True, slots=True)
class Record:
    """A released value, how it was made, where it stands in the ledger, and the budget after its charge."""

    value: Any
    mechanism: str
    column: str
    missing: float
    charge: Kept
    private: bool
    dataset: str
    neighbors: str
    entry: int
    at: datetime
    by: str
    version: str
    budget: Filter
    exposed: float = 0.0
    """How much of δ may be mass at L = +∞."""


@dataclass(frozen=True, slots=True)
class EachRow:
    """Whom mechanisms on a column protect: one row, which may be replaced."""

    unit: Row = field(default_factory=Row)
    relation: Relation = Relation.REPLACE_ONE


def shown(value: Any) -> str:
    """A released value in few digits.

    >>> shown(Fraction(7, 2)), shown((Fraction(1, 4), None))
    ('3.5', '0.25; no answer')
    """
    match value:
        case None:
            return "no answer"
        case tuple():
            return "; ".join(map(shown, value))
        case int() | float() | Fraction():
            return about(value, digits=15)
    return visible(str(value))


def told(record: Record) -> tuple[tuple[str, str], ...]:
    """Everything about a release but its value, in sentences."""
    newcomer = "" if isinstance(record.charge, RandomDP) else ENGLISH.newcomer(record.budget.promise)
    return (
        *promised(Headline.of(record.charge), EachRow()),
        *([("random", newcomer)] if newcomer else ()),
        *([("outright", _outright(record.exposed))] if record.exposed else ()),
        ("made by", visible(record.mechanism)),
        ("column", f"{visible(record.column)}; rows without a number count as {about(record.missing)}"),
        ("protects", f"each {visible(record.neighbors)}; the number of rows is public"),
        ("left", f"{notation(record.budget.remaining(), left=True)} of {notation(record.budget.promise)}"),
        ("entry", f"{record.entry}, {visible(record.dataset)}, {record.at:%Y-%m-%d %H:%M:%S} UTC"),
    )


def _outright(mass: float) -> str:
    return f"With probability up to {at_most(mass)}, a part of δ, an answer may hide nobody: a loss without bound."


def render(record: Record) -> RenderableType:
    """For a terminal."""
    band = () if record.private else (Text(ENGLISH.not_private(), style="bold white on red"),)
    return Group(*band, Text(shown(record.value), style="bold"), facts(*told(record)))


def page(record: Record) -> str:
    """The certificate as a page that opens anywhere."""
    bar = Markup(plots.budget_bar(record.budget, charge=record.charge))
    return filled("released.html", record=record, value=shown(record.value), facts=told(record), bar=bar)


def to_dict(record: Record) -> dict[str, Any]:
    """Everything the page shows, ready for JSON; a `value` that is a fraction has an `exact` text beside it."""
    spent, left = before(record.budget, record.charge)
    return {
        "kind": "release",
        "dataset": record.dataset,
        "neighbors": record.neighbors,
        "entry": record.entry,
        "at": record.at.isoformat(),
        "by": record.by,
        "version": record.version,
        "private": record.private,
        "mechanism": record.mechanism,
        "column": record.column,
        "missing": record.missing,
        "value": _plain(record.value),
        "promise": promise_dict(record.charge),
        "headline": Headline.of(record.charge).to_dict(),
        "infinite_mass": record.exposed,
        "budget": {
            "promise": promise_dict(record.budget.promise),
            "charge": promise_dict(record.charge),
            "before": {"spent": promise_dict(spent), "remaining": promise_dict(left)},
            "after": {
                "spent": promise_dict(record.budget.spent()),
                "remaining": promise_dict(record.budget.remaining()),
            },
        },
    }


def _plain(value: Any) -> Any:
    match value:
        case Fraction():
            return {"exact": str(value), "float": float(value)}
        case tuple() | list():
            return [_plain(part) for part in value]
        case None | int() | float():
            return value
    return str(value)
