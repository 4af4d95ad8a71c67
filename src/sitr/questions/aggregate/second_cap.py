"""How many rows the caps leave out, counted up to a second public cap on the rows of each person.

Let a person have n selected rows, of which at most κ are kept: in each group that counts, at most m of them, and at
most N in all where that is capped too. Without another bound, what is left out of one person has none. With a public
C, the person adds

    a = min(max(min(n, C) − κ, 0), r),  or 0 where no row of the person is kept,

and the number of rows left out is at least Σa over all people: exactly that, if nobody has more than C rows.

**Claim.** With or without one person, Σa moves by at most r; the same where one person takes the place of another.

*Proof.* n and κ are functions of this person's rows and the salt alone (claim 1 of `sitr.backends.reading`), so all
others add what they did before. A person adds a number in [0, r], and two such numbers differ by at most r.

**The least r that changes nothing.** If a group can be left out, r = C − min(k, m), and else r = C − m.

*Proof.* Let n > κ, as otherwise a = 0; then κ ≥ min(k, m). For if the person has at most k groups, either all their
rows are kept in each of them, so that only the cap N cuts and κ = N ≥ m, or one of them keeps m. If they have more, k
groups are chosen with a row each, so κ ≥ min(k, N), and k ≤ N. In the second case no group is left out by the cap on
groups, so some group keeps m rows, or N ≥ m rows are kept in all. Two equal hashes can make κ smaller, with a
probability of about 2⁻⁶⁴ for each pair; the minimum with r keeps the claim true then, too.
"""

from __future__ import annotations

from sitr.dataclass import dataclass
from sitr.neighbors.distance import Distance
from sitr.neighbors.relation import Relation
from sitr.sensitivity.bounded import bounded

LOST = "rows left out"
"""The name of the measurement."""


@dataclass(frozen=True, slots=True)
class SecondCap:
    """Of each person, at most `rows` rows are looked at, and at most `most` rows that were left out are counted."""

    rows: int
    most: int

    def distance(self, changes: Relation) -> Distance:
        """How far one unit moves the number of rows left out.

        >>> SecondCap(rows=200, most=160).distance(Relation.ADD_REMOVE).l1
        160
        """
        return bounded(low=0, high=self.most, groups=1, cells=1, relation=changes)


def second_cap(rows: int, *, groups: int, each: int, cuts_groups: bool) -> SecondCap:
    """The second cap of a question whose caps are `groups` and `each` row in one of them.

    >>> second_cap(200, groups=3, each=40, cuts_groups=False)
    SecondCap(rows=200, most=160)
    >>> second_cap(200, groups=3, each=40, cuts_groups=True)
    SecondCap(rows=200, most=197)
    """
    return SecondCap(rows, rows - (min(groups, each) if cuts_groups else each))
