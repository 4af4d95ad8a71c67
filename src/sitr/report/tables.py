"""Tables that add up: their cells with intervals, and the error of each table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sitr.accounting.filter import Filter
from sitr.ledger.receipt import Receipt
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.tables.grouping import GroupedTables
from sitr.questions.tables.measures import Measure
from sitr.questions.tables.plan import TablesPlan
from sitr.questions.tables.publication import PublishedTables
from sitr.questions.tables.question import column_name
from sitr.questions.tables.workload import Node
from sitr.report import grouped
from sitr.report.chart.tables import chart, labelled
from sitr.report.column_errors import ROWS
from sitr.report.figures import CONFIDENCE, AllDigits, Figures, Rounded, error, number
from sitr.report.headline import headline
from sitr.report.level import Level
from sitr.report.paper import Facts, Paper, PaperColumn, PaperTable, Role, Section, answered, previewed
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.words import Words, in_words

KIND = "tables"

ALL = AllDigits()


def answer(publication: PublishedTables, receipt: Receipt, *, words: Words | None = None) -> Paper:
    """The paper of a publication. Its JSON is the envelope, and

    =============  =====================================================================================================
    measures       the names of the numbers in every cell
    objective      what was made small, the `gap` by which it may exceed the least possible, and the `noise`
    tables         `name`, `columns`, `cells` (how many), the 95% `errors` by measure, and, in an answer, the numbers of
                   each measure in `values`, the last column varying fastest, with `labels` by column; if numbers were
                   rounded, the mean of what this added to a cell, and the mean of its size, in `shifts` by measure
    words          the sentences of the page
    =============  =====================================================================================================
    """
    words = in_words(words)
    plan, say = publication.plan, words.tables
    own: Facts = (
        ("outright", say.exposure(plan)),
        *_measured(plan, words),
        ("adding up", say.adds_up(plan)),
        ("intervals", say.intervals(plan)),
        *((("rounding", say.rounded()),) if plan.whole else ()),
        ("bias", words.aggregate.bias(plan.records.query)),
        *((("digits", words.digits()),) if _rounds(publication) else ()),
    )
    return answered(
        KIND,
        plan,
        headline(plan),
        receipt,
        plan.records.query,
        words=words,
        own=own,
        content=lambda: _content(plan, publication),
        sections=lambda: (
            Section("How the tables were measured", sentences=(say.measured(plan), say.adds_up(plan))),
            Section("The noise", sentences=(say.noise(plan), say.optimum(plan)), table=_errors_table(plan, words)),
            Section("What the intervals mean", sentences=(say.intervals(plan),)),
            *(
                (Section("What rounding changed", sentences=(say.rounded(),), table=_shifts_table(publication, words)),)
                if plan.whole
                else ()
            ),
            Section("How the promise could fail", sentences=(say.exposure(plan),), level=Level.PROMISE),
            Section("Assumed public knowledge", items=say.public(plan), level=Level.DATA),
        ),
        title="Private tables",
        card=(("released", say.released(plan)), ("noise", say.noise(plan))),
        table=_table(publication, words, computed=receipt.alike),
        picture=lambda: chart(publication, words=words),
        caps=words.aggregate.contribution(plan.records.query),
    )


def preview(plan: TablesPlan, standing: Filter, *, words: Words | None = None) -> Paper:
    """The paper of a preview: the tables, and the error of each."""
    words = in_words(words)
    query = plan.records.query
    own: Facts = (
        ("caps", words.aggregate.contribution(query)),
        ("outright", words.tables.exposure(plan)),
        *_measured(plan, words),
        *((("rounding", words.tables.will_round()),) if plan.whole else ()),
        ("bias", words.aggregate.bias(query)),
    )
    return previewed(
        KIND,
        plan,
        headline(plan),
        standing,
        query,
        words=words,
        own=own,
        content=lambda: _content(plan),
        table=_errors_table(plan, words),
    )


def errors(plan: TablesPlan, words: Words) -> Facts:
    """The errors of all tables, in words."""
    return tuple(
        (words.tables.title(plan, node, measure), words.numerals(f"± {error(Fraction(_far(plan, measure, node)))}"))
        for measure, node in _added(plan)
    )


def error_contents(plan: TablesPlan) -> list[dict[str, Any]]:
    """The errors of all tables, for machines."""
    return [
        {"name": column_name(measure, plan.workload, node), "error": _far(plan, measure, node)}
        for measure, node in _added(plan)
    ]


def _added(plan: TablesPlan) -> list[tuple[Measure, Node]]:
    """Means are left out: their errors depend on the number of rows."""
    return [(measure, node) for node in plan.workload.tables for measure in plan.measures if measure.adds_up]


def _far(plan: TablesPlan, measure: Measure, node: Node) -> float:
    return plan.error(measure, node, confidence=CONFIDENCE)


def _measured(plan: TablesPlan, words: Words) -> Facts:
    say = words.tables
    return ("measured", say.measured(plan)), ("noise", say.noise(plan)), ("optimum", say.optimum(plan))


def _errors_table(plan: TablesPlan, words: Words) -> PaperTable:
    """One row for each table: its name, its cells, and the error of each measure."""
    columns = (
        PaperColumn(words.label("table"), Role.KEY),
        PaperColumn(words.label("cells"), Role.NUMBER),
        *(PaperColumn(words.tables.error_of(measure), Role.NUMBER) for measure in plan.measures),
    )
    return PaperTable(columns, lambda: _error_rows(plan, words), len(plan.workload.tables))


def _error_rows(plan: TablesPlan, words: Words) -> Iterator[tuple[str, ...]]:
    for node in plan.workload.tables:
        shown = (_error(plan, measure, node, words) for measure in plan.measures)
        yield words.tables.name(plan.workload, node), words.numerals(number(plan.workload.cells(node))), *shown


def _error(plan: TablesPlan, measure: Measure, node: Node, words: Words) -> str:
    """The error of a cell; of a mean, which depends on the number of rows, for how many."""
    if measure.adds_up:
        return words.numerals(f"± {error(Fraction(plan.error(measure, node, confidence=CONFIDENCE)))}")
    far = plan.error_at(ROWS, measure, node, confidence=CONFIDENCE)
    if far >= plan.error(measure, node, confidence=CONFIDENCE):
        return words.aggregate.unlimited()
    return words.aggregate.at_rows(words.numerals(f"± {error(Fraction(far))}"), ROWS)


def _shifts_table(publication: PublishedTables, words: Words) -> PaperTable:
    """One row for each table: by how much rounding moved its numbers."""
    plan, say = publication.plan, words.tables
    columns = [PaperColumn(words.label("table"), Role.KEY)]
    for measure in (each for each in plan.measures if each.adds_up):
        columns += [
            PaperColumn(say.shift_of(measure), Role.NUMBER),
            PaperColumn(say.size_of_shift(measure), Role.NUMBER),
        ]
    return PaperTable(tuple(columns), lambda: _shift_rows(publication, words), len(plan.workload.tables))


def _shift_rows(publication: PublishedTables, words: Words) -> Iterator[tuple[str, ...]]:
    plan = publication.plan
    for node in plan.workload.tables:
        moved = [each for found in _shifts(publication, node).values() for each in found.values()]
        yield words.tables.name(plan.workload, node), *(words.numerals(f"{each:.3g}") for each in moved)


def _shifts(publication: PublishedTables, node: Node) -> dict[str, dict[str, float]]:
    """For each measure that adds up, the mean shift of a table's cells and the mean size of it."""
    found = {}
    for measure in (each for each in publication.plan.measures if each.adds_up):
        moved = publication.shifts(measure, node)
        found[measure.name] = {"mean": float(moved.mean()), "size": float(abs(moved).mean())}
    return found


