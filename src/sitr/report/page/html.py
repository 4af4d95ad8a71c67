"""Papers as one self-contained page, as a label, and as fragments for a notebook."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from sitr.dataset.publication import Publication
from sitr.flavors.arrows import Kept
from sitr.ledger.receipt import Receipt
from sitr.namespace import Later
from sitr.neighbors.unit import Person
from sitr.report.chart.budget import budget_bar
from sitr.report.chart.svg import BLUE
from sitr.report.chart.trade_off import chart as trade_off
from sitr.report.evidence.figures import checker, figures
from sitr.report.figures import displayed
from sitr.report.level import Level
from sitr.report.paper import Paper, PaperColumn, PaperTable, Role, Section
from sitr.report.standing import meaning
from sitr.report.views import Missing, Views
from sitr.report.words.protects import Protects
from sitr.report.words.words import Words

if TYPE_CHECKING:
    import jinja2
    import markupsafe
else:  # most answers make no page
    jinja2, markupsafe = Later("jinja2"), Later("markupsafe")

MOST_ROWS = 1000
"""The most rows that a page shows."""

FEW_ROWS = 15
"""Beyond this many rows, a page shows the chart first and the table at its end."""

FIRST_ROWS = 20
"""The most rows that a notebook shows."""

NOBODY = Publication()


def _harmless(value: Any) -> Any:
    """Whatever a template writes is harmless text, except for markup that was made here."""
    return displayed(value) if isinstance(value, str) and not isinstance(value, markupsafe.Markup) else value


def _run(text: str) -> str:
    """The direction of a text that begins with an isolate, which browsers do not skip when they look for a letter."""
    outside = re.sub("[\u2066\u2068][^\u2066\u2068\u2069]*\u2069", "", text)
    strong = next((kind for kind in map(unicodedata.bidirectional, outside) if kind in ("L", "R", "AL")), "L")
    return markupsafe.Markup(' dir="rtl"') if outside != text and strong != "L" else ""


@cache
def templates(*packages: str) -> jinja2.Environment:
    """The templates of pages, together with those of other packages, which come first."""
    made = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in (*packages, "sitr.report.page")]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_harmless,
    )
    made.globals.update(islice=islice, BLUE=BLUE, run=_run)
    made.filters.update(svg=markupsafe.Markup)
    return made


def written(template: str, **values: Any) -> str:
    return templates().get_template(template).render(**values)


def page(paper: Paper, publication: Publication = NOBODY, *, release: str = "") -> str:
    """The certificate as one page that needs no network and no other file.

    Readers do not see its last elements. `sitr-release` names the entry and the hash for `sitr verify` and holds the
    `release` itself, as it is kept beside the ledger. `sitr-figures` holds all other figures, for `sitr_check.py`.
    """
    query, receipt = _answered(paper)
    sections = [*_sections(paper, query, receipt)]
    groups = [(level, [each for each in sections if each.level is level]) for level in Level]
    return written(
        "page.html",
        paper=paper,
        words=paper.words,
        most=MOST_ROWS,
        groups=[(level, found) for level, found in groups if found],
        first=Level.RESULT,
        release=release,
        figures=figures(paper.to_dict()),
        checker=checker(),
        **head(paper, publication, query, receipt),
    )


def label(paper: Paper, publication: Publication = NOBODY) -> str:
    """The promise on one card: who is protected, by how much, what was released, and what is left."""
    query, receipt = _answered(paper)
    words, found = paper.words, paper.headline
    assert found is not None
    facts = (
        ("who is protected", words.protected(query)),
        *paper.card,
        *((("coins", words.certificate.coins(receipt.provenance)),) if paper.private else ()),
        ("how often", words.certificate.times(receipt)),
        ("budget left", words.left_of(receipt.standing)),
        *((("contact", publication.contact),) if publication.contact else ()),
    )
    above = head(paper, replace(publication, contact=""), query, receipt)
    return written("label.html", paper=paper, words=words, facts=facts, found=found, **above)


def fragment(paper: Paper) -> str:
    """A paper for a notebook: its first rows, its chart and its facts; a preview shows the budget instead."""
    return written("fragment.html", paper=paper, words=paper.words, sections=shown(paper), most=FIRST_ROWS)


def shown(paper: Paper, *, pictures: bool = True) -> list[Section]:
    """What is shown of a paper without a page of its own: tables, prices and facts, and pictures if they are wanted."""
    if not pictures:
        picture = ""
    elif paper.receipt is None and paper.standing is not None:
        picture = budget_bar(paper.standing, words=paper.words)
    else:
        picture = "" if paper.picture is None else paper.picture()
    prices, words = paper.prices(), paper.words
    found = [_part(name, part) for name, part in paper.parts]
    found.append(Section("", value=paper.value, table=paper.table))
    if prices is not None:
        found.append(Section("", sentences=(words.other_prices(),), table=prices))
    found.append(Section("", picture=picture, facts=paper.facts))
    return found


def promised(paper: Paper) -> list[Section]:
    """The promise of an answer through every flavor, and what the best attack can do."""
    return list(_promise(paper, *_answered(paper)))


def _answered(paper: Paper) -> tuple[Protects, Receipt]:
    assert paper.query is not None and paper.receipt is not None
    return paper.query, paper.receipt


def head(paper: Paper, publication: Publication, query: Protects, receipt: Receipt) -> dict[str, Any]:
    """What every document begins with: the title, the publisher, the promise and its meaning for one person."""
    words, found = paper.words, paper.headline
    assert found is not None
    promise = cast("Kept", found.promise)
    day = words.certificate.day(publication.date or receipt.entry.at.date())
    return {
        "publication": publication,
        "title": publication.title or receipt.dataset,
        "byline": [*filter(None, (publication.organisation, day, publication.contact))],
        "for_one": words.certificate.for_one(query),
        "badge": f"{words.flavor(promise)} · {words.notation(promise)}",
        "statement": words.meaning(found, query) if paper.private else words.would_be(),
        "odds": words.odds(found, query) if paper.private else "",
    }


def _sections(paper: Paper, query: Protects, receipt: Receipt) -> Iterator[Section]:
    """All sections. They are sorted by level afterwards, so only their order within a level counts."""
    yield from _result(paper)
    yield from _promise(paper, query, receipt)
    said = paper.words.question(paper.question)
    prose = said != displayed(paper.question)
    yield Section("The question", sentences=(said,) if prose else (), code="" if prose else paper.question)
    yield from paper.sections()
    if paper.table is None and not paper.value and paper.picture is not None:  # rows that are only drawn
        yield Section("In pictures", picture=paper.picture(), notes=paper.notes, level=Level.RESULT)
    words = paper.words
    handling = words.certificate.handling(receipt.provenance, private=paper.private, exact=paper.exact)
    yield Section(
        "How the rows were read",
        items=handling,
        notes=(words.certificate.side_channels(receipt.departures),),
        level=Level.DATA,
    )
    yield from _budget(paper, query, receipt)


def _result(paper: Paper) -> Iterator[Section]:
    """The answer once: as a value, as a short table, or as a chart with its table at the end of the page.

    Synthetic rows are counted here; their quality and their pictures follow.
    """
    words, long = paper.words, paper.table is not None and paper.table.size > FEW_ROWS
    draw = (paper.brief or paper.picture) if long else None
    drawn = paper.table is None and not paper.value
    last = words.certificate.further(words.certificate.heading(Level.NUMBERS))
    yield Section(
        "",
        value=dict(paper.card).get("released", "") if drawn else paper.value,
        table=None if long else paper.table,
        picture="" if draw is None else draw(),
        notes=() if drawn else (*([last] if long else ()), *paper.notes),
        level=Level.RESULT,
    )
    for name, part in paper.parts:
        yield _part(name, part)
    if long:
        yield Section("", table=paper.table, level=Level.NUMBERS)


def _part(name: str, paper: Paper) -> Section:
    """One of several answers: its question, its table and what is said about it."""
    return Section(name, paper.question, paper.value, table=paper.table, notes=paper.notes, level=Level.RESULT)


def _promise(paper: Paper, query: Protects, receipt: Receipt) -> Iterator[Section]:
    """Who is protected, the promise through every flavor, and what the best attack can do."""
    words, found = paper.words, paper.headline
    assert found is not None and paper.views is not None
    say, views = words.certificate, paper.views()
    whom = " ".join(filter(None, (words.protected(query), paper.caps)))
    yield Section("", sentences=(whom,), notes=(words.neighbors(receipt), words.reading(found)), level=Level.PROMISE)
    yield Section(
        "Through every flavor",
        sentences=(say.every_flavor(found),),
        table=flavor_table(views, words),
        notes=(say.infinite(views.mass),) if any(view.missing is Missing.OUTRIGHT for view in views.rows) else (),
        level=Level.PROMISE,
    )
    rows = not isinstance(query.unit, Person)
    attacked = say.no_attack() if views.detected is None else say.attack(views.detected, rows=rows)
    yield Section(
        "What an attacker could do",
        sentences=(attacked,),
        picture=trade_off(views, rows=rows, words=words) if views.points else "",
        level=Level.PROMISE,
    )


def flavor_table(views: Views, words: Words) -> PaperTable:
    """One row for each flavor; the ε of the price's flavor and P(L > ε) stand beside the exact ε."""
    say, found = words.certificate, views.headline
    rows: list[tuple[str, ...]] = []
    for view in views.rows:
        rows.append((say.flavor(view), say.bound(view), say.proof(view)))
        if view.delta == found.delta and found.exact is not None:
            rows.append(say.implied(found))
    rows.append(say.probabilistic(views))
    columns = (
        PaperColumn(words.label("flavor"), Role.KEY),
        PaperColumn(words.label("bound")),
        PaperColumn(words.label("proved by")),
    )
    return PaperTable(columns, lambda: rows, len(rows))


