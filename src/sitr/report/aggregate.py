"""Answers to aggregate questions: the rows with their errors, and everything needed to verify them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from sitr.accounting.filter import Filter
from sitr.flavors.approximate_zero_concentrated import ApproximateZeroConcentratedDP
from sitr.flavors.arrows import Kept
from sitr.flavors.gaussian import GaussianDP
from sitr.flavors.zero_concentrated import ZeroConcentratedDP
from sitr.ledger.receipt import Receipt
from sitr.mechanisms.additive import Noise
from sitr.namespace import Later
from sitr.plans.plan import Measurement
from sitr.questions.aggregate.clamping import clampings
from sitr.questions.aggregate.left_out import beyond_groups, left_out
from sitr.questions.aggregate.plan import AggregatePlan, NoisyTerm, Shown
from sitr.questions.aggregate.release import Release
from sitr.questions.aggregate.split import Targets, Weights
from sitr.questions.aggregate.targeted import met
from sitr.report.aggregate_bias import bias_before, bias_of, second_cap
from sitr.report.column_errors import error_of, error_sentence, heading, largest_error
from sitr.report.figures import CONFIDENCE, about, at_most, step, visible
from sitr.report.headline import Headline, headline
from sitr.report.level import Level
from sitr.report.paper import Card, Facts, Paper, PaperColumn, PaperTable, Role, Section, answered, previewed
from sitr.report.words.measured import ends
from sitr.report.words.words import Words, in_words

if TYPE_CHECKING:
    from sitr.report import aggregate_content as contents
    from sitr.report import aggregate_rows as texts
    from sitr.report.chart import aggregate as drawing
else:  # a preview draws nothing, has no rows, and is seldom JSON
    contents = Later("sitr.report.aggregate_content")
    drawing = Later("sitr.report.chart.aggregate")
    texts = Later("sitr.report.aggregate_rows")

KIND = "answer"

BRIEF = 16
"""The number of bars of a chart that fits on a printed page."""


def answer(release: Release, receipt: Receipt, *, words: Words | None = None, found: Headline | None = None) -> Paper:
    """The paper of an answer. Its JSON is the envelope, and

    ================  ==================================================================================================
    protected         `unit` ("person" or "row"), `column`, `relation`
    caps              `max_groups`, `max_rows_per_group` of one unit, and `max_rows` in all or null
    keys              `columns`, `known`, those that are `selected` by their number of people, whether there is a row
                      for all `other` keys, and for unknown keys the `threshold`: `least`, `noise` (null for the
                      optimal selection, which has neither), the number of `people` with which a key is shown at
                      `confidence`, `promise`
    columns           `name`, `aggregate`, the largest `error` at `confidence`, rounded up, or null if it has no limit,
                      what it is in (`error_in`: "value" or "ranks"), and what is known of the `bias`, which it does not
                      include ("none", "measured" or "not measured"); `error_at`, the largest `error` where the
                      noisy count is at least `rows`, or null if the count does not matter; and what is `measured` for
                      it: for each measurement its `name`, `noise`, `sensitivity` (`l1`, `l2_squared`, `largest`, in
                      granules), `granularity` and `clamp` (`low`, `high`) or null; a measurement of two columns is paid
                      once. A quantile has no noise and no sensitivity, but a `choice`: `rate`, `level`, `offset`,
                      `rows` and `groups` of one unit, its `total` of rows or null, and its `promise`
    shares            null, or how the question divides its price: the share of each column (`weights`), or `targets`:
                      `name`, `target`, `error` and whether it is `met`, for groups of `rows` rows
    selection         null, or if noisy numbers selected or sorted the rows, the number of measured `cells`: all
                      intervals of all of them hold together
    rows              `key` (null is NULL), `other` in a row for all other keys, and for each column `value` (null is
                      NULL), `low`, `high` (null is no limit); dates are text
    bias              whether it is `possible`, the `share` of the price that measures it, and what was `left_out`: for
                      each reason the share of people in each row, in `groups` ("each", or "all" together), and whether
                      it `tells` anything: its interval is not wider than half of all people; `beyond_groups`; and
                      null or the number of `rows` that were left out, `counting_up_to` this many of each unit
    words             the sentences of the page
    ================  ==================================================================================================

    A noise has a `mechanism`, a `parameter` ("scale" or "sigma"), its `sensitivity`, both in granules, and its
    `promise`. Fractions have an `exact` text and the nearest `float`. The headline that was `found` for a batch stands
    for that of one of its answers.
    """
    words, plan = in_words(words), release.plan
    say, found = words.aggregate, found or headline(plan)
    rows, people = release.rows, beyond_groups(release)
    shown = [(column, release.estimates(column, confidence=CONFIDENCE)) for column in plan.columns]
    limited = [(column, [one for one in some if one.limited]) for column, some in shown]
    left = left_out(release, rows=()) if rows else []
    rounded = any(texts.rounded(column, some) for column, some in limited)
    error, bias = error_sentence(plan, words, cells=len(release.keys)), bias_of(plan, people, words)
    digits = words.digits() if rounded else ""
    empty = "" if rows else say.none_left(len(release.keys)) if release.keys else say.empty(plan)
    return answered(
        KIND,
        plan,
        found,
        receipt,
        plan.query,
        words=words,
        own=(
            ("outright", say.exposure(plan)),
            ("error", error),
            ("bias", bias),
            *_split(plan, words),
            *((("digits", digits),) if digits else ()),
        ),
        content=lambda: (
            contents.content(plan, found, cells=len(release.keys))
            | {"rows": contents.row_contents(release), "bias": contents.bias_content(release, people)}
        ),
        sections=lambda: _sections(plan, found, words, cells=len(release.keys)),
        title="Privacy certificate",
        card=(
            ("released", say.released(release)),
            (
                "noise",
                say.error_of(
                    [
                        (column.name, largest_error(column, some, plan, words, cells=len(release.keys)))
                        for column, some in shown
                    ],
                    unmeasured=plan.query.unmeasured,
                ),
            ),
        ),
        value=empty,
        table=texts.answer_table(release, left, words) if rows else None,
        picture=lambda: drawing.chart(release, words=words),
        brief=lambda: drawing.chart(release, words=words, most=max(3, BRIEF // len(plan.columns))),
        notes=tuple(filter(None, (error, bias, digits))),
        caps=say.contribution(plan.query),
    )


def preview(
    plan: AggregatePlan, standing: Filter, *, words: Words | None = None, found: Headline | None = None
) -> Paper:
    """The paper of a preview: its columns instead of the rows.

    Its JSON has no rows and no bias, but `clamping`: for each sum (`column`), `by_row` and `by_person`, each with its
    `sql` and its largest `error`.
    """
    words = in_words(words)
    say, found = words.aggregate, found or headline(plan)
    own: Facts = (
        ("keys", say.shown_keys(plan)),
        ("caps", say.contribution(plan.query)),
        ("outright", say.exposure(plan)),
        ("error", error_sentence(plan, words, cells=plan.query.cells, before=True)),
        ("bias", bias_before(plan, words)),
        *(("clamping", say.clamping(each)) for each in clampings(plan)),
        *_split(plan, words),
    )
    table = _columns(plan, words)
    return previewed(
        KIND,
        plan,
        found,
        standing,
        plan.query,
        words=words,
        own=own,
        content=lambda: contents.content(plan, found) | contents.clamping(plan),
        table=table,
    )


def errors(plan: AggregatePlan, words: Words) -> Facts:
    """The error of each column, in words."""
    return tuple((heading(column.name, plan, words), error_of(column, plan, words)) for column in plan.columns)


def error_contents(plan: AggregatePlan) -> list[dict[str, Any]]:
    """The error of each column, for machines."""
    return contents.error_contents(plan)


def _split(plan: AggregatePlan, words: Words) -> Facts:
    """How the question divides its price, if it says so."""
    match plan.query.split:
        case Weights() as weights:
            return (("shares", words.aggregate.weights(contents.weighted(plan, weights))),)
        case Targets(rows=rows):
            return (("shares", words.aggregate.targets(met(plan), rows)),)
    return ()


def _columns(plan: AggregatePlan, words: Words) -> PaperTable:
    headings = (
        PaperColumn(words.label("column"), Role.KEY),
        PaperColumn(words.label("what")),
        PaperColumn(words.label("noise")),
        PaperColumn(words.aggregate.moved(plan.query), Role.NUMBER),
        PaperColumn(words.label("95% error"), Role.NUMBER),
    )
    rows = [
        (
            heading(column.name, plan, words),
            column.sql,
            words.several(_law(each, words) for each in column.measured),
            words.numerals(words.several(_moved(each, words) for each in column.measured)),
            error_of(column, plan, words),
        )
        for column in plan.columns
    ]
    return PaperTable(headings, lambda: rows, len(rows))


def _sections(plan: AggregatePlan, headline: Headline, words: Words, *, cells: int) -> tuple[Section, ...]:
    say, query = words.aggregate, plan.query
    moments = isinstance(plan.price, ZeroConcentratedDP | ApproximateZeroConcentratedDP | GaussianDP)
    tail = words.notation(cast("Kept", headline.promise)) if moments else words.numerals(at_most(plan.finite_tail()))
    sizes = [(each.measurement.name, _size(each)) for each in plan.first]
    if plan.beyond is not None:
        sizes.append((say.beyond_groups(query), _exact_size(plan.beyond)))
    if plan.lost is not None:
        sizes.append((say.lost_rows(second_cap(plan), query), _exact_size(plan.lost)))
    return (
        Section(
            "How the promise could fail",
            level=Level.PROMISE,
            cards=(
                Card(
                    words.label("Exposed outright"), words.numerals(at_most(plan.infinite_mass())), say.exposure(plan)
                ),
                Card(words.label("The finite tail"), tail, say.tail(plan)),
            ),
        ),
        Section(
            "How each number was made",
            cards=tuple(Card(column.name, facts=_made(column, plan, words, cells)) for column in plan.columns),
            notes=(say.shown_keys(plan),),
        ),
        Section("Assumed public knowledge", items=say.public(query), level=Level.DATA),
        Section(
            "How to check this",
            sentences=(say.checking(query),),
            items=say.checks(plan, headline),
            notes=(say.exact_sizes(sizes),),
        ),
    )


def _made(column: Shown, plan: AggregatePlan, words: Words, cells: int) -> Facts:
    measured = [fact for each in column.measured for fact in _measured(each, column, plan, words)]
    return (("computed", visible(column.sql)), *measured, ("95% error", error_of(column, plan, words, cells=cells)))


def _measured(each: NoisyTerm, column: Shown, plan: AggregatePlan, words: Words) -> Facts:
    say, choice = words.aggregate, each.choice
    return (
        *((("measured", visible(each.term.name)),) if each.term.name != column.sql else ()),
        *((("clamped to", words.interval(*ends(each.term))),) if each.term.quantised is not None else ()),
        ("granule", words.numerals(step(each.granularity))),
        ("noise", say.in_granules(words.noise(each.noise)) if choice is None else words.ranks.choice(choice)),
        (
            "sensitivity",
            say.sensitivity(each.distance, plan.query)
            if choice is None
            else words.ranks.sensitivity(choice, plan.query),
        ),
    )


def _law(each: NoisyTerm, words: Words) -> str:
    if each.choice is not None:
        return words.ranks.choice(each.choice)
    return words.noise(each.noise, granularity=each.granularity)


def _moved(each: NoisyTerm, words: Words) -> str:
    return words.ranks.moved(each.choice) if each.choice else about(each.distance.largest * each.granularity)


def _size(each: NoisyTerm) -> str:
    return f"λ = {each.choice.rate}" if each.choice else f"{each.noise.symbol} = {each.noise.size}"


def _exact_size(each: Measurement) -> str:
    assert isinstance(each.mechanism, Noise)
    return f"{each.mechanism.symbol} = {each.mechanism.size}"
