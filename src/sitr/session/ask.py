"""The door: the one function that spends budget and touches rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sitr.backends.backend import Backend, check_able, check_unchanged
from sitr.errors import BackendFailure, InvalidUse, quoted
from sitr.flavors.price import Price, price_of
from sitr.ledger.receipt import Paid, Receipt
from sitr.namespace import Later
from sitr.noise.coins import Coins, system_coins
from sitr.plans.plan import Plan
from sitr.questions.question import Question, Stage
from sitr.session import deadline
from sitr.session.desk import Desk
from sitr.session.period import check_named

if TYPE_CHECKING:
    from sitr.ledger import together
    from sitr.session import kept
else:  # it knows all kinds of answers, and a preview keeps none
    kept, together = Later("sitr.session.kept"), Later("sitr.ledger.together")

Then = Callable[[Any, Receipt], Stage]
"""Makes the second stage of a question from the answer to the first, which is public by then."""


def ask(
    question: Question,
    price: Price,
    *,
    at: Desk,
    coins: Coins | None = None,
    fresh: bool = False,
    then: Then | None = None,
) -> tuple[Any, Receipt]:
    """Charge the price, durably; then read the rows; then add the noise; then keep what is released.

    The same question at the same price is not charged again: what was kept for it is returned, and its receipt says so
    (`sitr.session.kept` says what "the same" means). A `fresh` answer is always charged, and so is one with coins of
    your own.

    Whatever a user may do wrong is refused before the charge. Whatever happens after it is one error with one text,
    because its cause could reveal something about the rows.

    A question with a key of the user is charged once: whoever repeats it gets the same answer, even if it was `fresh`.

    A question that joins several protected tables is charged to the accounts of all of them, or to none.

    Some questions have a second stage, whose measurements are in the same plan and paid by the same charge. `then`
    makes it, once, from what the first stage released and kept. If the second stage fails, its price is lost.

    Where the steward declared a number of rows, the answer leaves at a deadline (`sitr.session.deadline`). It is kept
    after the deadline, not before: a file or a hash that others can see earlier, or an answer that they get again from
    it, would tell them when it was ready. So a crash while an answer waits loses it, and its price stays spent.
    """
    public, plan = deadline.declared(), question.plan(price_of(price))
    plan.check()
    check_named(at.table, question.reading())
    if at.elsewhere is not None:  # nothing is charged or read here
        return _elsewhere(at, question, plan, price, coins=coins, fresh=fresh)
    written = kept.WrittenPlan(plan)
    if at.warrant.key and (found := kept.repeated(written, at=at)) is not None:
        return found
    if coins is None and not fresh and (found := kept.again(written, at=at)) is not None:
        return found
    if coins is not None and not callable(getattr(coins, "bits", None)):
        raise InvalidUse(
            wanted="coins to draw noise with", given=quoted(coins), do="Leave coins out: then the noise is private."
        )
    tossed, backend = coins if coins is not None else system_coins(), at.backend
    check_unchanged(backend, at.table)
    check_able(backend, question)
    for other in at.beside:
        check_unchanged(other.backend, other.table)
    asked = {"question": plan.text, **kept.recorded(written, tossed, at=at)}
    if at.beside:  # all accounts, or none
        desks = (at, *at.beside)
        accounts, warrants = [(desk.ledger, desk.account) for desk in desks], [desk.warrant for desk in desks]
        (entry, standing), *others = together.charge_together(accounts, price=plan.price, warrants=warrants, **asked)
    else:
        (entry, standing), others = at.ledger.charge(at.account, price=plan.price, warrant=at.warrant, **asked), []
    beside = tuple(
        Paid(desk.account, desk.table.neighbors(), *charge, desk.ledger)
        for desk, charge in zip(at.beside, others, strict=True)
    )
    receipt = Receipt.of(entry, standing, tossed, table=at.table, ledger=at.ledger, beside=beside)
    with deadline.padded(plan, public, question.reading()) as departed:
        released = _released(question, plan, backend, tossed)
    receipt = kept.keep(replace(receipt, departures=tuple(departed)), written, released, at=at)
    if then is not None:
        second = then(released, receipt)
        with deadline.padded(plan, public, second.reading()) as departed:
            released = _released(second, plan, backend, tossed)
        both = (*receipt.departures, *departed)
        receipt = kept.keep(replace(receipt, departures=both), written, released, at=at)
    return released, receipt


def _elsewhere(
    at: Desk, question: Question, plan: Plan, price: Price, *, coins: Coins | None, fresh: bool
) -> tuple[Any, Receipt]:
    """Let the server ask that has the rows. Its noise is its own."""
    assert at.elsewhere is not None
    if coins is not None:
        raise InvalidUse(
            given="The noise of a server is drawn with its own coins.", do="Leave coins out: then the noise is private."
        )
    return at.elsewhere.ask(question, plan, price=price, warrant=at.warrant, fresh=fresh)


def _released(stage: Stage, plan: Plan, backend: Backend, coins: Coins) -> Any:
    """What this stage releases. No exact number and no error that saw one leaves this frame.

    A failure to read has the same text as a failure to compute: which of both happened could depend on the rows.
    """
    exact = None
    try:
        exact = _read(stage.reading(), backend, coins)
        return stage.answer(plan, exact, coins=coins)
    except Exception:  # noqa: BLE001 - its text could reveal something about the rows
        del exact
    raise BackendFailure(
        given="The answer could not be computed after the charge, and the reason is withheld because it could reveal "
        "something about the rows.",
        do="Check the data set, or try the question on made-up data; the charge stands, because the data were touched.",
    )


def _read(reading: Any, backend: Backend, coins: Coins) -> Any:
    """What a reading describes; of several, each with a salt of its own, so that the caps of each are proved alone."""
    if isinstance(reading, tuple):
        return tuple(_read(each, backend, coins) for each in reading)
    return backend.read(reading, salt=coins.bits(63))