def _table(publication: PublishedTables, words: Words, *, computed: bool) -> PaperTable:
    """All cells of all tables; their numbers may be computed from those that were released for another plan."""
    plan = publication.plan
    if isinstance(publication, GroupedTables):
        return grouped.table(publication, words)
    columns = [PaperColumn(words.label("table"), Role.KEY), PaperColumn(words.label("cell"), Role.KEY)]
    for measure in plan.measures:
        name = words.tables.measure(measure)
        columns += [
            PaperColumn(
                words.aggregate.unmeasured(name) if plan.records.query.unmeasured else name,
                Role.NUMBER,
                computed=computed or not measure.adds_up,
            ),
            PaperColumn(words.label("95% interval"), Role.INTERVAL, of=name),
        ]
    size = sum(map(plan.workload.cells, plan.workload.tables))
    return PaperTable(tuple(columns), lambda: _rows(publication, words), size)


def _rounds(publication: PublishedTables) -> bool:
    """Are numbers shown with fewer digits than they have? Whole counts with small errors are not."""
    plan = publication.plan
    return any(
        measure.ends is not None
        or Figures.fitting(Fraction(plan.error(measure, node, confidence=CONFIDENCE)), step=plan.step(measure)).rounds
        for measure in plan.measures
        for node in plan.workload.tables
    )


