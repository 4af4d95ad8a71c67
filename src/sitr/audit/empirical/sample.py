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

_WHOLE = 2**53
"""Below this, floats hold all integers."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Answers to one input, in the order in which they were drawn."""

    numbers: NDArray[np.float64]
    """One row for each answer, NaN where it has no number; a missing number at the end of a shorter answer, too."""
    labels: NDArray[np.object_] | None = None
    """Each answer as text, where its numbers do not say everything."""

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, part: slice) -> Sample:
        labels = None if self.labels is None else self.labels[part]
        return Sample(self.numbers[part], labels)

    @classmethod
    def of(cls, answers: Any) -> Sample:
        """The answers of an array, or of any sequence of numbers, texts, tuples, None, …

        The numbers and the label of an answer depend on this answer alone: what is drawn beside it must not decide how
        it is seen, or equal answers to two inputs could look different.

        >>> Sample.of([1, 2.5]).numbers.tolist(), Sample.of([(1, 2), (3,)]).numbers.tolist()
        ([[1.0], [2.5]], [[1.0, 2.0], [3.0, nan]])
        >>> Sample.of(["a", None, 1]).labels.tolist(), Sample.of([1]).with_labels().labels.tolist()
        (["'a'", 'None', '1.0'], ['1.0'])
        """
        objects = None if isinstance(answers, np.ndarray) else list(answers)
        array = answers if objects is None else _array(objects)
        if array is not None and array.dtype.kind in "fiub":
            numbers = array.reshape(len(array), -1).astype(np.float64)
            lossless = (array.dtype.kind == "f" and array.dtype.itemsize <= 8) or bool(np.all(np.abs(numbers) < _WHOLE))
            if lossless:
                return cls(numbers if numbers.shape[1] <= LONGEST else _cut(numbers))
            objects = [row if isinstance(row, int) else tuple(row) for row in array.tolist()]
        elif objects is None:
            objects = answers.tolist()
        assert objects is not None
        return cls(_numbers(objects), _labels(objects))

    def with_labels(self) -> Sample:
        """The same answers, each also as text."""
        if self.labels is not None:
            return self
        return Sample(self.numbers, _labels(map(tuple, self.numbers.tolist())))

    def like(self, other: Sample) -> Sample:
        """The same answers in the form of other ones: as many numbers, and with labels if those have labels."""
        found = self.with_labels() if other.labels is not None else self
        width = other.numbers.shape[1]
        return Sample(_wide(found.numbers, width)[:, :width], found.labels)


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
        samples = [each.with_labels() for each in samples]
    width = max(each.numbers.shape[1] for each in samples)
    numbers = np.concatenate([_wide(each.numbers, width) for each in samples])
    labels = [each.labels for each in samples if each.labels is not None]
    return Sample(numbers, np.concatenate(labels) if labels else None)


def alike(first: Sample, second: Sample) -> tuple[Sample, Sample]:
    """Two samples with the same columns."""
    both = joined([first, second])
    return both[slice(0, len(first))], both[slice(len(first), len(both))]


def _wide(numbers: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    missing = width - numbers.shape[1]
    return np.pad(numbers, ((0, 0), (0, missing)), constant_values=math.nan) if missing > 0 else numbers


def _array(answers: list[Any]) -> NDArray[Any] | None:
    """All answers as one array of numbers; None if they are none."""
    if any(not isinstance(each, int | float | np.number | np.bool_ | tuple | list | np.ndarray) for each in answers):
        return None
    try:
        found = np.asarray(answers)
    except (ValueError, TypeError, OverflowError):
        return None
    if found.dtype.kind not in "fiub" or found.ndim > 2:
        return None
    # Beside a float, an array would round integers that it otherwise keeps.
    return None if found.dtype.kind == "f" and np.any(np.abs(found) >= _WHOLE) else found


def _numbers(objects: list[Any]) -> NDArray[np.float64]:
    """The numbers of each answer, NaN for parts that are none, and NaN after the end of a shorter one."""
    rows = [list(each) if isinstance(each, tuple | list | np.ndarray) else [each] for each in objects]
    found = [[_number(each) for each in row] for row in rows]
    found = [row if len(row) <= LONGEST else _cut(np.array([row]))[0].tolist() for row in found]
    width = max(1, max(map(len, found), default=1))
    return np.array([row + [math.nan] * (width - len(row)) for row in found], dtype=np.float64).reshape(-1, width)


def _number(value: Any) -> float:
    try:
        return float(value) if not isinstance(value, str | bytes) else math.nan
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _labels(objects: Iterable[Any]) -> NDArray[np.object_]:
    found = [_label(each) for each in objects]
    labels = np.empty(len(found), dtype=np.object_)
    labels[:] = found
    return labels


def _label(value: Any) -> str:
    """One text for one value, whether it was drawn as a number, as an element of an array or beside other things."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple | list | np.ndarray):
        if len(value) > LONGEST and all(map(_plain, value)):  # as in an array, of which no more is kept
            value = _cut(np.array([value], dtype=np.float64))[0].tolist()
        parts = [_label(each) for each in value]
        while len(parts) > 1 and parts[-1] == "nan":  # the end of a shorter answer
            parts.pop()
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
    return repr(float(value)) if _plain(value) else repr(value)


def _plain(value: Any) -> bool:
    """Whether a value is a number that a float holds without loss."""
    if isinstance(value, np.bool_ | np.floating) and value.dtype.itemsize <= 8:
        return True
    return isinstance(value, float) or (isinstance(value, int | np.integer) and abs(int(value)) < _WHOLE)
