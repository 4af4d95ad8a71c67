"""A question with a place to ask it: previewed for free, released for a price."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Generic, TypeVar, Unpack, cast

from sitr.accounting.filter import Filter
from sitr.dataclass import dataclass
from sitr.errors import QuestionError
from sitr.flavors.arrows import Kept
from sitr.flavors.price import Amounts, Price, price_of
from sitr.flavors.promise import Promise
from sitr.namespace import Later
from sitr.noise.coins import Coins
from sitr.numbers import Number
from sitr.plans.plan import Plan
from sitr.questions.aggregate.habits import QUESTION, Hinted
from sitr.questions.question import Question
from sitr.report import summary
from sitr.report.envelope import after_paying
from sitr.report.paper import Paper
from sitr.report.papers import Others, preview_paper
from sitr.report.words.words import in_words
from sitr.session.answer import Answer
from sitr.session.ask import ask
from sitr.session.column_errors import ColumnErrors, ranked
from sitr.session.desk import Desk
from sitr.session.period import check_named
from sitr.session.prices import Errors, Sizes, around, expected, price_for, released_sizes
from sitr.session.shown import Displayed, once

if TYPE_CHECKING:
    from sitr.ledger import approval, steward
    from sitr.ledger.proposals import Proposal
    from sitr.ledger.shares import Accounts
    from sitr.session import counted, kept
else:  # a preview requests nothing and keeps nothing
    approval, steward = Later("sitr.ledger.approval"), Later("sitr.ledger.steward")
    counted, kept = Later("sitr.session.counted"), Later("sitr.session.kept")

Answered_co = TypeVar("Answered_co", bound=Answer, covariant=True)


@dataclass(frozen=True, slots=True, repr=False)
class Request(Hinted, Displayed, Generic[Answered_co]):
    """A checked question. Two requests with equal questions are the same, however they were written.

    A price is a promise, its notation, or its numbers by name: `release(sitr.ZeroConcentratedDP(0.05))`,
    `release("zcdp(0.05)")` and `release(rho=0.05)` are the same; see `sitr.flavors.price`.
    """

    _hints = QUESTION

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

    def preview(
        self,
        price: Price | None = None,
        *,
        error: Errors | None = None,
        size: Sizes | None = None,
        rows: int | None = None,
        **amounts: Unpack[Amounts],
    ) -> Preview:
        """What the answer would cost and how far off it would be. Reads no rows and spends nothing.

        With `error`, such as `{"total": 500}`, the price is the least one for these errors: see `price_for`.
        """
        if error is None and (size is not None or rows is not None):
            raise QuestionError(
                wanted="size and rows together with error",
                given="no error",
                do='Write preview(error={"n": "1%"}, size={"n": 20000}).',
            )
        check_named(self.at.table, self.question.reading())
        standing = self.at.ledger.standing(self.at.account)
        if error is None:
            paid = self._paid(price, amounts)
        elif price is None and amounts.keys() <= {"delta"}:
            paid = self.price_for(error, size=size, rows=rows, delta=amounts.get("delta"))
        else:
            raise QuestionError(
                wanted="either a price or an error", given="both", do="Leave the price out: the error determines it."
            )
        plan, own = self.question.plan(paid), self.at.warrant.share
        others = tuple(
            (desk.account, desk.table.neighbors(), desk.ledger.standing(desk.account)) for desk in self.at.beside
        )
        for budget in (standing, *(now for _, _, now in others)):
            budget.charge(plan.price)  # a price in a flavor that a budget does not take is refused here
        share = (steward.tree(self.at.ledger, self.at.account), own) if own else None
        return Preview(self.question, plan, standing, paid, others, released_sizes(plan.text, self.at), share)

    def price_for(
        self, error: Errors, *, size: Sizes | None = None, rows: int | None = None, delta: float | None = None
    ) -> Promise:
        """The least price for which every named column has at most this error, with 95% probability.

        An error is a number in the unit of its column, or a share such as "1%" of its size. Sizes are public numbers:
        those that are given, or those of an earlier answer to the same question (the median over its groups). The error
        of a mean or a ratio is that of groups with at least `rows` rows. The price has the flavor of the budget; its δ
        is `delta`, or a tenth of the budget's. It is rounded up to three digits.
        """
        return price_for(self.question, error, at=self.at, size=size, rows=rows, delta=delta)

    def propose(
        self, price: Price | None = None, *, reason: str, days: int = 14, **amounts: Unpack[Amounts]
    ) -> Proposal:
        """Ask somebody else to approve this question at this price, for a reason. Spends nothing and reads no rows.

        When it is approved, within these days, ask it exactly so: `budget.approved(7).sql(…).release(…)`.
        """
        if self.at.beside:
            raise QuestionError(
                given="A question that joins several budgets cannot be requested.",
                do="Request questions about one data set.",
            )
        found = self.preview(price, **amounts)
        if self.at.elsewhere is not None:
            paid, far = found.offered or found.price, self.at.elsewhere
            made = far.propose(self.question, found.plan, price=paid, reason=reason, days=days)
            return cast("Proposal", made)
        try:
            errors = dict(found.errors())
        except QuestionError:  # they depend on the data
            errors = {}
        return approval.propose(
            self.at.ledger,
            self.at.account,
            share=self.at.warrant.share,
            price=found.price,
            question=found.plan.text,
            reason=reason,
            errors={name: error for name, error in errors.items() if math.isfinite(error)},
            days=days,
            **kept.hashes(kept.WrittenPlan(found.plan), at=self.at),
        )

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
        released, receipt = ask(self.question, paid, at=self.at, coins=coins, fresh=fresh)
        if receipt.standing.promise.exposes:
            counted.warn_of_released(released, receipt.standing.promise)
        return self.answered(released, receipt, self)


@dataclass(frozen=True, repr=False)
class Preview(Displayed):
    """A plan, and the budget before it is paid."""

    question: Question
    plan: Plan
    standing: Filter
    offered: Promise | None = None
    """The price that was asked about, of which the plan may use less."""
    others: Others = ()
    """The budgets of other tables that the question joins."""
    sizes: Mapping[str, float] = field(default_factory=dict)
    """The sizes of the columns in an earlier answer to the same question; none if there is none."""
    share: tuple[Accounts, str] | None = None
    """The accounts, and the path of the sub-budget that would pay; None if the budget itself would."""

    @property
    def payable(self) -> Filter:
        """The budget as who pays sees it: what is left of it is the most that could be paid."""
        if self.share is None:
            return self.standing
        accounts, path = self.share
        return accounts.seen_from(path, charges=self.standing.charges)

    @property
    def paper(self) -> Paper:
        """What is shown of it, the same on the terminal, in notebooks and as JSON."""
        return once(
            self,
            lambda: preview_paper(
                self.plan, self.standing, self._plans, others=self.others, sizes=self.sizes, share=self.share
            ),
        )

    def prices(self) -> tuple[Preview, ...]:
        """Previews at this price and at others: a quarter, half, twice and four times it, cheapest first.

        Prices above what is left of the budget are replaced by all that is left. A mechanism with a fixed promise has
        one price only.
        """
        return tuple(replace(self, plan=plan) for plan in self._plans())

    def _plans(self) -> tuple[Plan, ...]:
        return around(self.question, self.price if self.offered is None else self.offered, self.plan, self.payable)

    def _brief(self) -> str:
        try:
            errors = self.errors()
        except QuestionError:  # they depend on the data
            errors = ColumnErrors({})
        if getattr(self.paper.query, "unmeasured", False):
            said = self.paper.words.aggregate.unmeasured
            errors = ColumnErrors({said(name): error for name, error in errors.items()}, ranks=map(said, errors.ranks))
        text, after = summary.in_one_line(self.plan.text), after_paying(self.plan, self.payable)
        return self.paper.words.summary.preview(text, cast("Kept", self.price), errors, after, ranks=errors.ranks)

    @property
    def price(self) -> Promise:
        """What would be charged."""
        return self.plan.price

    def errors(self, *, confidence: Number = 0.95, rows: int | None = None) -> ColumnErrors:
        """The largest error of every column at this confidence: a dictionary.

        Errors of quantiles, minima and maxima are numbers of ranks, as `errors().units` says.

        The error of a mean or a ratio depends on the number of rows: with `rows`, it is the largest error of cells
        whose noisy count is at least this, and without it, only the bounds limit it.
        """
        found = expected(self.question, self.plan, confidence=confidence, rows=rows)
        return ColumnErrors(found, ranks=ranked(self.plan))
