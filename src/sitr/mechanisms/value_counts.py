"""Values with their counts, as arrays: a mapping of millions of numbers that costs no object for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
else:  # a preview draws nothing
    np = Later("numpy")


class ValueCounts(Mapping[int, int]):
    """How often each value occurs.

    >>> import numpy as np
    >>> found = ValueCounts(np.array([2, 5]), np.array([1, 3]))
    >>> found[5], found == {2: 1, 5: 3}, found | ValueCounts(np.array([5, 9]), np.array([1, 1]))
    (3, True, ValueCounts({2: 1, 5: 4, 9: 1}))
    """

    __slots__ = ("counts", "numbers")

    def __init__(self, numbers: Integers, counts: Integers) -> None:
        """The values in growing order, each once, and the count of each."""
        self.numbers, self.counts = numbers, counts

    def __getitem__(self, value: int) -> int:
        place = int(np.searchsorted(self.numbers, value))
        if place == len(self.numbers) or self.numbers[place] != value:
            raise KeyError(value)
        return int(self.counts[place])

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers.tolist())

    def __len__(self) -> int:
        return len(self.numbers)

    def __or__(self, other: ValueCounts) -> ValueCounts:
        """The counts of both together."""
        numbers, counts = (
            np.concatenate(both) for both in ((self.numbers, other.numbers), (self.counts, other.counts))
        )
        order = np.argsort(numbers, kind="stable")
        return ValueCounts(*merged(numbers[order], counts[order]))

    def __repr__(self) -> str:
        return f"ValueCounts({dict(self)})"

    def within(self, low: int, high: int) -> tuple[Integers, Integers]:
        """The values clamped to these bounds, each once, and their counts."""
        return merged(np.clip(self.numbers, low, high), self.counts)


def merged(numbers: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """Equal neighbours become one value with the sum of their counts.

    >>> import numpy as np
    >>> [each.tolist() for each in merged(np.array([1, 1, 4]), np.array([2, 3, 1]))]
    [[1, 4], [5, 1]]
    """
    if not len(numbers):
        return numbers, counts
    first = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    return numbers[first], np.add.reduceat(counts, first)
