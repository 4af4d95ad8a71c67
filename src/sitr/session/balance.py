"""What a budget promises, what was spent of it, and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.accounting.filter import Filter
from sitr.flavors.arrows import Kept
from sitr.ledger.entry import Entry
from sitr.namespace import Later
from sitr.session.desk import Desk
from sitr.session.team import Shared

if TYPE_CHECKING:
    from sitr.accounting import anytime
    from sitr.accounting.anytime import Reading
    from sitr.accounting.in_advance import InAdvance
    from sitr.session import in_advance as fixed
else:  # they know all theorems, and most who look at a budget need none
    anytime = Later("sitr.accounting.anytime")
    fixed = Later("sitr.session.in_advance")


class Balance(Shared):
    """What a budget promises, has spent and has left."""

    __slots__ = ()
    _at: Desk

    def standing(self) -> Filter:
        """The promise and all charges so far, of the data set: also where questions are charged to a sub-budget."""
        return self._at.ledger.standing(self._at.account)

    def in_advance(self, *, most: int | None = 64) -> InAdvance | None:
        """The tightest total of all charges if their questions and prices had been fixed in advance; None before one.

        It composes the exact losses of kept plans. The budget does not use it: it is no promise for questions that were
        chosen after answers. More different plans than `most` are not added up; None is no limit.
        """
        return fixed.in_advance(self._at.ledger, self._at.account, most=most)

    def odometer(self) -> Reading | None:
        """What a budget without a cap has recorded, and what that promises at any moment; None if it has a cap."""
        return anytime.reading(self.standing())

    @property
    def promise(self) -> Kept:
        """What is guaranteed for all answers together."""
        return self.standing().promise

    def remaining(self) -> Kept:
        """What is left; of a sub-budget, the most that can be charged to it now."""
        share = self._at.warrant.share
        return self.accounts().left(share) if share else self.standing().remaining()

    def entries(self) -> list[Entry]:
        """All charges, oldest first."""
        return self._at.ledger.entries(self._at.account)
