"""Budgets on a server: their questions are planned and previewed here, and asked there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, cast

from sitr.client.call import FarCall
from sitr.client.far_team import FarShared
from sitr.dataclass import dataclass
from sitr.errors import InvalidUse
from sitr.flavors.notation import write
from sitr.flavors.price import Amounts, Price, price_of
from sitr.namespace import Later
from sitr.numbers import Number
from sitr.questions.batch.question import BatchQuestion
from sitr.session.aggregate import AggregateRequest
from sitr.session.answer import Answer
from sitr.session.batch import Batch
from sitr.session.budget import Budget
from sitr.session.carried import read
from sitr.session.desk import Desk
from sitr.session.histogram import HistogramAnswer
from sitr.session.period import in_period
from sitr.session.reopened import shown
from sitr.session.request import Request
from sitr.session.suggest import Suggestion
from sitr.session.tables import TablesAnswer

if TYPE_CHECKING:
    from sitr.client import far_synthesis
    from sitr.session.synthesis import Synthesis
else:  # most questions need no synthetic rows
    far_synthesis = Later("sitr.client.far_synthesis")

Sent = TypeVar("Sent", bound=Request[Any])


@dataclass(frozen=True, slots=True, repr=False)
class FarBudget(FarShared, Budget):
    """The budget of a data set on a server. It is used like any other."""

    def sql(self, text: str, **limits: Any) -> AggregateRequest:
        """A question in SQL: see `Budget.sql`."""
        made = Budget.sql(self, text, **limits)
        named = {name: value for name, value in limits.items() if value is not None and name != "price"}
        return _sent(made, FarCall(self._books, "ask", {"sql": text, **_plain(named)}, made.question))

    def batch(
        self,
        questions: Iterable[AggregateRequest] | Mapping[str, AggregateRequest],
        *,
        weights: Sequence[Number] | Mapping[str, Number] | None = None,
    ) -> Batch:
        """Several questions with one charge: see `Budget.batch`."""
        made = Budget.batch(self, questions, weights=weights)
        bodies = {
            name: _call(request.at).sent(request.question)
            for name, request in zip(cast("BatchQuestion", made.question).names, made.requests, strict=True)
        }
        body = {"questions": bodies, "weights": None if weights is None else _plain(weights)}
        return _sent(made, FarCall(self._books, "batch", body, made.question))

    def histogram(self, *columns: str, **said: Any) -> Request[HistogramAnswer]:
        """Counts in public cells: see `Budget.histogram`. Bounds of dates cannot be sent."""
        made = Budget.histogram(self, *columns, **said)
        body = {"columns": list(columns), **_plain(_given(said, ("bins", "bounds", "edges", "keys")))}
        return _sent(made, FarCall(self._books, "histogram", body, made.question))

    def tables(self, tables: Iterable[str | Sequence[str]], **said: Any) -> Request[TablesAnswer]:
        """Many tables at once that add up: see `Budget.tables`."""
        listed = [each if isinstance(each, str) else list(each) for each in tables]
        made = Budget.tables(self, listed, **said)
        known = (
            "measures",
            "weights",
            "objective",
            "hierarchies",
            "rows_per_person",
            "bins",
            "bounds",
            "edges",
            "keys",
        )
        return _sent(
            made, FarCall(self._books, "tables", {"tables": listed, **_plain(_given(said, known))}, made.question)
        )

    def suggest(self, question: str, *, price: Price | None = None, **amounts: Unpack[Amounts]) -> Request[Suggestion]:
        """Caps and bounds, chosen privately: see `Budget.suggest`."""
        made = Budget.suggest(self, question, price=price, **amounts)
        later = None if price is None and not amounts else write(price_of(price, **amounts))
        return _sent(made, FarCall(self._books, "suggest", {"question": question, "later": later}, made.question))

    def synthesize(self, **said: Any) -> Synthesis:
        """Synthetic rows: see `Budget.synthesize`. The model is fitted on the server; rows are drawn here, for free."""
        known = ("columns", "bins", "bounds", "keys", "required", "rows_per_person", "fit_triples")
        named = {name: value for name, value in said.items() if value is not False and value not in (None, (), [], {})}
        body = _plain(_given(named, known))
        made = Budget.synthesize(self, **named)
        sent = _sent(made, FarCall(self._books, "synthesize", body, made.question))
        return far_synthesis.FarSynthesis(sent.question, sent.at, sent.answered, columns=sent.columns)

    def period(self, name: str) -> Self:
        """The budget of one period: see `Budget.period`."""
        table = in_period(self._at.table, name)
        books = replace(self._books, dataset=table.account, period=name)
        return replace(
            self, _at=replace(self._at, table=table, ledger=books, account=table.account, elsewhere=FarCall(books))
        )

    def account(self, name: str) -> Self:
        """The same budget, charged to a sub-budget. The server says whether it is yours."""
        books = replace(self._books, share=self._path(name))
        return replace(self, _at=replace(self._at, ledger=books, elsewhere=FarCall(books)))

    def answers(self) -> list[int]:
        """The numbers of the answers that you may see, oldest first; `answer` shows one again."""
        return [entry.number for entry in self.entries()]

    def answer(self, number: int) -> Answer:
        """A kept answer again, for free."""
        return shown(*read(self._books.kept_answer(number), ledger=self._books))


def _call(at: Desk) -> FarCall:
    assert isinstance(at.elsewhere, FarCall)
    return at.elsewhere


def _sent(request: Sent, call: FarCall) -> Sent:
    """The same request, sent in this way."""
    return replace(request, at=replace(request.at, elsewhere=call))


def _given(said: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    found = {name: value for name, value in said.items() if value is not None}
    if unknown := [name for name in found if name not in known]:
        raise InvalidUse(
            given=f"{unknown[0]} cannot be sent to a server.", do=f"These can be sent: {', '.join(known)}."
        )
    return found


def _plain(value: Any) -> Any:
    """A value as JSON, or a refusal: dates and methods have none here."""
    match value:
        case bool() | int() | float() | str() | None:
            return value
        case Mapping():
            return {str(name): _plain(each) for name, each in value.items()}
        case _ if hasattr(value, "numerator"):
            return float(value)
        case _ if isinstance(value, Iterable):
            return [_plain(each) for each in value]
    raise InvalidUse(given=f"{value!r} cannot be sent to a server.", do="Use numbers and texts.")
