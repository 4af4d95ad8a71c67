"""Which rows an answer has: every public key, and of the other keys those that enough people have.

Where some keys are public and others are not, only the others are selected, each combination of them once, by its
number of people. A combination that is shown has a row for every public key beside it, whether the data hold it or not.
So which rows there are is a function of the numbers of people with noise, and of public things.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from itertools import product
from typing import Any

from sitr.dataset.schema import Key
from sitr.mechanisms.gaussian_threshold import GaussianThreshold
from sitr.mechanisms.partition import PartitionSelection
from sitr.mechanisms.threshold import Threshold
from sitr.noise.coins import Coins
from sitr.questions.aggregate.bind import BoundedQuery, Cells

KeyThreshold = Threshold | GaussianThreshold | PartitionSelection
"""The mechanisms that decide which keys are shown."""


def shown_keys(
    query: BoundedQuery, threshold: KeyThreshold | None, cells: Cells, *, coins: Coins
) -> tuple[tuple[tuple[Key, ...], ...], tuple[int, ...]]:
    """The keys of the rows, in order: public keys as they were declared, and other keys sorted.

    And the noisy numbers of people with which a threshold selected them; empty if there is none, or a row for each
    public key beside the selected ones.
    """
    if threshold is None:
        return tuple(product(*(key.keys for key in query.keys if key.keys is not None))), ()
    people = number_of_people(query, cells)
    candidates = in_order(people)
    found = threshold.release([people[each] for each in candidates], coins=coins)
    # A threshold tells the noisy number of people or None, and the optimal selection tells True or False.
    passed = {each: number for each, number in zip(candidates, found, strict=True) if number not in (None, False)}
    keys = beside(query, passed)
    if isinstance(threshold, PartitionSelection) or len(query.selected) < len(query.keys):
        return keys, ()
    return keys, tuple(int(passed[selected(query, key)] or 0) for key in keys)


def number_of_people(query: BoundedQuery, cells: Cells) -> dict[tuple[Key, ...], int]:
    """The exact number of people for each combination of the selected keys that the data hold."""
    found: dict[tuple[Key, ...], int] = {}
    for key, numbers in cells.items():
        some = selected(query, key)
        found[some] = found.get(some, 0) + numbers[-1]
    return found


def selected(query: BoundedQuery, key: tuple[Key, ...]) -> tuple[Key, ...]:
    """The part of a key that is selected."""
    return tuple(key[place] for place in query.selected)


def beside(query: BoundedQuery, shown: Iterable[tuple[Key, ...]]) -> tuple[tuple[Key, ...], ...]:
    """These combinations of the selected keys, each with every combination of the public keys beside them."""
    numbered = {place: number for number, place in enumerate(query.selected)}
    choices = [(None,) if place in numbered else key.keys or () for place, key in enumerate(query.keys)]
    ranks = [{key: rank for rank, key in enumerate(some)} for some in choices]
    whole = [
        tuple(some[numbered[place]] if place in numbered else part for place, part in enumerate(public))
        for some in shown
        for public in product(*choices)
    ]

    def order(key: tuple[Key, ...]) -> tuple[Any, ...]:
        return tuple(_order(part) if place in numbered else ranks[place][part] for place, part in enumerate(key))

    return tuple(sorted(whole, key=order))


def in_order(keys: Iterable[tuple[Key, ...]]) -> list[tuple[Key, ...]]:
    """The keys sorted by value, NULL last, so that their order does not depend on the order of the rows."""
    return sorted(keys, key=lambda key: tuple(map(_order, key)))


def _order(part: Key) -> tuple[bool, str | int]:
    """Dates sort by their text, which has the same order. A missing part is compared with missing ones only."""
    match part:
        case None:
            return True, 0
        case date():
            return False, part.isoformat()
    return False, part
