"""The door: the one function that spends budget and touches rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sitr.backends.backend import Backend, check_unchanged
from sitr.errors import BackendFailure, IncompatiblePromises
from sitr.flavors.arrows import Kept, kept
from sitr.flavors.promise import Promise
from sitr.ledger.receipt import Receipt
from sitr.namespace import Later
from sitr.noise.coins import Coins, Keystream, system_coins
from sitr.plans.plan import Plan
from sitr.questions.question import Question, Stage
from sitr.session.desk import Desk

if TYPE_CHECKING:
    from sitr.session import kept as files
else:  # it knows all kinds of answers, and a preview keeps none
    files = Later("sitr.session.kept")

Then = Callable[[Any, Receipt], Stage]
"""Makes the second stage of a question from the answer to the first, which is public by then."""


def ask(
    question: Question, price: Promise, *, at: Desk, coins: Coins | None = None, then: Then | None = None
) -> tuple[Any, Receipt]:
    """Charge the price, durably; then read the rows; then add the noise; then keep what is released. Always so.

    Whatever a user may do wrong is refused before the charge. Whatever happens after it is one error with one text,
    because its cause could reveal something about the rows.

    Some questions have a second stage, whose measurements are in the same plan and paid by the same charge. `then`
    makes it, once, from what the first stage released and kept. If the second stage fails, its price is lost.
    """
    plan = question.plan(checked(price))
    plan.check()
    check_unchanged(at.backend, at.table)
    tossed = coins if coins is not None else system_coins()
    entry, standing = at.ledger.charge(at.account, price=plan.price, question=plan.text)
    # Only the keystream itself counts as private: other coins may claim what they like.
    receipt = Receipt(at.table.name, at.table.neighbors(), entry, standing, type(tossed) is Keystream)
    released = _released(question, plan, at.backend, tossed)
    receipt = files.keep(at.ledger, receipt, plan, released)
    if then is not None:
        released = _released(then(released, receipt), plan, at.backend, tossed)
        receipt = files.keep(at.ledger, receipt, plan, released)
    return released, receipt


def _released(stage: Stage, plan: Plan, backend: Backend, coins: Coins) -> Any:
    """What this stage releases. No exact number and no error that saw one leaves this frame."""
    exact = None
    try:
        exact = backend.read(stage.reading(), salt=coins.bits(63))
        return stage.answer(plan, exact, coins=coins)
    except BackendFailure:
        raise  # its text is always the same
    except Exception:  # noqa: BLE001 - its text could reveal something about the rows
        del exact
    raise BackendFailure(
        given="The answer could not be computed after the charge, and the reason is withheld because it could reveal "
        "something about the rows.",
        do="Try the question on made-up data; the charge stands, because the data were touched.",
    )


def checked(promise: object) -> Kept:
    """A promise in one of the flavors that budgets are kept in, and of no class that only looks like one."""
    if not kept(promise):
        raise IncompatiblePromises(
            wanted="a promise such as zcdp(0.05): PureDP, ApproximateDP or ZeroConcentratedDP, or RandomDP around one",
            given=f"{promise!r}",
            do="Write for example sitr.ZeroConcentratedDP(rho=0.05).",
        )
    return promise
