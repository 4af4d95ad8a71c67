"""A histogram on a terminal, as a page, and as JSON."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice, product
from typing import Any

from markupsafe import Markup
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sitr.accounting.filter import Filter
from sitr.dataset.cells import Grid
from sitr.flavors.random import RandomDP
from sitr.ledger.receipt import Receipt
from sitr.neighbors.relation import Relation
from sitr.questions.histogram.counts import Histogram
from sitr.questions.histogram.fit import HistogramPlan
from sitr.questions.histogram.methods import Bins, Buckets, Flat, Sparse, Tree, Unlisted
from sitr.report import envelope
from sitr.report.chart import histogram as histogram_chart
from sitr.report.figures import CONFIDENCE, about, at_most, chance, counted, number, visible
from sitr.report.headline import headline
from sitr.report.page import html
from sitr.report.text.terminal import MOST_ROWS, entry, facts, left, promised
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.notation import notation

_BAR = 30
"""The length of the longest bar in characters."""


def labels(grid: Grid, *, most: int | None = None) -> list[tuple[str, ...]]:
    """The labels of all cells, or of the first `most` cells, part by part."""
    return list(islice(product(*([cell.label for cell in axis.cells()] for axis in grid.axes)), most))


def to_dict(histogram: Histogram, receipt: Receipt) -> dict[str, Any]:
    """Everything on the certificate, ready for JSON: the envelope, and

    =============  =====================================================================================================
    method         the method of measuring the cells
    columns        their names; `shape` is the number of cells of each, null if the categories are not public
    noise          `mechanism`, `size`, `sensitivity` (`l1`, `l2_squared`), `error` at `confidence`, `mean`
    exposed        the mean number of people whom a random promise may expose outright; null for other promises
    total          the public total, or null; `processed` lists the processing of the counts; `stretches` the first
                   cells of joined cells
    cells          `label` by column, `count`, `low` and `high`, both 0 where a cell is known to be empty
    words          the sentences of the page
    =============  =====================================================================================================
    """
    low, high = histogram.ends(confidence=CONFIDENCE)
    rows = zip(labels(histogram.grid), histogram.counts.tolist(), low.tolist(), high.tolist(), strict=True)
    return {
        **envelope.of_answer("histogram", histogram.plan, receipt),
        **_plan(histogram.plan),
        "shape": list(histogram.grid.shape),
        "total": histogram.total,
        "processed": list(histogram.processed),
        "stretches": None if histogram.starts is None else histogram.starts.tolist(),
        "cells": [{"label": list(label), "count": n, "low": a, "high": _finite(b)} for label, n, a, b in rows],
    }


def preview_dict(plan: HistogramPlan, standing: Filter) -> dict[str, Any]:
    """The same for a preview, without counts."""
    return envelope.of_preview("histogram", plan, standing) | _plan(plan)


def answer(histogram: Histogram, receipt: Receipt, *, most: int | None = MOST_ROWS) -> RenderableType:
    """Bars with their intervals, their promise and their cost; all cells if `most` is None."""
    plan, size = histogram.plan, len(histogram.counts)
    shown = size if most is None else min(most, size)
    band = () if receipt.private else (Text(ENGLISH.not_private(), style="bold white on red"),)
    cut = (Text(ENGLISH.more(shown, size)),) if shown < size else ()
    processing = f"{'; '.join(histogram.processed)}. This costs nothing."
    return Group(
        *band,
        _bars(histogram, shown) if size else Text(_nothing(plan)),
        *cut,
        facts(
            *promised(headline(plan), plan.tally.query),
            *_random(plan, receipt.standing),
            ("outright", exposure(plan)),
            ("measured", measured(plan)),
            ("noise", noise(plan)),
            *((("processing", processing),) if histogram.processed else ()),
            ("intervals", intervals(histogram)),
            ("charged", notation(receipt.entry.price)),
            *entry(receipt),
        ),
    )


def preview(plan: HistogramPlan, standing: Filter) -> RenderableType:
    """The price of a histogram and its errors."""
    return Group(Text(visible(plan.text), style="italic"), facts(*_preview(plan, standing)))


def preview_fragment(plan: HistogramPlan, standing: Filter) -> str:
    """The same for a notebook."""
    return html.facts(plan.text, _preview(plan, standing))


def _preview(plan: HistogramPlan, standing: Filter) -> tuple[tuple[str, str], ...]:
    return (
        ("price", notation(plan.price)),
        *promised(headline(plan), plan.tally.query),
        *_random(plan, standing),
        ("caps", ENGLISH.contribution(plan.tally.query)),
        ("outright", exposure(plan)),
        ("measured", measured(plan)),
        ("noise", noise(plan)),
        ("error", expected(plan)),
        *left(plan, standing),
    )


def fragment(histogram: Histogram, receipt: Receipt) -> str:
    """The chart for a notebook, below a warning if it protects nobody."""
    band = Markup("") if receipt.private else Markup("<p><strong>{}</strong></p>").format(ENGLISH.not_private())
    return band + Markup(histogram_chart.chart(histogram))


def page(histogram: Histogram, receipt: Receipt) -> str:
    """The certificate as one page that needs no network and no other file."""
    plan = histogram.plan
    return html.render(
        "histogram.html",
        receipt=receipt,
        histogram=histogram,
        plan=plan,
        headline=headline(plan),
        rows=_rows(histogram, html.MOST_ROWS),
        names=[axis.column.name for axis in histogram.grid.axes],
        chart=Markup(histogram_chart.chart(histogram)),
        sections=[
            *[("The γ of the budget", sentence) for _, sentence in _random(plan, receipt.standing)],
            ("How the cells were measured", measured(plan)),
            ("The noise", f"{noise(plan)} {exposure(plan)}"),
            ("Processing", f"{'; '.join(histogram.processed) or 'None'}. Processing noisy counts costs nothing."),
            ("What the intervals mean", intervals(histogram)),
            ("Who is protected", f"{ENGLISH.protected(plan.tally.query)} {ENGLISH.contribution(plan.tally.query)}"),
        ],
    )


# Sentences


def _random(plan: HistogramPlan, standing: Filter) -> list[tuple[str, str]]:
    """The meaning of a budget with a γ, unless the meaning of the promise says it already."""
    said = isinstance(plan.price, RandomDP) or not isinstance(standing.promise, RandomDP)
    return [] if said else [("random", ENGLISH.newcomer(standing.promise))]


def measured(plan: HistogramPlan) -> str:
    """How the cells were measured."""
    match plan.method:
        case Flat():
            return f"Each of {counted(plan.grid.size, 'public cell')} gets its own noise, including empty cells."
        case Sparse():
            cells = counted(plan.grid.size, "public cell")
            if plan.sparse is None:
                return f"Each of {cells} gets its own noise, including empty cells: γ is too small to leave any out."
            return f"Only cells with people get noise. Of {cells}, the empty ones are shown as exactly 0."
        case Tree():
            tree = plan.hierarchy
            assert tree is not None
            levels = " and ".join(number(size) for size in tree.sizes)
            return f"A tree of {levels} sums over neighbouring cells, made consistent by least squares."
        case Buckets(share):
            return (
                f"{_percent(share)} of the price pays for choosing which neighbouring cells to join; each sum is "
                "spread evenly over its cells."
            )
        case Bins(candidates, share):
            listed = ", ".join(map(number, candidates))
            return f"{_percent(share)} of the price pays for choosing the number of bins among {listed}."
        case Unlisted():
            least = plan.threshold.least if plan.threshold is not None else 0
            units = "people" if ENGLISH.unit(plan.tally.query) == "person" else "rows"
            return (
                f"The categories are not public. A category is shown if its number of {units}, with noise, is at least "
                f"{number(least)}; the others are left out."
            )


def noise(plan: HistogramPlan) -> str:
    """The law of the noise, and the sensitivity to which it is fitted."""
    far = plan.distance
    moved = f"√{number(far.l2_squared)} in ℓ₂ norm" if plan.noise.euclidean else f"{number(far.l1)} in ℓ₁ norm"
    what = "replacing" if plan.tally.query.relation is Relation.REPLACE_ONE else "adding or removing"
    unit = ENGLISH.unit(plan.tally.query)
    law = ENGLISH.noise(plan.noise)
    return f"{law[0].upper()}{law[1:]}: {what} one {unit} moves the counts by at most {moved}."


def expected(plan: HistogramPlan) -> str:
    """The error of a count, which depends only on the law of the noise."""
    far = plan.noise.error(confidence=CONFIDENCE)
    once = f"Each measured number, taken alone, is within ± {number(far)} of the exact one with 95% probability"
    return f"{once}, and is off by {about(plan.mean_noise(), digits=3)} on average."


def exposure(plan: HistogramPlan) -> str:
    """P(L = +∞), or the number of people whom a random promise may expose."""
    if plan.sparse is not None:
        return (
            "Anyone who is alone in a cell is exposed outright: everybody sees that somebody is there. This happens to "
            f"at most {at_most(plan.sparse.exposed())} people on average, in the worst population."
        )
    mass = plan.infinite_mass()
    if mass == 0.0:
        return "Nobody can be exposed outright: no possible answer rules a person in or out for certain."
    return (
        f"With probability at most {at_most(mass)} ({chance(mass)}) a category that only one "
        f"{ENGLISH.unit(plan.tally.query)} has passes the threshold by chance and is shown."
    )


def intervals(histogram: Histogram) -> str:
    """What the intervals mean, and what they do not."""
    once = "Each interval, taken alone, contains the exact count (after caps) with 95% probability."
    if histogram.starts is not None:
        once += " The count of a joined cell may be anything up to the whole sum."
    if histogram.empty is not None:
        once += " A cell that is exactly 0 has no interval: nobody is there."
    if histogram.plan.threshold is not None:
        once += " This holds before categories are selected: of those shown, counts near the threshold look larger."
    if histogram.processed:
        once += " Intervals follow from the noise alone, so a processed count may lie outside its interval."
    return once


def _nothing(plan: HistogramPlan) -> str:
    least = plan.threshold.least if plan.threshold is not None else 0
    return f"No category reached the threshold of {number(least)}. This does not mean that the data are empty."


def _percent(share: Fraction) -> str:
    return f"{about(Fraction(share) * 100, digits=3)}%"


# Rows


def _rows(histogram: Histogram, most: int) -> list[tuple[tuple[str, ...], str, str, float]]:
    """Label, count, interval, and the length of the bar relative to the longest."""
    low, high = histogram.ends(confidence=CONFIDENCE)
    longest = max(1.0, float(histogram.counts.max(initial=1.0)))
    found = []
    for place, label in enumerate(labels(histogram.grid, most=most)):
        count, decimals = float(histogram.counts[place]), 0 if histogram.counts[place].is_integer() else 1
        top = "∞" if math.isinf(high[place]) else number(math.ceil(high[place]))
        share = max(0.0, count) / longest
        shown = tuple(visible(part) for part in label)
        known = histogram.empty is not None and bool(histogram.empty[place])
        interval = "exactly 0" if known else f"{number(math.floor(low[place]))} to {top}"
        found.append((shown, number(count, decimals=decimals), interval, share))
    return found


def _bars(histogram: Histogram, shown: int) -> Table:
    table = Table(box=None, show_edge=False, pad_edge=False, header_style="dim")
    for axis in histogram.grid.axes:
        table.add_column(Text(visible(axis.column.name)))
    table.add_column("count", justify="right")
    table.add_column("95% interval", justify="right")
    table.add_column("", no_wrap=True)
    for label, count, interval, share in _rows(histogram, shown):
        table.add_row(*map(Text, label), count, interval, Text(_bar(share), style="blue"))
    return table


def _bar(share: float) -> str:
    """A bar in eighths of a character."""
    eighths = round(share * _BAR * 8)
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def _plan(plan: HistogramPlan) -> dict[str, Any]:
    return {
        "method": type(plan.method).__name__.lower(),
        "columns": [key.name for key in plan.tally.query.keys]
        if plan.tally.grid is None
        else [axis.column.name for axis in plan.grid.axes],
        "shape": None if plan.tally.grid is None else list(plan.grid.shape),
        "noise": {
            "mechanism": plan.noise.law,
            "size": str(plan.noise.size),
            "sensitivity": {"l1": plan.distance.l1, "l2_squared": plan.distance.l2_squared},
            "error": float(plan.noise.error(confidence=CONFIDENCE)),
            "mean": plan.mean_noise(),
            "confidence": float(CONFIDENCE),
        },
        "exposed": None if plan.sparse is None else plan.sparse.exposed(),
        "words": {
            "measured": measured(plan),
            "noise": noise(plan),
            "error": expected(plan),
            "exposure": exposure(plan),
        },
    }


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value
