"""A question with a place to ask it: previewed for free, released for a price."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar, Unpack, cast

from sitr.accounting.filter import Filter
from sitr.errors import QuestionError
from sitr.flavors.arrows import Kept
from sitr.flavors.price import Amounts, Price, price_of
from sitr.flavors.promise import Promise
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.plans.plan import Plan
from sitr.questions.aggregate.plan import AggregatePlan
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.question import Question
from sitr.report import summary
from sitr.report.envelope import after_paying
from sitr.report.paper import Paper
from sitr.report.papers import Others, preview_paper
from sitr.report.words.words import in_words
from sitr.session.answer import Answer
from sitr.session.ask import ask
from sitr.session.desk import Desk
from sitr.session.shown import Shown, once

Answered_co = TypeVar("Answered_co", bound=Answer, covariant=True)


@dataclass(frozen=True, slots=True, repr=False)
class Request(Shown, Generic[Answered_co]):
    """A checked question. Two requests with equal questions are the same, however they were written.

    A price is a promise, its notation, or its numbers by name: `release(sitr.ZeroConcentratedDP(0.05))`,
    `release("zcdp(0.05)")` and `release(rho=0.05)` are the same; see `sitr.flavors.price`.
    """

    question: Question
    at: Desk = field(repr=False, compare=False)
    answered: type[Answered_co] = field(repr=False, compare=False)
    price: Promise | None = field(default=None, repr=False, compare=False, kw_only=True)
    """What is paid if no other price is given: a question in BigQuery's spelling names its price."""

    @property
    def paper(self) -> Paper:
        """What is shown of it before it has a price."""
        return summary.question(self.question.text(), self.at.table, self.at.ledger.standing(self.at.account))

    def _brief(self) -> str:
        return in_words().summary.question(summary.in_one_line(self.question.text()))

    def _paid(self, price: Price | None, amounts: Amounts) -> Promise:
        return self.price if price is None and not amounts and self.price is not None else price_of(price, **amounts)

    def preview(self, price: Price | None = None, **amounts: Unpack[Amounts]) -> Preview:
        """What the answer would cost and how far off it would be. Reads no rows and spends nothing."""
        standing = self.at.ledger.standing(self.at.account)
        plan = self.question.plan(self._paid(price, amounts))
        others = tuple(
            (desk.account, desk.table.neighbors(), desk.ledger.standing(desk.account)) for desk in self.at.beside
        )
        for budget in (standing, *(now for _, _, now in others)):
            budget.charge(plan.price)  # a price in a flavor that a budget does not take is refused here
        return Preview(self.question, plan, standing, others)

    def release(
        self,
        price: Price | None = None,
        *,
        coins: Coins | None = None,
        fresh: bool = False,
        **amounts: Unpack[Amounts],
    ) -> Answered_co:
        """Charge the price, and answer; a question that was asked before is answered again for free.

        With `fresh`, the price is charged and the answer is new: see `sitr.session.ask`.
        """
        paid = self._paid(price, amounts)
        return self.answered(*ask(self.question, paid, at=self.at, coins=coins, fresh=fresh), self)


@dataclass(frozen=True, repr=False)
class Preview(Shown):
    """A plan, and the budget before it is paid."""

    question: Question
    plan: Plan
    standing: Filter
    others: Others = ()
    """The budgets of other tables that the question joins."""

    @property
    def paper(self) -> Paper:
        """What is shown of it, the same on the terminal, in notebooks and as JSON."""
        return once(self, lambda: preview_paper(self.plan, self.standing, self.others))

    def _brief(self) -> str:
        try:
            errors = self.errors()
        except QuestionError:  # they depend on the data
            errors = {}
        text, after = summary.in_one_line(self.plan.text), after_paying(self.plan, self.standing)
        return self.paper.words.summary.preview(text, cast("Kept", self.price), errors, after)

    @property
    def price(self) -> Promise:
        """What would be charged."""
        return self.plan.price

    def errors(self, *, confidence: Number = 0.95, rows: int | None = None) -> dict[str, float]:
        """The largest error of every column at this confidence.

        The error of a mean or a ratio depends on the number of rows: with `rows`, it is the largest error of cells
        whose noisy count is at least this, and without it, only the bounds limit it.
        """
        if rows is None:
            return self.question.errors(self.plan, confidence=confidence)
        if not isinstance(self.question, AggregateQuestion) or type(rows) is not int or rows < 1:
            raise QuestionError(
                wanted="a whole number of rows, for a question with aggregates",
                given=f"rows={rows!r}",
                do="Leave rows out, or write rows=1000.",
            )
        return self.question.errors(cast("AggregatePlan", self.plan), confidence=confidence, rows=rows)
