"""Synthetic rows of several tables of the same people: what was measured, what it cost, and how good the rows are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sitr.accounting.filter import Filter
from sitr.dataset.cells import Rule, size
from sitr.ledger.receipt import Receipt
from sitr.questions.synthetic.agreement import Agreement
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.crowd import Crowd
from sitr.questions.synthetic.diaries import TableDiary
from sitr.questions.synthetic.plan import Method, SynthesisPlan
from sitr.questions.synthetic.several import SeveralPlan
from sitr.questions.synthetic.validity import Checked
from sitr.report import joined
from sitr.report.chart.synthetic import chart
from sitr.report.envelope import promise_dict
from sitr.report.figures import error, number, shortened, visible
from sitr.report.headline import headline
from sitr.report.level import Level
from sitr.report.paper import Facts, Paper, PaperColumn, PaperTable, Section, answered, previewed
from sitr.report.words.words import Words, in_words

if TYPE_CHECKING:
    import pyarrow as pa

KIND = "synthetic rows of several tables"


def preview(plan: SeveralPlan, standing: Filter, *, words: Words | None = None) -> Paper:
    """The paper of a preview: the tables that will be measured, and how noisy each count is."""
    words = in_words(words)
    rows = list(_errors(plan, words))
    return previewed(
        KIND,
        plan,
        headline(plan),
        standing,
        plan.sheet,
        words=words,
        own=(("caps", words.crowd.caps(plan)),),
        content=lambda: _content(plan) | _expected(plan),
        table=PaperTable(_headings(words, "table", "cells", "95% error of a count"), lambda: rows, len(rows)),
    )


def answer(
    crowd: Crowd,
    receipt: Receipt,
    *,
    rows: Mapping[str, int] | None = None,
    codes: Mapping[str, Codes] | None = None,
    checked: Mapping[str, tuple[Checked, ...]] | None = None,
    words: Words | None = None,
) -> Paper:
    """The paper of fitted models. A page also shows how many `rows` were drawn, their cells and what was checked."""
    words = in_words(words)
    plan, say = crowd.plan, words.crowd
    tables = words.synthetic.tables(len(crowd.measured.noises()))
    made: Facts = (
        ("columns", say.columns(plan)),
        ("tables", tables),
        ("rows", say.people(crowd)),
        *((("fit", say.missed(crowd.missed)),) if crowd.missed else ()),
    )
    own: Facts = (("caps", say.caps(plan)),)
    sections = [
        Section("How the rows were made", sentences=(say.depends(plan),), facts=(*made, *own)),
        Section("Assumed public knowledge", items=say.public(plan), level=Level.DATA),
    ]
    if rows is not None and codes is not None:
        sections += _of_rows(rows, crowd.agreement(codes), checked or {}, words)
    paper = answered(
        KIND,
        plan,
        headline(plan),
        receipt,
        plan.sheet,
        words=words,
        first=made,
        own=own,
        content=lambda: _content(plan) | _measured(crowd),
        sections=lambda: tuple(sections),
        title="Synthetic rows",
        card=(("released", say.released(crowd, rows)), ("noise", tables)),
        notes=(words.synthetic.imitates(),),
        picture=None if codes is None else lambda: chart(crowd.portraits()[""], codes[""], words=words),
    )
    return joined.answered(paper, receipt, plan, said_of=say.protected(plan))


def content_of_rows(
    fitting: Mapping[str, Agreement], checked: Mapping[str, tuple[Checked, ...]]
) -> dict[str, dict[str, Any]]:
    """How good the rows are, as JSON: of people under an empty name, and by table."""
    return {
        "fit": {
            name: {
                "score": found.score,
                "tables": [
                    {"columns": list(each.columns), "distance": each.found, "score": each.score, "noise": each.noise}
                    for each in found.tables
                ],
            }
            for name, found in fitting.items()
        },
        "validity": {
            name: [
                {"demand": each.demand.value, "columns": list(each.columns), "broken": each.broken} for each in found
            ]
            for name, found in checked.items()
        },
    }


def about(
    crowd: Crowd, receipt: Receipt, name: str, rows: int, schema: pa.Schema, *, words: Words | None = None
) -> dict[str, Any]:
    """What a file of drawn rows of one of the tables is."""
    words, plan = in_words(words), crowd.plan
    return {
        "synthetic": True,
        "private": receipt.private,
        "about": words.synthetic.mark(name),
        "rows": rows,
        "columns": [{"name": field.name, "type": str(field.type)} for field in schema],
        "table": name,
        "drawn_with": [each.table for each in plan.diaries.tables if each.table != name],
        "dataset": receipt.dataset,
        "entry": receipt.entry.number,
        "at": receipt.entry.at.isoformat(),
        "version": receipt.entry.version,
        "price": promise_dict(plan.price),
        "promise": promise_dict(headline(plan).promise),
    }


def _of_rows(
    rows: Mapping[str, int],
    fitting: Mapping[str, Agreement],
    checked: Mapping[str, tuple[Checked, ...]],
    words: Words,
) -> Iterator[Section]:
    """How good these rows are, and what they are for."""
    say = words.synthetic
    fits = [line for name, found in fitting.items() for line in _fits(name, found, words)]
    columns = _headings(words, "table", "tables", "mean score", "lowest", "of", "noise alone")
    yield Section(
        "How closely the rows follow the noisy tables",
        sentences=say.agreement(fitting[""]),
        table=PaperTable(columns, lambda: fits, len(fits)),
        level=Level.RESULT,
    )
    listed = [
        (visible(name), say.demand(each), ", ".join(map(visible, each.columns)), say.valid(each.broken, rows[name]))
        for name, found in checked.items()
        for each in found
    ]
    heads = _headings(words, "table", "demand", "columns", "kept in")
    table = PaperTable(heads, lambda: listed, len(listed))
    yield Section("Whether the rows are valid", table=table, level=Level.RESULT)
    yield Section("What the rows can be used for", items=say.uses(), level=Level.RESULT)
    yield Section("What the rows cannot carry", items=words.crowd.limits(), level=Level.RESULT)
    yield Section("What the promise means for a person", sentences=say.person(), level=Level.RESULT)


def _fits(part: str, found: Agreement, words: Words) -> Iterator[tuple[str, ...]]:
    for name, tables in words.synthetic.fits(found):
        if tables:
            worst = min(tables, key=lambda each: each.score)
            mean = sum(each.score for each in tables) / len(tables)
            noise = 1 - sum(each.noise for each in tables) / len(tables) / 2
            scores = [words.numerals(f"{100 * score:.1f}") for score in (mean, worst.score, noise)]
            of = words.synthetic.between(worst.columns)
            yield words.crowd.part(part), name, scores[0], scores[1], of, scores[2]


def _errors(plan: SeveralPlan, words: Words) -> Iterator[tuple[str, ...]]:
    for part, each in plan.parts():
        said = words.crowd.part(part)
        for name, cells, far in each.division.errors():
            shown = f"{said}: {shortened(visible(name), most=60)}"
            yield shown, words.numerals(number(cells)), words.numerals(f"± {error(far)}")
        if (coarse := each.division.pair_error()) is not None:
            pairs = words.synthetic.pairs(each.division.pairs)
            yield f"{said}: {pairs}", "", words.synthetic.about(f"± {error(coarse)}")


def _headings(words: Words, *names: str) -> tuple[PaperColumn, ...]:
    return tuple(PaperColumn(words.label(name)) for name in names)


def _content(plan: SeveralPlan) -> dict[str, Any]:
    return {
        "relation": plan.sheet.relation.value,
        "everyone": list(plan.everyone),
        "tables": [_table(table, own) for table, own in zip(plan.diaries.tables, plan.steps, strict=True)],
    }


def _table(table: TableDiary, plan: SynthesisPlan | None) -> dict[str, Any]:
    return {
        "name": table.table,
        "method": None if plan is None else plan.method.value,
        "rows_per_unit": table.most_rows,
        "constant": [table.names[place] for place in table.constant],
        "first": [table.names[place] for place in table.carried],
        "order": None if table.order is None else table.order.name,
        "columns": [
            {
                "name": axis.column.name,
                "type": axis.column.kind.value,
                "cells": size(axis),
                "null": axis.missing is Rule.CELL,
            }
            for axis in table.axes
        ],
    }


def _expected(plan: SeveralPlan) -> dict[str, Any]:
    return {"expected": [_expected_of(name, part) for name, part in plan.parts()]}


def _expected_of(name: str, part: SynthesisPlan) -> dict[str, Any]:
    division = part.division
    several = part.method is Method.MARGINALS
    return {
        "table": name or None,
        "errors": [{"table": table, "cells": cells, "error_95": far} for table, cells, far in division.errors()],
        "pairs": {"number": division.pairs, "error_95": division.pair_error()} if several else None,
    }


def _measured(crowd: Crowd) -> dict[str, Any]:
    measured = zip(crowd.plan.parts(), crowd.measured.every(), strict=True)
    return {
        "number_of_people": crowd.measured.people.total,
        "measured": [
            {
                "table": name or None,
                "rows": found.total,
                "tables": [
                    {
                        "columns": [plan.sheet.names[place] for place in table.columns],
                        "shape": list(table.counts.shape),
                        "deviation": table.deviation,
                    }
                    for table in found.tables()
                ],
            }
            for (name, plan), found in measured
        ],
        "missed": [list(pair) for pair in crowd.missed],
    }
