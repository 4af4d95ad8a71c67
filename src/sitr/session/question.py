"""A question with its price: previewed without data, answered after the charge."""

from __future__ import annotations

from dataclasses import dataclass, field

from sitr.accounting.filter import Filter
from sitr.backends.backend import Backend
from sitr.dataset.schema import Table
from sitr.errors import IncompatiblePromises, SourceError
from sitr.flavors.arrows import Kept, kept
from sitr.flavors.promise import Promise
from sitr.ledger.ledger import Ledger
from sitr.noise.coins import Coins, system_coins
from sitr.questions.aggregate.answer import release
from sitr.questions.aggregate.bind import BoundedQuery
from sitr.questions.aggregate.fit import Plan, fit
from sitr.questions.aggregate.nodes import text
from sitr.report import certificate, html
from sitr.report import text as terminal
from sitr.session.answer import Answer


@dataclass(frozen=True, slots=True)
class Question:
    """A checked question; two questions with equal `query` are the same, however they were written."""

    query: BoundedQuery
    table: Table
    _backend: Backend = field(repr=False, compare=False)
    ledger: Ledger = field(repr=False, compare=False)

    def preview(self, price: Promise) -> Preview:
        """What the answer would cost and how far off it would be. Reads no data and spends nothing."""
        budget = self.ledger.standing(account_name(self.table))
        plan = fit(self.query, checked(price))
        budget.charge(plan.price)
        return Preview(plan, budget)

    def release(self, price: Promise, *, coins: Coins | None = None) -> Answer:
        """Charge the price, durably; then read the data; then add the noise. In this order, always."""
        tossed = coins if coins is not None else system_coins()
        plan = fit(self.query, checked(price))
        check_unchanged(self.table, self._backend)
        entry, budget = self.ledger.charge(account_name(self.table), price=plan.price, question=text(plan.query.query))
        cells = self._backend.cells(plan.query, salt=tossed.bits(63))
        return Answer(
            certificate.Certificate(
                release=release(plan, cells, coins=tossed),
                dataset=self.table.name,
                neighbors=self.table.neighbors(),
                entry=entry.number,
                at=entry.at,
                by=entry.by,
                version=entry.version,
                budget=budget,
            )
        )


@dataclass(frozen=True, slots=True, repr=False)
class Preview:
    """A plan, and the budget before it is paid."""

    plan: Plan
    budget: Filter

    @property
    def price(self) -> Promise:
        """What would be charged."""
        return self.plan.price

    def errors(self, *, confidence: float = 0.95) -> dict[str, float]:
        """The error of every column at this confidence."""
        return {column.term.name: column.error(confidence=confidence) for column in self.plan.columns}

    def to_dict(self) -> dict[str, object]:
        """For machines."""
        return certificate.preview_dict(self.plan, self.budget)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return terminal.as_text(terminal.preview(self.plan, self.budget))

    def _repr_html_(self) -> str:
        return html.preview_fragment(self.plan, self.budget)


def account_name(table: Table) -> str:
    """How a ledger knows a data set: questions do not tell upper and lower case apart, so budgets must not either."""
    return table.name.casefold()


def checked(promise: object) -> Kept:
    """A promise of one of the flavors that budgets are kept in, and of no class that only looks like one."""
    if not kept(promise):
        raise IncompatiblePromises(
            wanted="A budget and a price are promises: PureDP, ApproximateDP or ZeroConcentratedDP, or RandomDP "
            "around one of them.",
            given=f"{promise!r} was given.",
            do="Write for example sitr.ZeroConcentratedDP(rho=0.05).",
        )
    return promise


def check_unchanged(table: Table, backend: Backend) -> None:
    """The columns must be what was described, or the checks made on the description mean nothing."""
    found = backend.kinds()
    described = {column.name: column.kind for column in table.columns}
    if found != described:
        differing = sorted(
            name for name in found.keys() | described.keys() if found.get(name) is not described.get(name)
        )
        raise SourceError(
            wanted=f"The data set {table.name} was wanted as it was described.",
            given=f"The columns {', '.join(differing)} are missing, new or of another type.",
            do="Protect the data set anew if the change is meant; nothing was spent.",
        )
