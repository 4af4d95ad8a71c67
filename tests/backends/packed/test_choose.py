"""The border of each owner is the same whether few hashes are sorted or all of them."""

from __future__ import annotations

import numpy as np
import pytest

from sitr.backends.packed import choose
from sitr.backends.packed.choose import lowest
from sitr.backends.packed.hashes import Words


def by_hand(hashed: Words, sizes: list[int], most: int) -> list[bool]:
    kept, first = [], 0
    for size in sizes:
        own = (hashed[first : first + size] >> np.uint64(64 - choose.HASH_BITS)).tolist()
        border = sorted(own)[most]
        kept += [each < border for each in own]
        first += size
    return kept


@pytest.mark.parametrize("most", [1, 3, 40])
@pytest.mark.parametrize("sizes", [[5_000], [50, 20_000, 41], [2_000] * 7, [41] * 30])
@pytest.mark.parametrize("shift", [0, 24, 40, 63])
def test_lowest_is_a_loop_over_owners(most: int, sizes: list[int], shift: int) -> None:
    """Also where hashes are not even: all near 0, where equal ones are many, or all but a few far above it."""
    chance = np.random.default_rng(most * len(sizes) + shift)
    hashed = chance.integers(0, 2**64, sum(sizes), dtype=np.uint64)
    for uneven in (hashed, hashed >> np.uint64(shift), ~(hashed >> np.uint64(shift))):
        assert lowest(uneven, np.array(sizes), most).tolist() == by_hand(uneven, sizes, most)


def test_few_hashes_are_sorted_where_owners_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = np.random.default_rng(1).integers(0, 2**64, 100_000, dtype=np.uint64)
    sorted_: list[int] = []
    usual = np.sort

    def noted(array: Words) -> Words:
        sorted_.append(len(array))
        return usual(array)

    monkeypatch.setattr(np, "sort", noted)
    lowest(hashed, np.array([60_000, 40_000]), 10)
    assert sorted_[0] < 400
    lowest(~(hashed >> np.uint64(30)), np.array([60_000, 40_000]), 10)
    assert sorted_[1] == 100_000
