"""Histograms: counts by cell with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from sitr.accounting.filter import Filter
from sitr.dataset.cells import Grid
from sitr.ledger.receipt import Receipt
from sitr.questions.aggregate.functions.function import Estimate
from sitr.questions.histogram.counts import Histogram
from sitr.questions.histogram.fit import HistogramPlan
from sitr.report.aggregate_content import caps_content
from sitr.report.chart.histogram import chart, figures
from sitr.report.figures import CONFIDENCE, AllDigits, Figures, Rounded
from sitr.report.headline import headline
from sitr.report.level import Level
from sitr.report.paper import Facts, Paper, PaperColumn, PaperTable, Role, Section, answered, previewed
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.words import Words, in_words

KIND = "histogram"

_BAR = 30
"""The length of the longest bar in characters."""


def answer(histogram: Histogram, receipt: Receipt, *, words: Words | None = None) -> Paper:
    """The paper of a histogram. Its JSON is the envelope, and

    =============  =====================================================================================================
    caps           `max_groups`, `max_rows_per_group` of one unit, and `max_rows` in all or null
    method         the method of measuring the cells
    columns        their names; `shape` is the number of cells of each, null if the categories are not public
    noise          `mechanism`, `size`, `sensitivity` (`l1`, `l2_squared`), `error` at `confidence`, `mean`, the `bias`
                   that the error does not include ("none" or "not measured"), and the root mean square error of
                   `ranges`, null unless the method was chosen for them
    exposed        the mean number of people whom a random promise may expose outright; null for other promises
    total          the public total, or null; `processed` lists the processing of the counts; `stretches` the first
                   cells of joined cells
    cells          `label` by column, `count`, `low` and `high`, both 0 where a cell is known to be empty
    words          the sentences of the page
    =============  =====================================================================================================
    """
    words = in_words(words)
    plan, say = histogram.plan, words.histogram
    processing, filled = say.processing(histogram), len(histogram.counts) > 0
    digits = say.digits() if filled and figures(histogram).rounds else ""
    own: Facts = (
        *_measured(plan, words),
        *((("processing", processing),) if processing else ()),
        ("intervals", say.intervals(histogram)),
        ("bias", words.aggregate.bias(plan.tally.query)),
        *((("digits", digits),) if digits else ()),
    )
    return answered(
        KIND,
        plan,
        headline(plan),
        receipt,
        plan.tally.query,
        words=words,
        own=own,
        content=lambda: _content(plan) | _cells(histogram),
        sections=lambda: (
            Section(
                "How the cells were measured", sentences=tuple(filter(None, (say.measured(plan), say.outside(plan))))
            ),
            Section("The noise", sentences=tuple(filter(None, (say.noise(plan), say.ranges(plan))))),
            *((Section("Processing", sentences=(processing,)),) if processing else ()),
            Section("What the intervals mean", sentences=(say.intervals(histogram),)),
            Section("How the promise could fail", sentences=(say.exposure(plan),), level=Level.PROMISE),
            Section("Assumed public knowledge", items=say.public(plan), level=Level.DATA),
        ),
        title="Private histogram",
        card=(("released", say.released(histogram)), ("noise", say.error(plan))),
        value="" if filled else say.empty(plan),
        table=_table(histogram, words) if filled else None,
        picture=lambda: chart(histogram, words=words),
        caps=words.aggregate.contribution(plan.tally.query),
    )


def preview(plan: HistogramPlan, standing: Filter, *, words: Words | None = None) -> Paper:
    """The paper of a preview: the same without counts."""
    words = in_words(words)
    query = plan.tally.query
    own: Facts = (
        ("caps", words.aggregate.contribution(query)),
        *_measured(plan, words),
        ("error", words.histogram.error(plan)),
        ("bias", words.aggregate.bias(query)),
    )
    return previewed(KIND, plan, headline(plan), standing, query, words=words, own=own, content=lambda: _content(plan))


def errors(plan: HistogramPlan, words: Words) -> Facts:
    """The error of a measured count, in words."""
    far = plan.error(confidence=CONFIDENCE)
    figures = Figures.fitting(Fraction(far), step=Fraction(1) if plan.prefixes is None else None)
    return ((_count(plan, words), words.numerals(f"± {figures.error(Fraction(far))}")),)


def _count(plan: HistogramPlan, words: Words) -> str:
    """The heading of the counts, which says so if caps can leave rows out: how many is not measured."""
    name = words.label("count")
    return words.aggregate.unmeasured(name) if plan.tally.query.unmeasured else name


def error_contents(plan: HistogramPlan) -> list[dict[str, Any]]:
    """The error of a measured count, for machines."""
    return [{"name": "count", "error": float(plan.error(confidence=CONFIDENCE))}]


def _measured(plan: HistogramPlan, words: Words) -> Facts:
    say = words.histogram
    outside, ranges = say.outside(plan), say.ranges(plan)
    return (
        ("outright", say.exposure(plan)),
        ("measured", say.measured(plan)),
        *((("outside", outside),) if outside else ()),
        ("noise", say.noise(plan)),
        *((("ranges", ranges),) if ranges else ()),
    )


def _table(histogram: Histogram, words: Words) -> PaperTable:
    columns = (
        *(PaperColumn(axis.column.name, Role.KEY) for axis in histogram.grid.axes),
        PaperColumn(_count(histogram.plan, words), Role.NUMBER),
        PaperColumn(words.label("95% interval"), Role.INTERVAL),
        PaperColumn("", Role.BAR),
    )
    return PaperTable(
        columns,
        lambda: _rows(histogram, words),
        len(histogram.counts),
        ruled=False,
        notes=lambda: _notes(histogram, words),
    )


def _rows(histogram: Histogram, words: Words) -> Iterator[tuple[str, ...]]:
    """Label, count, interval, and a bar."""
    low, high = histogram.ends(confidence=CONFIDENCE)
    longest = max(1.0, float(histogram.counts.max(initial=1.0)))
    form = figures(histogram)
    error = form.error(Fraction(histogram.plan.error(confidence=CONFIDENCE)))
    for place, label in enumerate(product(*map(words.histogram.cells, histogram.grid.axes))):
        count, known = float(histogram.counts[place]), histogram.empty is not None and bool(histogram.empty[place])
        bar = _bar(max(0.0, count) / longest)
        if known:
            yield (*label, words.numerals("0"), words.histogram.known_empty(), bar)
            continue
        (shown, interval), (exact, ends) = (
            _written(each, count, float(low[place]), float(high[place]), words) for each in (form, AllDigits())
        )
        hint = f"{exact} ± {words.numerals(error)}" if form.rounds else exact
        yield (*label, Rounded(shown, exact=exact, hint=hint), Rounded(interval, exact=ends), bar)


def _written(form: Figures | AllDigits, count: float, low: float, high: float, words: Words) -> tuple[str, str]:
    """A count and its interval."""
    ended = math.isfinite(high)
    one = Estimate(Fraction(count), Fraction(low), Fraction(high if ended else low))
    return words.numerals(form.value(one)), words.interval(form.low(one), form.high(one) if ended else "∞")


def _notes(histogram: Histogram, words: Words) -> tuple[str, ...]:
    """Why a count is outside its interval, if one is. This reads noisy counts only, so it costs nothing."""
    low, high = histogram.ends(confidence=CONFIDENCE)
    out = (histogram.counts < low) | (histogram.counts > high)
    return (words.histogram.out(histogram),) if bool(out.any()) else ()


def labels(grid: Grid) -> Iterator[tuple[str, ...]]:
    """The labels of all cells, part by part, for machines."""
    return product(*([cell.label for cell in axis.cells()] for axis in grid.axes))


def _bar(share: float) -> str:
    """A bar in eighths of a character."""
    eighths = round(share * _BAR * 8)
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def _cells(histogram: Histogram) -> dict[str, Any]:
    low, high = histogram.ends(confidence=CONFIDENCE)
    rows = zip(labels(histogram.grid), histogram.counts.tolist(), low.tolist(), high.tolist(), strict=True)
    return {
        "shape": list(histogram.grid.shape),
        "total": histogram.total,
        "processed": list(histogram.processed),
        "stretches": None if histogram.starts is None else histogram.starts.tolist(),
        "cells": [
            {"label": list(label), "count": n, "low": a, "high": None if math.isinf(b) else b}
            for label, n, a, b in rows
        ],
    }


def _content(plan: HistogramPlan) -> dict[str, Any]:
    say, grid = ENGLISH.histogram, plan.tally.grid
    return {
        "caps": caps_content(plan.tally.query),
        "method": type(plan.method).__name__.lower(),
        "columns": [each.name for each in (plan.tally.query.keys if grid is None else (a.column for a in grid.axes))],
        "shape": None if grid is None else list(grid.shape),
        "noise": {
            **_law(plan),
            "sensitivity": {"l1": plan.distance.l1, "l2_squared": plan.distance.l2_squared},
            "error": float(plan.error(confidence=CONFIDENCE)),
            "ranges": None if plan.for_ranges is None else plan.range_deviation(),
            "mean": plan.mean_noise(),
            "confidence": float(CONFIDENCE),
            "bias": "not measured" if plan.tally.query.unmeasured else "none",
        },
        "exposed": None if plan.sparse is None else plan.sparse.exposed(),
        "words": {
            "measured": say.measured(plan),
            "noise": say.noise(plan),
            "error": say.error(plan),
            "exposure": say.exposure(plan),
        },
    }


def _law(plan: HistogramPlan) -> dict[str, str]:
    if plan.prefixes is not None:
        return {"mechanism": "prefix Gaussian", "size": str(plan.prefixes.sigma)}
    return {"mechanism": plan.noise.law, "size": str(plan.noise.size)}
