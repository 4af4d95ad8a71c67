"""The sentences about joins of protected tables, in English."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.ledger.receipt import Paid
from sitr.report.figures import counted, visible
from sitr.report.words.notation import notation


@dataclass(frozen=True, slots=True)
class JoinWords:
    """What joins of protected tables read, protect and cost."""

    def met(self, most: int, /) -> str:
        """How many rows can be matched."""
        return (
            f"At most {counted(most, 'row')} of each person in each table can be matched; rows beyond that are left "
            "out at random. From how many people they are left out is not measured."
        )

    def protected(self, names: Sequence[str], /) -> str:
        """Whom the promise protects where several tables are joined."""
        *first, last = map(visible, names)
        return (
            f"The question joins the protected tables {', '.join(first)} and {last}. The promise holds for a person's "
            "rows in each of them, and in all of them together."
        )

    def paid(self, paid: Paid, /) -> str:
        """What was charged to another budget, and what is left of it."""
        left, whole = notation(paid.standing.remaining(), left=True), notation(paid.standing.promise)
        return (
            f"{visible(paid.dataset)}, entry {paid.entry.number}: {notation(paid.entry.price)}; {left} of {whole} left"
        )

    def would_pay(self, dataset: str, charge: Kept, now: Filter, then: Filter | None, /) -> str:
        """What would be charged to another budget; `then` is None if it cannot pay."""
        left, charged = notation(now.remaining(), left=True), notation(charge)
        if then is None:
            return f"{visible(dataset)}: {charged}, but only {left} is left"
        return f"{visible(dataset)}: {charged}; {left} left now, {notation(then.remaining(), left=True)} then"

    def explained(self, name: str, on: str, most: int, outer: bool, /) -> str:
        """What is matched, in the tree of a question."""
        rows = f"at most {counted(most, 'row')} of each person in each table"
        kept = ", and rows without a match" if outer else ""
        return f"rows of the same person in {visible(name)} where {visible(on)}: {rows}{kept}"
