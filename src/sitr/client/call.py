"""How a question is sent to a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sitr.client.books import ServerLedger, read_proposal
from sitr.client.connection import new_key
from sitr.dataclass import dataclass
from sitr.errors import InvalidUse, LedgerError
from sitr.flavors.notation import write
from sitr.flavors.price import Price, price_of
from sitr.ledger.entry import Warrant
from sitr.ledger.proposals import Proposal
from sitr.ledger.receipt import Receipt
from sitr.plans.plan import Plan
from sitr.questions.aggregate.question import AggregateQuestion
from sitr.questions.question import Question
from sitr.session.carried import read
from sitr.session.kept import WrittenPlan

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FarCall:
    """How a question is sent: which route takes it, and what it is there."""

    books: ServerLedger
    route: str = "ask"
    body: Mapping[str, Any] | None = None
    question: Question | None = None
    """The question that the body stands for. One that was changed since is sent as the text that it has now."""

    def ask(
        self, question: Question, plan: Plan, *, price: Price, warrant: Warrant, fresh: bool
    ) -> tuple[Any, Receipt]:
        """Let the server charge and answer. It refuses a question that it understands differently."""
        found = self.posted(question, plan, price=price, warrant=warrant, fresh=fresh)
        released, receipt = read(found, ledger=self.books)
        if receipt.alike and WrittenPlan(released.plan).hash in {WrittenPlan(each).hash for each in plan.alike()}:
            return released.under(plan), receipt
        check_same(released.plan, plan)
        return released, receipt

    def propose(self, question: Question, plan: Plan, *, price: Price, reason: str, days: int) -> Proposal:
        """Ask somebody on the server to approve a question. It refuses one that it understands differently."""
        if self.route != "ask":
            raise InvalidUse(
                given="A server takes requests for questions in SQL only.", do="Write the question in SQL."
            )
        sent = {**self.sent(question), "price": write(price_of(price)), "plan": WrittenPlan(plan).hash}
        sent |= {"reason": reason, "days": days, "account": self.books.share, "period": self.books.period}
        return read_proposal(self.books.connection.post(f"{self.books.place}/requests", sent, key=new_key()))

    def posted(
        self, question: Question, plan: Plan, *, price: Price, warrant: Warrant, fresh: bool, **more: object
    ) -> Any:
        """What the server sends back for a question."""
        sent: Body = {
            **self.sent(question),
            "price": write(price_of(price)),
            "plan": WrittenPlan(plan).hash,
            "fresh": fresh,
        }
        sent |= {"account": self.books.share} if self.books.share else {}
        sent |= {"period": self.books.period} if self.books.period else {}
        sent |= {"request": warrant.request} if warrant.request else {}
        place, key = f"{self.books.place}/{self.route}?exact=true", warrant.key or new_key()
        return self.books.connection.post(place, sent | more, key=key)

    def sent(self, question: Question) -> Body:
        """What is sent to the server for a question."""
        body = dict(self.body or {})
        if self.body is not None and question == self.question:
            return body
        if not isinstance(question, AggregateQuestion):
            raise InvalidUse(
                given="This question cannot be sent to a server.", do="Ask a question in SQL, or a histogram or tables."
            )
        return {**body, "sql": question.text()}


def check_same(answered: Plan, planned: Plan) -> None:
    """Refuse an answer to another question than the one that was planned."""
    if WrittenPlan(answered).hash != WrittenPlan(planned).hash:
        raise LedgerError(
            given="The server answered another question than the one that was planned here.",
            do="Check that both run the same version of Sitr; the answer is kept on the server.",
        )
