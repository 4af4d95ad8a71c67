"""A histogram for people and for machines: bars in the terminal, a page, and a dictionary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from itertools import islice, product
from typing import Any

import numpy as np
import pyarrow as pa
from markupsafe import Markup
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sitr.accounting.filter import Filter
from sitr.dataset.cells import Categories, Grid
from sitr.errors import BudgetExceeded
from sitr.flavors.arrows import Kept
from sitr.flavors.notation import write
from sitr.flavors.random import RandomDP
from sitr.mechanisms.laplace import Laplace
from sitr.neighbors.relation import Relation
from sitr.questions.histogram.counts import Histogram
from sitr.questions.histogram.fit import Bins, Buckets, Flat, Plan, Sparse, Tree, Unlisted
from sitr.report import histogram_chart, html
from sitr.report.english import ENGLISH
from sitr.report.figures import CONFIDENCE, about, at_most, chance, counted, number, visible
from sitr.report.headline import of_histogram
from sitr.report.text import MOST_ROWS, facts, promised
from sitr.report.words import notation

_BAR = 30
"""How many characters the longest bar has."""


@dataclass(frozen=True, slots=True)
class Record:
    """A histogram, its charge in the flavor of the budget, whose it is, where it stands in the ledger, and the budget
    after it."""

    histogram: Histogram
    charge: Kept
    dataset: str
    neighbors: str
    entry: int
    at: datetime
    by: str
    version: str
    budget: Filter


def labels(grid: Grid, *, most: int | None = None) -> list[tuple[str, ...]]:
    """The label of each cell, part by part, or those of the first cells."""
    return list(islice(product(*([cell.label for cell in axis.cells()] for axis in grid.axes)), most))


def as_table(histogram: Histogram, *, confidence: float = 0.95) -> pa.Table:
    """One row for each cell: its label by column, the ends of ranges, the count and its interval."""
    columns: dict[str, pa.Array] = {}
    for place, axis in enumerate(histogram.grid.axes):
        cells, name = list(axis.cells()), axis.column.name
        index = np.indices(histogram.grid.shape)[place].ravel()
        columns[name] = pa.array([cell.label for cell in cells], pa.string()).take(pa.array(index))
        if not isinstance(axis, Categories):
            for end, ends in (
                ("from", [_end(cell.low) for cell in cells]),
                ("to", [_end(cell.high) for cell in cells]),
            ):
                columns[f"{name}_{end}"] = pa.array(ends).take(pa.array(index))
    low, high = histogram.intervals(confidence=confidence)
    columns |= {"count": pa.array(histogram.counts), "count_low": pa.array(low), "count_high": pa.array(high)}
    return pa.table(columns)


def to_dict(record: Record) -> dict[str, Any]:
    """Everything the page shows, ready for JSON: `cells` have a `label` by column, `count`, `low` and `high`, both 0
    where a cell is known to be empty."""
    histogram, budget = record.histogram, record.budget
    low, high = histogram.intervals(confidence=CONFIDENCE)
    rows = zip(labels(histogram.grid), histogram.counts.tolist(), low.tolist(), high.tolist(), strict=True)
    return {
        "kind": "histogram",
        "dataset": record.dataset,
        "neighbors": record.neighbors,
        "entry": record.entry,
        "at": record.at.isoformat(),
        "by": record.by,
        "version": record.version,
        "private": histogram.private,
        **_plan(histogram.plan),
        "total": histogram.total,
        "processed": list(histogram.processed),
        "stretches": None if histogram.starts is None else histogram.starts.tolist(),
        "cells": [{"label": list(label), "count": n, "low": a, "high": _finite(b)} for label, n, a, b in rows],
        "budget": {
            "promise": write(budget.promise),
            "charge": write(record.charge),
            "remaining": write(budget.remaining()),
        },
    }


def preview_dict(plan: Plan, budget: Filter) -> dict[str, Any]:
    """The same for a plan that was not carried out."""
    after = after_paying(plan, budget)
    return {
        "kind": "histogram preview",
        **_plan(plan),
        "budget": {
            "promise": write(budget.promise),
            "charge": write(budget.charge(plan.price)),
            "remaining": write(budget.remaining()),
            "after": after and write(after.remaining()),
        },
    }


def after_paying(plan: Plan, budget: Filter) -> Filter | None:
    """The budget after this plan, None if it cannot pay."""
    try:
        return budget.consent(plan.price)
    except BudgetExceeded:
        return None


def answer(record: Record, *, most: int | None = MOST_ROWS) -> RenderableType:
    """Bars with their intervals, what they promise and what they cost; without `most`, all cells."""
    histogram, plan = record.histogram, record.histogram.plan
    size = len(histogram.counts)
    shown = size if most is None else min(most, size)
    band = () if histogram.private else (Text(ENGLISH.not_private(), style="bold white on red"),)
    cut = (Text(ENGLISH.more(shown, size)),) if shown < size else ()
    return Group(
        *band,
        _bars(histogram, shown) if size else Text(_nothing(plan)),
        *cut,
        facts(
            *promised(of_histogram(plan), plan.tally.query),
            *_random(plan, record.budget),
            ("outright", exposure(plan)),
            ("measured", measured(plan)),
            ("noise", noise(plan)),
            *(
                (("after that", f"{'; '.join(histogram.processed)}. This costs nothing."),)
                if histogram.processed
                else ()
            ),
            ("intervals", intervals(histogram)),
            ("charged", notation(record.charge)),
            ("left", f"{notation(record.budget.remaining(), left=True)} of {notation(record.budget.promise)}"),
            ("entry", f"{record.entry}, {visible(record.dataset)}, {record.at:%Y-%m-%d %H:%M:%S} UTC"),
        ),
    )


def preview(plan: Plan, budget: Filter) -> RenderableType:
    """What a histogram would cost and how far off it would be; `budget` is the filter as it stands."""
    after = after_paying(plan, budget)
    return Group(
        Text(visible(plan.spelled()), style="italic"),
        facts(
            ("price", notation(plan.price)),
            *promised(of_histogram(plan), plan.tally.query),
            *_random(plan, budget),
            ("caps", ENGLISH.contribution(plan.tally.query)),
            ("outright", exposure(plan)),
            ("measured", measured(plan)),
            ("noise", noise(plan)),
            ("error", expected(plan)),
            ("left now", notation(budget.remaining(), left=True)),
            ("left then", notation(after.remaining(), left=True) if after else "the budget cannot pay this"),
        ),
    )


def fragment(histogram: Histogram) -> str:
    """For a notebook: the picture, below a warning if it protects nobody."""
    band = Markup("") if histogram.private else Markup("<p><strong>{}</strong></p>").format(ENGLISH.not_private())
    return band + Markup(histogram_chart.chart(histogram))


def page(record: Record) -> str:
    """A page that opens anywhere, without a network, for years."""
    histogram, plan = record.histogram, record.histogram.plan
    return html.rendered(
        "histogram.html",
        record=record,
        histogram=histogram,
        plan=plan,
        headline=of_histogram(plan),
        rows=_rows(histogram, html.MOST_ROWS),
        names=[axis.column.name for axis in histogram.grid.axes],
        chart=Markup(histogram_chart.chart(histogram)),
        told=[
            *[("The budget has a γ", sentence) for _, sentence in _random(plan, record.budget)],
            ("How the cells were measured", measured(plan)),
            ("The noise", f"{noise(plan)} {exposure(plan)}"),
            (
                "After that",
                f"{'; '.join(histogram.processed) or 'Nothing'}. Nothing done to noisy counts costs anything.",
            ),
            ("What the intervals say", intervals(histogram)),
            ("Who is protected", f"{ENGLISH.protected(plan.tally.query)} {ENGLISH.contribution(plan.tally.query)}"),
        ],
        charge=notation(record.charge),
        left=notation(record.budget.remaining(), left=True),
    )


# Sentences


def _random(plan: Plan, budget: Filter) -> list[tuple[str, str]]:
    """What a budget with a γ keeps, if the meaning of the promise does not say it already."""
    told = isinstance(plan.promise(), RandomDP) or not isinstance(budget.promise, RandomDP)
    return [] if told else [("random", ENGLISH.newcomer(budget.promise))]


def measured(plan: Plan) -> str:
    """How the cells were measured."""
    match plan.method:
        case Flat():
            return f"Each of {counted(plan.grid.size, 'public cell')} gets noise of its own, empty ones too."
        case Sparse():
            cells = counted(plan.grid.size, "public cell")
            if plan.sparse is None:
                return f"Each of {cells} gets noise of its own, empty ones too: γ is too small for anything else."
            return f"Only cells with people get noise. Of {cells}, those without are told, and are exactly 0."
        case Tree():
            tree = plan.hierarchy
            assert tree is not None
            levels = " and ".join(number(size) for size in tree.sizes)
            return f"A tree of sums over {levels} stretches of cells, made to agree by least squares."
        case Buckets(share):
            return (
                f"{_percent(share)} of the price chose which neighbouring cells to join; a sum is spread evenly over "
                "the cells that were joined."
            )
        case Bins(candidates, share):
            listed = ", ".join(map(number, candidates))
            return f"{_percent(share)} of the price is for the choice of a number of bins among {listed}."
        case Unlisted():
            least = plan.threshold.least if plan.threshold is not None else 0
            return (
                "The categories were not public. One is shown if its number of "
                f"{ENGLISH.unit(plan.tally.query)}s, with noise, is at least {number(least)}; the others are left out."
            )


def noise(plan: Plan) -> str:
    """The law, and what it is fitted to."""
    far = plan.distance
    moved = f"{number(far.l1)} in the sum of sizes" if isinstance(plan.noise, Laplace) else f"√{number(far.l2_squared)}"
    what = "replacing" if plan.tally.query.relation is Relation.REPLACE_ONE else "adding or removing"
    unit = ENGLISH.unit(plan.tally.query)
    law = ENGLISH.noise(plan.noise)
    return f"{law[0].upper()}{law[1:]}: {what} one {unit} moves all of it together by at most {moved}."


def expected(plan: Plan) -> str:
    """How far off a count will be: from the law of the noise alone."""
    far = plan.noise.error(confidence=CONFIDENCE)
    once = f"Each measured number is within ± {number(far)} of the exact one with 95% probability, by itself"
    return f"{once}, and off by {about(plan.mean_noise(), digits=3)} on average."


def exposure(plan: Plan) -> str:
    """P(L = +∞); of a random promise, how many people it may be in the fraction γ."""
    if plan.sparse is not None:
        return (
            "Whoever is alone in a cell is exposed outright: everybody sees that somebody is there. That is at most "
            f"{at_most(plan.sparse.exposed())} people on average, in the worst population."
        )
    mass = plan.infinite_mass()
    if mass == 0.0:
        return "Nobody can be exposed outright: no possible answer rules a person in or out for certain."
    return (
        f"With probability at most {at_most(mass)} ({chance(mass)}) a category that only one "
        f"{ENGLISH.unit(plan.tally.query)} has passes the threshold by chance and is shown."
    )


def intervals(histogram: Histogram) -> str:
    """What is true of them, and what is not."""
    once = "With 95% probability, for each cell by itself, the exact count (caps applied) lies in its interval."
    if histogram.starts is not None:
        once += " In a joined cell it may be anything up to the whole sum."
    if histogram.empty is not None:
        once += " A cell that is exactly 0 has none: nobody is there."
    if histogram.plan.threshold is not None:
        once += " That is before it is known whether a category is shown: those near the threshold look larger."
    if histogram.processed:
        once += " It comes from the noise before what was done after that: a count may now lie outside of its own."
    return once


def _nothing(plan: Plan) -> str:
    least = plan.threshold.least if plan.threshold is not None else 0
    return f"No category reached the threshold of {number(least)}. It does not mean that the data are empty."


def _percent(share: Fraction) -> str:
    return f"{about(Fraction(share) * 100, digits=3)}%"


# Rows


def _rows(histogram: Histogram, most: int) -> list[tuple[tuple[str, ...], str, str, float]]:
    """Label, count, interval, and the length of the bar as a share of the longest."""
    low, high = histogram.intervals(confidence=CONFIDENCE)
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
    """In eighths of a character."""
    eighths = round(share * _BAR * 8)
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def _plan(plan: Plan) -> dict[str, Any]:
    size = plan.noise.scale if isinstance(plan.noise, Laplace) else plan.noise.sigma
    return {
        "question": plan.spelled(),
        "price": write(plan.price),
        "promise": write(plan.promise()),
        "headline": of_histogram(plan).to_dict(),
        "method": type(plan.method).__name__.lower(),
        "columns": [key.name for key in plan.tally.query.keys]
        if plan.tally.grid is None
        else [axis.column.name for axis in plan.grid.axes],
        "shape": None if plan.tally.grid is None else list(plan.grid.shape),
        "noise": {
            "mechanism": "discrete Laplace" if isinstance(plan.noise, Laplace) else "discrete Gaussian",
            "size": str(size),
            "sensitivity": {"l1": plan.distance.l1, "l2_squared": plan.distance.l2_squared},
            "error": float(plan.noise.error(confidence=CONFIDENCE)),
            "mean": plan.mean_noise(),
            "confidence": float(CONFIDENCE),
        },
        "infinite_mass": plan.infinite_mass(),
        "exposed": None if plan.sparse is None else plan.sparse.exposed(),
        "words": {
            "measured": measured(plan),
            "noise": noise(plan),
            "error": expected(plan),
            "exposure": exposure(plan),
        },
    }


def _end(end: Fraction | date | None) -> float | date | None:
    return float(end) if isinstance(end, Fraction) else end


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value
