"""Answers to several questions that were paid for together: what each says, and the promise of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from sitr.accounting.filter import Filter
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.receipt import Receipt
from sitr.namespace import Later
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.batch.plan import BatchPlan
from sitr.questions.batch.question import BatchRelease
from sitr.report import aggregate
from sitr.report.aggregate_content import caps_content
from sitr.report.figures import at_most
from sitr.report.headline import Headline, headline
from sitr.report.level import Level
from sitr.report.paper import Card, Facts, Paper, Section, answered, previewed
from sitr.report.words.words import Words, in_words

if TYPE_CHECKING:
    from sitr.report.chart import batch as drawing
else:  # a preview draws nothing
    drawing = Later("sitr.report.chart.batch")

KIND = "batch"

ENVELOPE = ("kind", "price", "promise", "headline", "delta", "budget", "receipt", "plan")
"""What the parts of a batch have in common, and do not repeat."""


def answer(release: BatchRelease, receipt: Receipt, *, words: Words | None = None) -> Paper:
    """The paper of all answers. Its JSON is the envelope, and

    ================  ==================================================================================================
    caps              of each question by name: `max_groups`, `max_rows_per_group` of one unit, and `max_rows` or null
    measurements      the number of measurements, and how many of them serve several questions (`shared`)
    answers           each answer by `name`, as `sitr.report.aggregate` writes it, without what all have in common
    ================  ==================================================================================================
    """
    words, plan = in_words(words), release.plan
    say, found = words.batch, headline(plan)
    papers = tuple(
        (name, aggregate.answer(part, receipt, words=words, found=found))
        for name, part in zip(plan.names, release.parts, strict=True)
    )
    return answered(
        KIND,
        plan,
        found,
        receipt,
        plan.query,
        words=words,
        own=(*_own(plan, words), ("bias", say.bias())),
        content=lambda: _content(plan, papers),
        sections=lambda: _sections(plan, found, papers, words),
        title="Privacy certificate",
        card=(
            ("released", say.released(plan.names)),
            ("noise", say.errors([(name, dict(paper.card)["noise"]) for name, paper in papers])),
        ),
        value=say.answers(len(papers)),
        parts=papers,
        picture=lambda: drawing.chart(plan.names, release.parts, words=words),
        caps=say.caps(len(papers)),
    )


def preview(plan: BatchPlan, standing: Filter, *, words: Words | None = None) -> Paper:
    """The paper of a preview: the columns of each question."""
    words, found = in_words(words), headline(plan)
    papers = tuple(
        (name, aggregate.preview(part, standing, words=words, found=found))
        for name, part in zip(plan.names, plan.parts, strict=True)
    )
    made = previewed(
        KIND,
        plan,
        found,
        standing,
        plan.query,
        words=words,
        own=_own(plan, words),
        content=lambda: _content(plan, papers),
    )
    return replace(made, question=words.batch.questions(len(papers)), parts=papers)


def part(paper: Paper, name: str, place: int, many: int) -> Paper:
    """The paper of one answer of a batch, which says so."""
    said = paper.words.batch.part(name, place, many)
    return replace(
        paper,
        facts=(("batch", said), *paper.facts),
        notes=(said, *paper.notes),
        to_dict=lambda: paper.to_dict() | {"batch": {"name": name, "place": place, "of": many}},
    )


def shared(plan: BatchPlan) -> int:
    """The number of measurements that serve several questions."""
    used = [id(each) for part in plan.parts for each in part.measurements]
    return sum(used.count(one) > 1 for one in set(used))


def _own(plan: BatchPlan, words: Words) -> Facts:
    return (
        ("measured", words.batch.measured(len(plan.measurements), shared(plan))),
        ("outright", words.aggregate.exposure(cast("AggregatePlan", plan))),
        ("error", words.batch.error()),
    )


def _content(plan: BatchPlan, papers: tuple[tuple[str, Paper], ...]) -> dict[str, Any]:
    return {
        "caps": {name: caps_content(part.query) for name, part in zip(plan.names, plan.parts, strict=True)},
        "measurements": {"number": len(plan.measurements), "shared": shared(plan)},
        "answers": [
            {"name": name} | {key: value for key, value in paper.to_dict().items() if key not in ENVELOPE}
            for name, paper in papers
        ],
    }


def _sections(
    plan: BatchPlan, found: Headline, papers: tuple[tuple[str, Paper], ...], words: Words
) -> tuple[Section, ...]:
    say = words.aggregate
    moments = isinstance(plan.price, ZeroConcentratedDP | ApproximateZeroConcentratedDP)
    tail = words.notation(cast("Kept", found.promise)) if moments else words.numerals(at_most(plan.finite_tail()))
    exposed = say.exposure(cast("AggregatePlan", plan))
    mass = words.numerals(at_most(plan.infinite_mass()))
    return (
        Section(
            "How the promise could fail",
            level=Level.PROMISE,
            cards=(
                Card(words.label("Exposed outright"), mass, exposed),
                Card(words.label("The finite tail"), tail, say.tail(plan)),
            ),
        ),
        *(section for name, paper in papers for section in _part_sections(name, paper, words)),
    )


def _part_sections(name: str, paper: Paper, words: Words) -> Iterator[Section]:
    """What the page of one answer says beyond the promise, under the name of the answer."""
    for section in paper.sections():
        if section.level is not Level.PROMISE:
            yield replace(section, heading=words.batch.under(name, words.label(section.heading)))
