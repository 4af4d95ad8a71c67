"""Suggested caps and bounds: what was chosen, whom it covers, which error is expected, and what to write."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.ledger.receipt import Receipt
from sitr.namespace import Later
from sitr.questions.aggregate.nodes import text
from sitr.questions.suggest.choose import Covered, Expected, Found, Suggested, about_kept, chosen
from sitr.questions.suggest.question import SuggestionPlan, SuggestionRelease
from sitr.questions.suggest.spreads import About, Spread
from sitr.report.envelope import promise_dict
from sitr.report.figures import about, percent
from sitr.report.headline import headline
from sitr.report.level import Level
from sitr.report.paper import Facts, Paper, PaperColumn, PaperTable, Role, Section, answered, previewed
from sitr.report.spreads import cell_of, name_of
from sitr.report.words.words import Words, in_words

if TYPE_CHECKING:
    from sitr.report.chart import suggest as drawing
else:  # a preview draws nothing
    drawing = Later("sitr.report.chart.suggest")

KIND = "suggestion"


def answer(release: SuggestionRelease, receipt: Receipt, *, words: Words | None = None) -> Paper:
    """The paper of a suggestion. Its JSON is the envelope, and

    ================  ==================================================================================================
    for               the `question` and the `price` that the suggestion is for
    options           `max_groups`, `max_rows_per_group` and `bounds` by column, or null where noise hides everybody
    covered           by histogram, the `share` of people that is not cut or clamped, and its `error`
    expected          for each measured number its `size` in a cell, its `noise` (95% error) and its `bias`
    about_kept_rows   the columns for which rows that the caps cut were no error, such as means
    histograms        by name, the cells with their numbers of `people`, and the 95% `error` of these
    ================  ==================================================================================================
    """
    words, plan, found = in_words(words), release.plan, chosen(release)
    say, kept = words.suggest, _about_kept(found, plan)
    unseen = say.error(_least(release))
    why = (say.about_kept(kept),) if kept else ()
    return answered(
        KIND,
        plan,
        headline(plan),
        receipt,
        plan.query,
        words=words,
        first=_facts(found, plan, words),
        own=(("error", unseen),),
        content=lambda: _content(found, release),
        sections=lambda: histogram_sections(release, words),
        title="Privacy certificate",
        card=(("released", say.released(text(plan.target.query))), ("noise", unseen)),
        value=say.chosen(found.max_groups, found.max_rows_per_group) if found.expected else say.hidden(),
        table=_table(found, words) if found.expected else None,
        picture=lambda: drawing.chart(release, words=words),
        notes=(*why, unseen),
        caps=say.one_cell(),
    )


def preview(plan: SuggestionPlan, standing: Filter, *, words: Words | None = None) -> Paper:
    """The paper of a preview: the histograms that are measured, and their errors."""
    words = in_words(words)
    headings = (
        PaperColumn(words.label("column"), Role.KEY),
        PaperColumn(words.label("noise")),
        PaperColumn(words.label("95% error"), Role.NUMBER),
    )
    rows = [
        (
            name_of(spread, words),
            words.noise(plan.noise(place)),
            words.numerals(f"± {about(plan.noise(place).error())}"),
        )
        for place, spread in enumerate(plan.spreads)
    ]
    return previewed(
        KIND,
        plan,
        headline(plan),
        standing,
        plan.query,
        words=words,
        own=(*_for(plan, words), ("caps", words.suggest.one_cell())),
        content=lambda: {"for": _target(plan)},
        table=PaperTable(headings, lambda: rows, len(rows)),
    )


def options(found: Suggested) -> tuple[str, str]:
    """The suggestion as options of a command, and as arguments of a call."""
    caps = {"max_groups": found.max_groups, "max_rows_per_group": found.max_rows_per_group}
    given = {name: cap for name, cap in caps.items() if cap is not None}
    flags = [f"--{name.replace('_', '-')} {cap}" for name, cap in given.items()]
    flags += [f"--bounds {shlex.quote(f'{name}={_number(low)}:{_number(high)}')}" for name, (low, high) in found.bounds]
    bounds = ", ".join(f"{name!r}: ({_number(low)}, {_number(high)})" for name, (low, high) in found.bounds)
    calls = [f"{name}={cap}" for name, cap in given.items()] + ([f"bounds={{{bounds}}}"] if bounds else [])
    return " ".join(flags), ", ".join(calls)


def _number(end: float) -> str:
    return str(int(end)) if end == int(end) else repr(end)


def _for(plan: SuggestionPlan, words: Words) -> Facts:
    return ("for", words.question(text(plan.target.query))), ("at the price", words.notation(cast("Kept", plan.later)))


def _facts(found: Suggested, plan: SuggestionPlan, words: Words) -> Facts:
    say, (command, call) = words.suggest, options(found)
    shares, kept = (
        words.several(_covered(name, share, words) for name, share in found.covered),
        _about_kept(found, plan),
    )
    covered: Facts = (("covered", shares),) if shares else ()
    covered += (("why these caps", say.about_kept(kept)),) if kept else ()
    ready: Facts = (("options", say.code(command)), ("in Python", say.code(call))) if command else ()
    return (*ready, *_for(plan, words), *covered)


def _covered(name: str, found: Covered, words: Words) -> str:
    say, share, error = words.suggest, percent(found.share), f"± {percent(found.error)}"
    if name in (About.GROUPS.value, About.ROWS.value):
        return (say.groups if name == About.GROUPS.value else say.rows)(share, error)
    return say.values(name.removeprefix("values of "), share, error)


def _table(found: Suggested, words: Words) -> PaperTable:
    headings = (
        PaperColumn(words.label("column"), Role.KEY),
        PaperColumn(words.suggest.size(), Role.NUMBER),
        PaperColumn(words.label("95% error"), Role.NUMBER),
        PaperColumn(words.suggest.left_out(), Role.NUMBER),
    )
    rows = [(each.name, *map(words.numerals, _numbers(each))) for each in found.expected]
    return PaperTable(headings, lambda: rows, len(rows))


def _numbers(each: Expected) -> tuple[str, str, str]:
    most = "≤ " if each.largest else ""
    return f"{most}{_rounded(each.size)}", f"± {_rounded(each.noise)}", f"{most}{_rounded(each.bias)}"


def _rounded(number: float) -> str:
    return about(number, digits=2)


def histogram_sections(release: SuggestionRelease, words: Words) -> tuple[Section, ...]:
    """The histograms, cell by cell."""
    plan, found = release.plan, []
    headings = (PaperColumn(words.label("cell"), Role.KEY), PaperColumn(words.label("people"), Role.NUMBER))
    for place, (spread, counts) in enumerate(zip(plan.spreads, release.counts, strict=True)):
        noise = plan.noise(place)
        rows = [
            (cell_of(cell, words), words.numerals(f"{about(cell.people)} ± {about(noise.error())}"))
            for cell in Found(spread, counts, noise).every
        ]
        table = PaperTable(headings, lambda rows=rows: rows, len(rows))  # type: ignore[misc]
        found.append(Section(name_of(spread, words), table=table, level=Level.MECHANISMS))
    return tuple(found)


def _least(release: SuggestionRelease) -> int:
    """The number of people that a cell of every histogram needs to be seen."""
    plan = release.plan
    pairs = enumerate(zip(plan.spreads, release.counts, strict=True))
    return max(Found(spread, counts, plan.noise(place)).least for place, (spread, counts) in pairs)


def _target(plan: SuggestionPlan) -> dict[str, Any]:
    return {"question": text(plan.target.query), "price": promise_dict(plan.later)}


def _content(found: Suggested, release: SuggestionRelease) -> dict[str, Any]:
    plan = release.plan
    bounds: Mapping[str, Any] = {name: {"low": low, "high": high} for name, (low, high) in found.bounds}
    return {
        "for": _target(plan),
        "options": {
            "max_groups": found.max_groups,
            "max_rows_per_group": found.max_rows_per_group,
            "bounds": bounds,
        },
        "covered": {name: {"share": each.share, "error": each.error} for name, each in found.covered},
        "expected": [
            {"name": each.name, "size": each.size, "noise": each.noise, "bias": each.bias} for each in found.expected
        ],
        "about_kept_rows": list(_about_kept(found, plan)),
        "histograms": histogram_contents(release),
    }


def _about_kept(found: Suggested, plan: SuggestionPlan) -> tuple[str, ...]:
    return about_kept(plan.target) if found.cuts else ()


def histogram_contents(release: SuggestionRelease) -> dict[str, Any]:
    """The histograms by name, for machines."""
    plan, pairs = release.plan, zip(release.plan.spreads, release.counts, strict=True)
    return {
        spread.name: {"error": float(plan.noise(place).error()), "cells": _cells(spread, counts, plan, place)}
        for place, (spread, counts) in enumerate(pairs)
    }


def _cells(spread: Spread, counts: tuple[int, ...], plan: SuggestionPlan, place: int) -> list[dict[str, Any]]:
    cells = Found(spread, counts, plan.noise(place)).every
    return [
        {"low": _finite(cell.low), "high": _finite(cell.high), "people": count}
        for cell, count in zip(cells, counts, strict=True)
    ]


def _finite(end: float) -> float | None:
    return end if math.isfinite(end) else None