def _rows(publication: PublishedTables, words: Words) -> Iterator[tuple[str, ...]]:
    plan = publication.plan
    for node in plan.workload.tables:
        named = labelled(publication, node, words)
        written = [list(_written(publication, measure, node, words)) for measure in plan.measures]
        for place, cell in enumerate(named):
            shown = (part for each in written for part in each[place])
            yield words.tables.name(plan.workload, node), " × ".join(cell), *shown


def _written(publication: PublishedTables, measure: Measure, node: Node, words: Words) -> Iterator[tuple[str, str]]:
    """The number and the interval of each cell, to the first two digits of the error.

    Of a mean that is its own, and of a rounded number too: its interval has no impossible numbers, and may be narrower.
    """
    plan = publication.plan
    step = None if measure.ends is not None else plan.step(measure)
    form = Figures.fitting(Fraction(plan.error(measure, node, confidence=CONFIDENCE)), step=step)
    cells = publication.cells(measure, node).ravel().tolist()
    ends = [part.ravel().tolist() for part in publication.ends(measure, node, confidence=CONFIDENCE)]
    for value, *both in zip(cells, *ends, strict=True):
        low, high = map(Fraction, both)
        one = Estimate(None if math.isnan(value) else Fraction(value), low, high)
        alone = step is None or plan.whole
        own = Figures.fitting(max(high - low, Fraction(1, 10**9)) / 2, step=step) if alone else form
        short, full = ((_value(each, one, words), words.interval(each.low(one), each.high(one))) for each in (own, ALL))
        yield Rounded(short[0], exact=full[0]), Rounded(short[1], exact=full[1])


def _value(form: Figures | AllDigits, one: Estimate, words: Words) -> str:
    return "–" if one.value is None else words.numerals(f"{form.value(one)} ± {form.error(one.error)}")


def _content(plan: TablesPlan, publication: PublishedTables | None = None) -> dict[str, Any]:
    say = ENGLISH.tables
    return {
        "measures": [measure.name for measure in plan.measures],
        "objective": {
            "name": plan.objective.value,
            "gap": plan.gap,
            "noise": "discrete Laplace" if plan.pure else "residual Gaussian",
        },
        "tables": [_one(plan, node, publication) for node in plan.workload.tables],
        "words": {
            "measured": say.measured(plan),
            "noise": say.noise(plan),
            "optimum": say.optimum(plan),
            "intervals": say.intervals(plan),
        },
    }


def _one(plan: TablesPlan, node: Node, publication: PublishedTables | None) -> dict[str, Any]:
    workload = plan.workload
    found: dict[str, Any] = {
        "name": workload.name(node),
        "columns": list(workload.names(node)),
        "cells": workload.cells(node),
        "errors": {measure.name: plan.error(measure, node, confidence=CONFIDENCE) for measure in plan.measures},
    }
    if publication is not None:
        levels = (workload.ladders[column].levels[level - 1] for column, level in node)
        found["labels"] = [list(level.labels) for level in levels]
        found["values"] = {
            measure.name: [
                None if math.isnan(value) else value for value in publication.cells(measure, node).ravel().tolist()
            ]
            for measure in plan.measures
        }
        if plan.whole:
            found["shifts"] = _shifts(publication, node)
    return found
