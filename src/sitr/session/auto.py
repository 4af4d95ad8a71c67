"""Aggregate questions whose caps are chosen from the data, in one charge: `Budget.sql(…, caps="auto")`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Unpack

from sitr.errors import FileError, QuestionError
from sitr.flavors.price import Amounts, Price
from sitr.ledger.receipt import Receipt
from sitr.noise.coins import Coins
from sitr.questions.auto.question import AnsweringStage, AutoQuestion, AutoRelease, ChosenRelease, check, second
from sitr.session.aggregate import AggregateAnswer, AggregateRequest
from sitr.session.ask import ask


@dataclass(frozen=True, slots=True, repr=False)
class AutoRequest(AggregateRequest):
    """A checked aggregate question whose caps are chosen privately, for a tenth of its price.

    Its preview has the errors for the caps of the description; the answer names the caps that were chosen.
    """

    question: AutoQuestion

    def release(
        self,
        price: Price | None = None,
        *,
        coins: Coins | None = None,
        fresh: bool = False,
        **amounts: Unpack[Amounts],
    ) -> AggregateAnswer:
        """Charge the price once, choose the caps, and answer with them."""
        paid = self._paid(price, amounts)
        found, receipt = ask(self.question, paid, at=self.at, coins=coins, fresh=fresh, then=_then)
        return AggregateAnswer(complete(found, receipt), receipt, self)

    def price_for(self, *_: object, **__: object) -> NoReturn:
        """Refused: the errors depend on the caps, which are chosen after the charge."""
        raise _unknown_errors()

    def targets(self, *_: object, **__: object) -> NoReturn:
        """Refused, for the same reason."""
        raise _unknown_errors()

    def explain(self, *_: object, **__: object) -> NoReturn:
        """Refused: the tree of a question has its caps."""
        raise QuestionError(
            given="The question cannot be explained before its caps are chosen.",
            do='Leave caps="auto" out, or ask for a suggestion first.',
        )


def _unknown_errors() -> QuestionError:
    return QuestionError(
        given="The errors depend on the caps, and these are chosen after the price is paid.",
        do='Leave caps="auto" out, or ask for a suggestion first.',
    )


def _then(first: Any, _: Receipt) -> AnsweringStage:
    return second(first)


def requested(request: AggregateRequest, caps: object, *, given: Mapping[str, int | None]) -> AutoRequest:
    """The request with caps that are chosen; `given` are those that stand against it, such as a cap on all rows."""
    if caps != "auto":
        raise QuestionError(
            wanted='caps="auto"',
            given=f"caps={caps!r}",
            do="Name caps of your own as max_groups and max_rows_per_group.",
        )
    if named := [name for name, cap in given.items() if cap is not None]:
        raise QuestionError(
            given=f'The question has caps="auto" and also {", ".join(named)}.',
            do="Leave one of the two out, or ask for a suggestion first if the description has max_rows.",
        )
    check(request.question.query)
    return AutoRequest(AutoQuestion(request.question.query), request.at, AggregateAnswer, price=request.price)


def complete(found: AutoRelease, receipt: Receipt) -> ChosenRelease:
    """The answer, unless its second stage was interrupted: nothing is measured twice for one charge."""
    if found.measured is None:
        raise FileError(
            given=f"Entry {receipt.entry.number} was interrupted after its caps were chosen, and its answer is lost.",
            do="Ask with fresh=True (--fresh) to pay for a new answer.",
        )
    return found.shown