def _budget(paper: Paper, query: Protects, receipt: Receipt) -> Iterator[Section]:
    """What was charged, what is left, and the record in the ledger."""
    words, standing, entry = paper.words, receipt.standing, receipt.entry
    budget = (
        ("total", words.notation(standing.promise)),
        ("before", words.stands(receipt.before())),
        ("this answer", words.notation(entry.price)),
        ("after", words.stands(standing)),
    )
    other = words.label("the same rows have another, and each person is promised the sum")
    record = (
        ("ledger entry", words.numerals(str(entry.number))),
        ("charged at", words.numerals(f"{entry.at:%Y-%m-%d %H:%M:%S %Z}")),
        ("asked by", entry.by),
        ("made with", f"Sitr {entry.version}"),
        *((("SHA-256 of the release", receipt.sha256),) if receipt.sha256 else ()),
        *((("hash of the entry", entry.hash),) if entry.hash else ()),
        *((("other budgets", other),) if entry.second else ()),
    )
    yield Section(
        "",
        sentences=(words.certificate.how_often(receipt),),
        picture=budget_bar(standing, charge=entry.price, words=words),
        facts=budget,
        notes=(meaning(standing, query, words),),
        level=Level.BUDGET,
    )
    yield Section("The record", facts=record, level=Level.BUDGET)
