"""Synthetic rows: what was measured, what it cost, and how good the rows are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sitr.accounting.filter import Filter
from sitr.dataset.cells import Rule, size
from sitr.ledger.receipt import Receipt
from sitr.numbers import exact
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.synthetic.axes import Codes
from sitr.questions.synthetic.figures import Figure, Quality
from sitr.questions.synthetic.marginals import Measured
from sitr.questions.synthetic.plan import Method, SynthesisPlan
from sitr.questions.synthetic.portrait import Portrait
from sitr.questions.synthetic.validity import Checked
from sitr.report import envelope
from sitr.report.chart.agreement import quality_heat
from sitr.report.chart.synthetic import chart
from sitr.report.envelope import promise_dict
from sitr.report.figures import Figures, Rounded, error, number, shortened, visible
from sitr.report.free_quality import free_sections
from sitr.report.headline import headline
from sitr.report.level import Level
from sitr.report.paper import Facts, Paper, PaperColumn, PaperTable, Section, again, answered, entry, previewed
from sitr.report.words.words import Words, in_words

if TYPE_CHECKING:
    import pyarrow as pa

KIND, QUALITY = "synthetic rows", "quality of synthetic rows"


def preview(plan: SynthesisPlan, standing: Filter, *, words: Words | None = None) -> Paper:
    """The paper of a preview: the tables that will be measured, and how noisy each count is."""
    words = in_words(words)
    say, rows = words.synthetic, list(_errors(plan, words))
    return previewed(
        KIND,
        plan,
        headline(plan),
        standing,
        plan.sheet,
        words=words,
        own=(("caps", say.caps(plan)),),
        content=lambda: _content(plan) | _expected(plan),
        price=say.price(plan),
        table=PaperTable(_headings(words, "table", "cells", "95% error of a count"), lambda: rows, len(rows)),
    )


def answer(
    portrait: Portrait,
    receipt: Receipt,
    *,
    rows: Codes | None = None,
    judged: Paper | None = None,
    checked: tuple[Checked, ...] = (),
    words: Words | None = None,
) -> Paper:
    """The paper of a fitted model. A page also shows these `rows`, how they were `judged` and what was `checked`."""
    words = in_words(words)
    plan, say, measured = portrait.plan, words.synthetic, portrait.measured
    tables = len(measured.noises())
    made: Facts = (
        ("columns", ", ".join(visible(axis.column.name) for axis in plan.declared)),
        ("tables", say.tables(tables)),
        ("rows", say.rows(portrait)),
        *((("triples", _triples(measured, words)),) if plan.division.triples else ()),
        *((("fit", say.missed(portrait)),) if portrait.missed else ()),
    )
    own: Facts = (("caps", say.caps(plan)),)
    priced: Facts = (("charged", say.price(plan)),) if plan.quality else ()
    sections = [
        Section("How the rows were made", facts=(*made, *own, *priced)),
        Section("Assumed public knowledge", items=say.public(plan), level=Level.DATA),
    ]
    if judged is not None:
        drawn = "" if judged.picture is None else judged.picture()
        good = Section(
            "How good the rows are", table=judged.table, facts=judged.facts, picture=drawn, level=Level.RESULT
        )
        sections.append(good)
    if rows is not None:
        sections += free_sections(portrait, rows, checked, words=words)
    paper = answered(
        KIND,
        plan,
        headline(plan),
        receipt,
        plan.sheet,
        words=words,
        first=made,
        own=own,
        content=lambda: _content(plan) | _measured(portrait),
        sections=lambda: tuple(sections),
        charged=say.price(plan) if plan.quality else "",
        title="Synthetic rows",
        card=(("released", say.released(portrait, None if rows is None else len(rows))), ("noise", say.tables(tables))),
        notes=(say.imitates(),),
        picture=None if rows is None else lambda: chart(portrait, rows, words=words),
    )
    return paper if judged is None else replace(paper, private=paper.private and judged.private)


def about(
    portrait: Portrait, receipt: Receipt, rows: int, schema: pa.Schema, *, words: Words | None = None
) -> dict[str, Any]:
    """What a file of drawn rows is: made up, from which tables, and under which promise."""
    plan, words = portrait.plan, in_words(words)
    return {
        "synthetic": True,
        "private": receipt.private,
        "about": words.synthetic.mark(receipt.dataset),
        "rows": rows,
        "columns": [{"name": field.name, "type": str(field.type)} for field in schema],
        "dataset": receipt.dataset,
        "entry": receipt.entry.number,
        "at": receipt.entry.at.isoformat(),
        "version": receipt.entry.version,
        "price": promise_dict(plan.price),
        "promise": promise_dict(headline(plan).promise),
    }


def quality(found: Quality, receipt: Receipt | None, *, private: bool, words: Words | None = None) -> Paper:
    """The means, and the worst of each kind; `receipt` is None where nothing was charged."""
    words = in_words(words)
    say, rows = words.synthetic, list(_kinds(found, words))
    facts: Facts = (
        ("compared", say.compared(found)),
        ("score", say.score(found)),
        *((("accuracy", say.accuracy(*found.scores)),) if found.scores is not None else ()),
        *((("propensity", say.propensity(found.propensity)),) if found.propensity is not None else ()),
        *((("told apart", say.told_apart(found.told_apart)),) if found.told_apart is not None else ()),
        *((("regression", say.regression(found)),) if found.regression else ()),
        *(() if receipt is None else (*again(receipt, words), *entry(receipt, words))),
    )
    return Paper(
        words,
        "",
        facts,
        lambda: _paid(found, receipt) | _figures(found, private=private),
        private=private,
        table=PaperTable(_headings(words, "error", "mean", "worst", "of"), lambda: rows, len(rows)),
        picture=lambda: quality_heat(found, words=words),
    )


def _triples(measured: Measured, words: Words) -> str:
    """What was measured of triples, where the request asks for them."""
    if not measured.triples:
        return words.synthetic.no_triples()
    most = max(max(each.counts.shape) for each in measured.triples)
    far = max(float(each.noise.error()) for each in measured.triples)
    return words.synthetic.measured_triples(len(measured.triples), most, f"± {error(far)}")


def _errors(plan: SynthesisPlan, words: Words) -> Iterator[tuple[str, ...]]:
    for each, of in ((plan.people, words.synthetic.people), (plan, str)):
        division = None if each is None else each.division
        if division is None:
            continue
        for name, cells, far in division.errors():
            shown = of(shortened(visible(name), most=60))
            yield shown, words.numerals(number(cells)), words.numerals(f"± {error(far)}")
        if (coarse := division.pair_error()) is not None:
            yield of(words.synthetic.pairs(division.pairs)), "", words.synthetic.about(f"± {error(coarse)}")
        if (triples := division.triple_error()) is not None:
            yield words.synthetic.triples(triples[0]), "", words.synthetic.about(f"± {error(triples[1])}")
    if plan.quality is not None:
        yield words.synthetic.distances(), "", words.numerals(f"± {error(float(plan.quality.distances.error()))}")


def _kinds(found: Quality, words: Words) -> Iterator[tuple[str, ...]]:
    for name, figures in words.synthetic.kinds(found):
        if figures:
            worst = found.worst(figures)
            mean = sum(abs(figure.found) for figure in figures) / len(figures)
            yield name, words.numerals(f"{mean:.4f}"), _worst(worst, words), words.synthetic.of(worst)


def _worst(figure: Figure, words: Words) -> str:
    """A figure to the first two digits of its error, or to four decimals if it has none."""
    if not figure.error:
        return words.numerals(f"{figure.found:.4f}".replace("-", "−"))
    found, far = exact(figure.found), exact(figure.error)
    one = Estimate(found, found - far, found + far)
    form = Figures.fitting(far, step=None)
    short, exact_text = f"{form.value(one)} ± {form.error(far)}", f"{figure.found:.15g} ± {figure.error:.15g}"
    return Rounded(words.numerals(short), exact=words.numerals(exact_text))


def _headings(words: Words, *names: str) -> tuple[PaperColumn, ...]:
    return tuple(PaperColumn(words.label(name)) for name in names)


def _content(plan: SynthesisPlan) -> dict[str, Any]:
    return {
        "method": plan.method.value,
        "prices": {
            "rows": promise_dict(plan.division.price),
            "quality": None if plan.quality is None else promise_dict(plan.quality.price),
        },
        "relation": plan.sheet.relation.value,
        "rows_per_unit": plan.sheet.most_rows,
        "people": _people(plan),
        "columns": [
            {
                "name": axis.column.name,
                "type": axis.column.kind.value,
                "cells": size(axis),
                "null": axis.missing is Rule.CELL,
            }
            for axis in plan.sheet.axes
        ],
    }


def _people(plan: SynthesisPlan) -> dict[str, Any] | None:
    """What is counted of people, if the rows of each person are drawn together."""
    diary = plan.diary
    if diary is None:
        return None
    constant = [diary.names[place] for place in diary.constant]
    return {"constant": constant, "order": None if diary.order is None else diary.order.name}


def _expected(plan: SynthesisPlan) -> dict[str, Any]:
    division, quality, people = plan.division, plan.quality, plan.people
    pairs = {"number": division.pairs, "error_95": division.pair_error()} if plan.method is Method.MARGINALS else None
    triples = division.triple_error()
    more = {} if people is None else {"people_errors": _listed(people)}
    return more | {
        "errors": _listed(plan),
        "pairs": pairs,
        "triples": None if triples is None else {"number": triples[0], "error_95": triples[1]},
        "quality": None if quality is None else {"distance_error_95": float(quality.distances.error())},
    }


def _listed(plan: SynthesisPlan) -> list[dict[str, Any]]:
    return [{"table": name, "cells": cells, "error_95": error} for name, cells, error in plan.division.errors()]


def _measured(portrait: Portrait) -> dict[str, Any]:
    measured = portrait.measured
    return {
        "rows": measured.total,
        "tables": [
            {
                "columns": [portrait.plan.sheet.names[place] for place in table.columns],
                "shape": list(table.counts.shape),
                "deviation": table.deviation,
            }
            for table in measured.tables()
        ],
        "missed": [list(pair) for pair in portrait.missed],
        "number_of_people": None if measured.people is None else measured.people.total,
    }


def _paid(found: Quality, receipt: Receipt | None) -> dict[str, Any]:
    if found.plan is None or receipt is None:
        return {"kind": QUALITY, "receipt": None}
    return envelope.of_answer(QUALITY, found.plan, headline(found.plan), receipt)


def _figures(found: Quality, *, private: bool) -> dict[str, Any]:
    def listed(figures: Sequence[Figure]) -> list[dict[str, Any]]:
        return [{"columns": list(f.columns), "found": f.found, "error_95": f.error} for f in figures]

    return {
        "private": private,
        "public_table": found.holdout,
        "mean_single": found.mean_single,
        "mean_pairs": found.mean_pairs,
        "score": found.score,
        "single": listed(found.single),
        "pairs": listed(found.pairs),
        "triples": listed(found.triples),
        "ranges": listed(found.ranges),
        "correlations": listed(found.correlations),
        "propensity": found.propensity,
        "told_apart": None if found.told_apart is None else listed([found.told_apart])[0],
        "subgroups": listed(found.subgroups),
        "regression": [
            {"term": each.term, "synthetic": each.synthetic, "real": each.real, "error_95": each.error}
            for each in found.regression
        ],
        "scores": None if found.scores is None else dict(zip(("synthetic", "real"), found.scores, strict=True)),
    }
