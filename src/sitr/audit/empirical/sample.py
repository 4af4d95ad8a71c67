"""Many answers of a mechanism to one input, as numbers and labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sitr.namespace import Later

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Later("numpy")

LONGEST = 32
"""Numbers of one answer that are looked at one by one; the end of a longer one is seen as a whole."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Answers to one input, in the order in which they were drawn."""

    numbers: NDArray[np.float64]
    """One row for each answer, NaN where it has no number; a missing number at the end of a shorter answer, too."""
    labels: NDArray[np.object_] | None = None
    """Each answer as text, where its numbers do not say everything."""
    seconds: NDArray[np.float64] | None = None
    """How long each answer took, if that was measured."""

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, part: slice) -> Sample:
        labels = None if self.labels is None else self.labels[part]
        seconds = None if self.seconds is None else self.seconds[part]
        return Sample(self.numbers[part], labels, seconds)

    @classmethod
    def of(cls, answers: Any, *, seconds: Sequence[float] | None = None) -> Sample:
        """The answers of an array, or of any sequence of numbers, texts, tuples, None, …

        >>> Sample.of([1, 2.5]).numbers.tolist(), Sample.of([(1, 2), (3,)]).numbers.tolist()
        ([[1.0], [2.5]], [[2.0, 1.0, 2.0], [1.0, 3.0, nan]])
        >>> Sample.of(["a", None]).labels.tolist()
        ["'a'", 'None']
        """
        taken = None if seconds is None else np.asarray(seconds, dtype=np.float64)
        array = answers if isinstance(answers, np.ndarray) else _array(list(answers))
        if array is not None and array.dtype.kind in "fiub":
            rows = array.reshape(len(array), -1)
            numbers = rows.astype(np.float64)
            lossless = (array.dtype.kind == "f" and array.dtype.itemsize <= 8) or bool(np.all(np.abs(numbers) < 2**53))
            labels = None if lossless else _labels(map(tuple, rows.tolist()))
            return cls(numbers if numbers.shape[1] <= LONGEST else _cut(numbers), labels, taken)
        objects = list(array.tolist() if isinstance(answers, np.ndarray) else answers)
        return cls(_numbers(objects), _labels(objects), taken)


def _cut(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first numbers of each row, the sum of the others, and a number that depends on every bit of the row."""
    mixed = np.zeros(len(numbers), dtype=np.uint64)
    for column in np.ascontiguousarray(numbers.T).view(np.uint64):
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    whole = (mixed >> np.uint64(12)).astype(np.float64)
    first = numbers[:, : LONGEST - 2]
    return np.column_stack([first, np.sum(numbers[:, LONGEST - 2 :], axis=1), whole])


def joined(samples: Sequence[Sample]) -> Sample:
    """Several samples after one another."""
    if len(samples) == 1:
        return samples[0]
    if any(each.labels is not None for each in samples):
        samples = [each if each.labels is not None else _labelled(each) for each in samples]
    width = max(each.numbers.shape[1] for each in samples)
    numbers = np.concatenate([_wide(each.numbers, width) for each in samples])
    labels = None if samples[0].labels is None else np.concatenate([each.labels for each in samples])  # type: ignore[misc]
    timed = all(each.seconds is not None for each in samples)
    return Sample(numbers, labels, np.concatenate([each.seconds for each in samples]) if timed else None)  # type: ignore[misc]


def alike(first: Sample, second: Sample) -> tuple[Sample, Sample]:
    """Two samples with the same columns."""
    both = joined([first, second])
    return both[slice(0, len(first))], both[slice(len(first), len(both))]


def _labelled(sample: Sample) -> Sample:
    return Sample(sample.numbers, _labels(map(tuple, sample.numbers.tolist())), sample.seconds)


def _wide(numbers: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    missing = width - numbers.shape[1]
    return np.pad(numbers, ((0, 0), (0, missing)), constant_values=math.nan) if missing else numbers


def _array(answers: list[Any]) -> NDArray[Any] | None:
    """All answers as one array of numbers; None if they are none."""
    if any(
        not isinstance(each, int | float | np.number | np.bool_ | tuple | list | np.ndarray) for each in answers[:9]
    ):
        return None
    try:
        found = np.asarray(answers)
    except (ValueError, TypeError, OverflowError):
        return None
    return found if found.dtype.kind in "fiub" and found.ndim <= 2 else None


def _numbers(objects: list[Any]) -> NDArray[np.float64]:
    """A column for answers that are numbers; for lists, their lengths and their first elements."""
    if not any(isinstance(each, tuple | list | np.ndarray) for each in objects):
        return np.array([[_number(each)] for each in objects], dtype=np.float64).reshape(len(objects), 1)
    rows = [list(each) if isinstance(each, tuple | list | np.ndarray) else [each] for each in objects]
    width = min(LONGEST, max(map(len, rows)))
    cut = [[float(len(row)), *map(_number, row[:width]), *[math.nan] * (width - len(row))] for row in rows]
    return np.array(cut, dtype=np.float64)


def _number(value: Any) -> float:
    try:
        return float(value) if not isinstance(value, str | bytes) else math.nan
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _labels(objects: Iterable[Any]) -> NDArray[np.object_]:
    found = [repr(each) for each in objects]
    labels = np.empty(len(found), dtype=np.object_)
    labels[:] = found
    return labels
