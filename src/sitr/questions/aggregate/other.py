"""One more row for everything whose key is not shown: "other".

It is not free by itself: a key that crosses the threshold moves its whole count from one row to another, so the exact
remainder beside noisy rows would reveal it. It is measured after the shown keys are fixed, with noise of its own.

**Claim: given the shown keys, the cells that are shown and the other rows lose no more than all cells would.** Which
keys are shown is paid by the threshold. For each possible set S of them, the cells in S and the sums over all cells
outside S are fixed functions of the table, so what is left is to hide them with noise (adaptive composition).

A unit has at most k cells, after the caps, and moves each by a number of at most M. The noise is drawn for a vector.

- *Sums of sizes (ℓ1).* Each cell of a unit is in one coordinate, its own or that of an other row. Adding up cells never
  makes the sum of the sizes of the differences larger: ‖·‖₁ ≤ kM, as without other rows.
- *Euclidean lengths (ℓ2).* Adding up could make kM out of √k·M. Imagine k coordinates for each other row, and let the
  i-th of a unit's cells that belong to this row count in the i-th of them. Then a unit touches at most k coordinates
  altogether, each by at most M, exactly as it touches cells: ‖·‖₂² ≤ kM². A row that is replaced touches k coordinates
  and k others, as before. Each of the k coordinates gets noise, and their sum is what is shown: post-processing. Noise
  does not depend on the numbers it is added to, so the sum with the noises of k coordinates has the same law, and no
  cell has to be assigned to any of them.

The bars of a histogram are k such coordinates for each bar, and a unit's cell touches the bars of one of the k: the
vector of a cell moves by at most c in ℓ1, as before.

So the row costs nothing beyond the noise of the cells, and its own noise is that of one number, or of k numbers.

What adds up over groups can be in this row: rows and sums. A person with rows of two keys that are both left out would
count twice as a person, and different values twice as values; quantiles do not add up at all. These are refused, people
and their totals only if a person may have several groups. The shares of people from whom something was left out are
shares of pairs of a person and a key in this row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from itertools import product
from typing import TypeAlias

from sitr.dataset.schema import Key
from sitr.errors import QuestionError
from sitr.mechanisms.additive import Noise
from sitr.mechanisms.mechanism import Mechanism
from sitr.questions.aggregate.bind import BoundedQuery, Cells
from sitr.questions.aggregate.functions.over import windows_of
from sitr.questions.aggregate.keys import selected
from sitr.questions.aggregate.quantity import Distinct, Quantity, Rank
from sitr.questions.aggregate.term import Term

OTHER = "other"
"""The name of the column that says whether a row is for all keys that are not shown."""


class Rest(Enum):
    """What stands in place of a key in a row for all keys that are not shown."""

    OTHER = "other"


RowKey: TypeAlias = tuple[Key | Rest, ...]
"""The key of a row of an answer."""


def with_other(query: BoundedQuery) -> BoundedQuery:
    """The same question, with one more row for everything whose key is not shown."""
    if query.known:
        raise QuestionError(
            given="The keys of this question are listed, and rows with other keys are not read.",
            do="Ask without other=True (--other), or list the missing keys.",
        )
    names = [*(key.name for key in query.keys), *(name for name, _ in query.shown)]
    if OTHER in (name.lower() for name in names):
        raise QuestionError(
            given=f"A column of the answer has the name {OTHER}, which marks the row for all other keys.",
            do="Name it with AS.",
        )
    if windowed := [name for name, column in query.shown if windows_of(column)]:
        raise QuestionError(
            given=f"The row for other keys cannot have {windowed[0]}, which follows from the rows of an answer.",
            do="Compute it from the answer, which costs nothing.",
        )
    for term in query.shown_terms:
        if why := _not_additive(term, several=query.max_groups > 1):
            raise QuestionError(
                given=f"The row for other keys cannot have {term.name}, because {why}.",
                do="Ask for it in another question, without other=True (--other)."
                if isinstance(term, Rank | Distinct)
                else "Set max_groups=1 (--max-groups 1), or ask for it in another question.",
            )
    return replace(query, other=True)


def _not_additive(term: Quantity, *, several: bool) -> str:
    """Why a term of several groups together is not the sum of its groups; empty if it is."""
    match term:
        case Rank():
            return "quantiles of several groups do not add up"
        case Distinct():
            return "several groups may have the same value"
        case Term(people=True) | Term(total=True) if several:
            return "a person may have several of these keys"
    return ""


def other_keys(query: BoundedQuery) -> tuple[RowKey, ...]:
    """The keys of the rows for all keys that are not shown: one for each combination of public keys beside them."""
    if not query.other:
        return ()
    choices: list[Sequence[Key | Rest]] = [
        (Rest.OTHER,) if place in query.selected else key.keys or () for place, key in enumerate(query.keys)
    ]
    return tuple(product(*choices))


def other_cells(query: BoundedQuery, cells: Cells, shown: Sequence[tuple[Key, ...]]) -> list[tuple[int, ...]]:
    """For each of these rows the exact integer of each term, summed over all cells that are not shown."""
    width, chosen = len(query.terms), {selected(query, key) for key in shown}
    sums = {key: [0] * width for key in other_keys(query)}
    for key, numbers in cells.items():
        if selected(query, key) in chosen or not query.other:
            continue
        row = tuple(Rest.OTHER if place in query.selected else part for place, part in enumerate(key))
        sums[row] = [total + number for total, number in zip(sums[row], numbers[:width], strict=True)]
    return [tuple(numbers) for numbers in sums.values()]


def draws(query: BoundedQuery, mechanism: Mechanism) -> int:
    """How many draws of its noise the number of another row has: k where the sensitivity is Euclidean, otherwise 1."""
    return query.max_groups if isinstance(mechanism, Noise) and mechanism.euclidean else 1


def spread(numbers: Sequence[int], many: int) -> Iterator[int]:
    """Each number with as many coordinates as it has draws of noise; all but the first are 0."""
    return (part for number in numbers for part in (number, *[0] * (many - 1)))


def gathered(numbers: Sequence[int], many: int) -> list[int]:
    """The sums of as many coordinates each.

    >>> gathered(list(spread([5, 7], 3)), 3)
    [5, 7]
    """
    return [sum(numbers[first : first + many]) for first in range(0, len(numbers), many)]
