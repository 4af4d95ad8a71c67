"""Papers as one self-contained page, and as fragments for a notebook."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from sitr.flavors.arrows import Kept
from sitr.ledger.receipt import Receipt
from sitr.namespace import Later
from sitr.report.chart.budget import budget_bar
from sitr.report.chart.svg import BLUE
from sitr.report.figures import visible
from sitr.report.paper import Paper, Section
from sitr.report.words.notation import notation

if TYPE_CHECKING:
    import jinja2
    import markupsafe
else:  # most answers make no page
    jinja2, markupsafe = Later("jinja2"), Later("markupsafe")

MOST_ROWS = 1000
"""The most rows that a page shows."""

FIRST_ROWS = 20
"""The most rows that a notebook shows."""


def _harmless(value: Any) -> Any:
    """Whatever a template writes is harmless text, except for markup that was made here."""
    return visible(value) if isinstance(value, str) and not isinstance(value, markupsafe.Markup) else value


@cache
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("sitr.report.page"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_harmless,
    )
    made.globals.update(islice=islice, BLUE=BLUE)
    made.filters.update(svg=markupsafe.Markup)
    return made


def page(paper: Paper, *, release: str = "") -> str:
    """The certificate as one page that needs no network and no other file.

    Readers do not see its last element, `sitr-release`, which names the entry and the hash for `sitr verify` and holds
    the `release` itself, as it is kept beside the ledger.
    """
    assert paper.headline is not None and paper.query is not None and paper.receipt is not None
    words, found, query = paper.words, paper.headline, paper.query
    promise = cast("Kept", found.promise)
    return (
        _templates()
        .get_template("page.html")
        .render(
            paper=paper,
            words=words,
            badge=f"{words.flavor(promise)} · {notation(promise)}",
            statement=words.meaning(found, query) if paper.private else words.would_be(),
            reading=[*([words.odds(found, query)] if paper.private else []), words.reading(found)],
            sections=(*_first(paper, paper.receipt), *paper.sections(), *_last(paper, paper.receipt)),
            most=MOST_ROWS,
            release=release,
        )
    )


def fragment(paper: Paper) -> str:
    """A paper for a notebook: its first rows, its chart and its facts; a preview shows the budget instead."""
    if paper.receipt is None and paper.standing is not None:
        picture = budget_bar(paper.standing, words=paper.words)
    else:
        picture = "" if paper.picture is None else paper.picture()
    shown = Section("", value=paper.value, table=paper.table, picture=picture, facts=paper.facts)
    return (
        _templates()
        .get_template("fragment.html")
        .render(paper=paper, words=paper.words, section=shown, most=FIRST_ROWS)
    )


def _first(paper: Paper, receipt: Receipt) -> tuple[Section, ...]:
    """What every page begins with: the question, the answer, and who is protected."""
    words, picture = paper.words, "" if paper.picture is None else paper.picture()
    assert paper.query is not None
    whom = " ".join(filter(None, (words.protected(paper.query), paper.caps)))
    return (
        Section("The question", code=paper.question),
        Section("The answer", value=paper.value, table=paper.table, picture=picture, notes=paper.notes),
        Section("Who is protected", sentences=(whom,), notes=(words.neighbors(receipt),)),
    )


def _last(paper: Paper, receipt: Receipt) -> tuple[Section, ...]:
    """What every page ends with: the budget, and the record in the ledger."""
    words, standing, entry = paper.words, receipt.standing, receipt.entry
    assert paper.query is not None
    budget = (
        ("total", notation(standing.promise)),
        ("before", words.stands(receipt.before())),
        ("this answer", notation(entry.price)),
        ("after", words.stands(standing)),
    )
    record = (
        ("ledger entry", str(entry.number)),
        ("charged at", f"{entry.at:%Y-%m-%d %H:%M:%S %Z}"),
        ("asked by", entry.by),
        ("made with", f"Sitr {entry.version}"),
        *((("SHA-256 of the release", receipt.sha256),) if receipt.sha256 else ()),
    )
    bar = budget_bar(standing, charge=entry.price, words=words)
    whole = words.whole(standing.promise, paper.query)
    return Section("The budget", sentences=(whole,), picture=bar, facts=budget), Section("The record", facts=record)
