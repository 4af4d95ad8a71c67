"""An aggregate question with chosen caps: its two stages, and what they release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sitr.errors import QuestionError
from sitr.flavors.promise import Promise
from sitr.neighbors.unit import Person
from sitr.noise.coins import Coins
from sitr.questions.aggregate.bind import BoundedQuery, Cells
from sitr.questions.aggregate.fit import refuse_unknown_keys
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.other import RowKey
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.aggregate.release import Release
from sitr.questions.auto.caps import CapPair, choose, possible
from sitr.questions.auto.plan import AutoPlan, planned, stages
from sitr.questions.suggest.question import SuggestionPlan, SuggestionQuestion, SuggestionRelease
from sitr.questions.suggest.spreads import Spread, measured


@dataclass(frozen=True, slots=True)
class AutoQuestion(AggregateQuestion):
    """A bounded query, whose caps are those of the description until others are chosen; its bounds stay."""

    @property
    def spreads(self) -> tuple[Spread, ...]:
        """The histograms from which caps are chosen: not those of values, because bounds stay."""
        return measured(self.query, bounds=False)

    def text(self) -> str:
        return f"CHOOSE CAPS AND ANSWER {text(self.query.query)}"

    def plan(self, price: Promise, /) -> AutoPlan:
        """Both stages. The largest caps need the most noise: if they cannot be answered, nothing is charged."""
        check(self.query)
        if getattr(price, "delta", 0) == 0:
            refuse_unknown_keys(self.query, price)
        paid, first, rest = stages(price, known=self.query.known)
        spreads = self.spreads
        choosing: SuggestionPlan = SuggestionQuestion(self.query, spreads, rest).plan(first)
        planned(possible(spreads)[-1].on(self.query), choosing, rest, paid, self.text())
        return planned(self.query, choosing, rest, paid, self.text())

    def reading(self) -> tuple[BoundedQuery, ...]:  # type: ignore[override]
        """The histograms: the reading of the first stage."""
        return tuple(spread.query for spread in self.spreads)

    def answer(self, plan: AutoPlan, exact: tuple[Cells, ...], /, *, coins: Coins) -> AutoRelease:  # type: ignore[override]
        """The noisy histograms, and the caps that follow from them."""
        asked = SuggestionQuestion(plan.query, plan.choosing.spreads, plan.rest)
        found = asked.answer(plan.choosing, exact, coins=coins)
        return AutoRelease(plan, found.counts, choose(found))


def check(query: BoundedQuery) -> None:
    """Refuse questions whose caps cannot be chosen."""
    if not isinstance(query.unit, Person):
        raise QuestionError(
            given='Each row is a unit here, so there are no caps that caps="auto" could choose.', do="Leave it out."
        )
    if query.keeps_all:
        raise QuestionError(
            given='No caps leave rows out of this question, so there are none that caps="auto" could choose.',
            do="Leave it out.",
        )
    if not query.shown_terms:
        raise QuestionError(given='The question measures nothing that caps="auto" could bound.', do="Leave it out.")


@dataclass(frozen=True, slots=True)
class AnsweringStage:
    """The second stage: the question with the chosen caps, or with those of the description if none follow."""

    first: AutoRelease

    def reading(self) -> BoundedQuery:
        return self.first.answering.query

    def answer(self, _: AutoPlan, exact: Cells, /, *, coins: Coins) -> AutoRelease:
        plan = self.first.answering
        found = AggregateQuestion(plan.query).answer(plan, exact, coins=coins)
        return replace(self.first, keys=found.keys, measured=found.measured, beyond=found.beyond)


@dataclass(frozen=True, slots=True)
class AutoRelease:
    """What both stages released, as it is kept; `measured` is None until the second stage."""

    plan: AutoPlan
    counts: tuple[tuple[int, ...], ...]
    """The noisy histograms."""
    caps: CapPair | None
    """The caps that follow from them; None if noise hides everybody."""
    keys: tuple[RowKey, ...] = ()
    measured: tuple[tuple[int, ...], ...] | None = None
    beyond: int | None = None

    @property
    def answering(self) -> AutoPlan:
        """The plan with the chosen caps."""
        return self.plan if self.caps is None else self.plan.at(self.caps)

    @property
    def shown(self) -> ChosenRelease:
        """The answer, after the second stage."""
        assert self.measured is not None
        suggestion = SuggestionRelease(self.plan.choosing, self.counts)
        told = self.caps is not None
        return ChosenRelease(self.answering, self.keys, self.measured, self.beyond, suggestion=suggestion, told=told)

    def possible(self) -> bool:
        """Whether this plan could have released these numbers."""
        told = self.caps is None or self.caps in possible(self.plan.choosing.spreads)
        counted = SuggestionRelease(self.plan.choosing, self.counts).possible()
        return told and counted and (self.measured is None or self.shown.possible())


@dataclass(frozen=True)
class ChosenRelease(Release):
    """The answer with chosen caps, and the histograms that they follow from."""

    suggestion: SuggestionRelease | None = None
    told: bool = True
    """Whether the histograms told anything; if not, the caps are those of the description."""


def second(first: Any) -> AnsweringStage:
    """The second stage, checked against its share of the price before its rows are read.

    It follows from released numbers, so even a failure here would reveal nothing more.
    """
    assert isinstance(first, AutoRelease)
    first.answering.check()
    return AnsweringStage(first)
