"""What must be allowed before a charge, besides the budget itself: sub-budgets, rules, and requests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sitr.flavors.arrows import Kept
from sitr.ledger.entry import Warrant
from sitr.ledger.spent import Spent

if TYPE_CHECKING:
    from sitr.ledger.book import Page


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge that is about to be made."""

    dataset: str
    price: Kept
    """In the flavor of the budget."""
    question: str
    plan: str
    description: str
    warrant: Warrant


def check(page: Page, spent: Spent, charge: Charge) -> None:
    """Refuse a charge that is not allowed. `spent` is what is known of its account."""
    warrant, rules = charge.warrant, spent.rules
    rules.check_price(charge.price)
    if rules.questions:
        rules.check_rate(_earlier(page, charge.dataset, rules.questions), datetime.now(UTC))
    if spent.shares or warrant.share:
        spent.tree(charge.dataset).charge(warrant.share, charge.price)


def _earlier(page: Page, dataset: str, back: int) -> datetime | None:
    """When the charge was made that is so many charges ago; None if there were fewer."""
    nth = "SELECT at FROM entries WHERE dataset = ? ORDER BY number DESC LIMIT 1 OFFSET ?"
    row = page.connection.execute(nth, (dataset, back - 1)).fetchone()
    return None if row is None else datetime.fromisoformat(row["at"])


def columns(warrant: Warrant) -> dict[str, object]:
    """What an entry holds of an warrant."""
    return {"share": warrant.share or None}
