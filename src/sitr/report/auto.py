"""Answers whose caps were chosen from the data: the paper of an aggregate answer, and how the caps came about.

The JSON has one more key, `chosen_caps`: the `share` of the price, its `price`, and what is left for the answer
(`rest`), the `max_groups` and `max_rows_per_group` of the numbers shown, whether the caps were `chosen` (false in a
preview, and where noise hid everybody: then they are those of the description), and the noisy `histograms` by name,
with their cells (null in a preview).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, cast

from sitr.accounting.filter import Filter
from sitr.ledger.receipt import Receipt
from sitr.questions.auto.caps import CapPair
from sitr.questions.auto.plan import SHARE, AutoPlan
from sitr.questions.auto.question import AutoRelease, ChosenRelease
from sitr.questions.suggest.choose import about_kept
from sitr.report import aggregate
from sitr.report.envelope import promise_dict
from sitr.report.figures import percent
from sitr.report.paper import Paper, Section
from sitr.report.spreads import name_of
from sitr.report.suggest import histogram_contents, histogram_sections
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.words import Words, in_words


def answer(release: AutoRelease | ChosenRelease, receipt: Receipt, *, words: Words | None = None) -> Paper:
    """The paper of an answer with chosen caps."""
    words, found = in_words(words), release.shown if isinstance(release, AutoRelease) else release
    plan, suggestion = cast("AutoPlan", found.plan), found.suggestion
    assert suggestion is not None
    paper = aggregate.answer(found, receipt, words=words)
    say = words.suggest.did_choose if found.told else words.suggest.told_nothing
    sentence, sections, before = _said(say, plan, words), paper.sections, paper.to_dict
    kept = about_kept(plan.query) if found.told else ()
    why = (words.suggest.about_kept(kept),) if kept else ()
    facts = (("caps chosen", sentence), *(("why these caps", each) for each in why))
    how = Section(
        "How the caps were chosen",
        sentences=(sentence, *why, words.suggest.one_cell()),
        items=tuple(
            f"{name_of(spread, words)}: {words.noise(plan.choosing.noise(place))}"
            for place, spread in enumerate(plan.choosing.spreads)
        ),
    )
    content = _content(plan, chosen=found.told) | {"histograms": histogram_contents(suggestion)}
    return replace(
        paper,
        facts=(*paper.facts, *facts),
        card=(*paper.card, ("caps chosen", sentence)),
        notes=(*paper.notes, sentence, *why),
        sections=lambda: (*_without_caps(sections(), plan, words), how, *histogram_sections(suggestion, words)),
        to_dict=lambda: _told(before(), plan) | {"chosen_caps": content},
    )


def preview(plan: AutoPlan, standing: Filter, *, words: Words | None = None) -> Paper:
    """The paper of a preview, with the errors for the caps of the description."""
    words = in_words(words)
    paper = aggregate.preview(plan, standing, words=words)
    before, sentence = paper.to_dict, _said(words.suggest.will_choose, plan, words)
    content = _content(plan, chosen=False) | {"histograms": None}
    return replace(
        paper, facts=(*paper.facts, ("caps chosen", sentence)), to_dict=lambda: before() | {"chosen_caps": content}
    )


def _said(say: Callable[[int, int, str, str], str], plan: AutoPlan, words: Words) -> str:
    query, price = plan.query, words.notation(plan.choosing.price)
    return say(query.max_groups, query.max_rows_per_group, percent(SHARE), price)


def _without_caps(sections: Iterable[Section], plan: AutoPlan, words: Words) -> tuple[Section, ...]:
    """The sections, without the caps among what was public beforehand: they are what changes with other caps."""
    caps = _caps(plan, words)
    return tuple(replace(each, items=tuple(item for item in each.items if item not in caps)) for each in sections)


def _told(content: dict[str, Any], plan: AutoPlan) -> dict[str, Any]:
    """The same for machines."""
    caps, words = _caps(plan, ENGLISH), content["words"]
    return content | {"words": words | {"public": [item for item in words["public"] if item not in caps]}}


def _caps(plan: AutoPlan, words: Words) -> set[str]:
    other = CapPair(plan.query.max_groups + 1, plan.query.max_rows_per_group + 1).on(plan.query)
    return set(words.aggregate.public(plan.query)) - set(words.aggregate.public(other))


def _content(plan: AutoPlan, *, chosen: bool) -> dict[str, Any]:
    return {
        "share": float(SHARE),
        "price": promise_dict(plan.choosing.price),
        "rest": promise_dict(plan.rest),
        "max_groups": plan.query.max_groups,
        "max_rows_per_group": plan.query.max_rows_per_group,
        "chosen": chosen,
    }
