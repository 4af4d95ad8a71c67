"""The values that a statement takes beside its text."""

from __future__ import annotations

from dataclasses import dataclass, field

from sitr.questions.aggregate.spelling import Value


@dataclass(frozen=True, slots=True)
class Bound:
    """The parameters of one statement, in the order in which its text was written.

    A server must never find a user's value in the text of a statement, because a text could end its own quotes. A
    dialect of such an engine writes a placeholder with the number that `add` gives, and one `Bound` belongs to one
    statement.

    >>> bound = Bound()
    >>> bound.add("O'Brien"), bound.add(3), bound.add("O'Brien"), bound.values
    (0, 1, 0, ["O'Brien", 3])
    """

    values: list[Value] = field(default_factory=list)

    def add(self, value: Value) -> int:
        """The number of a value; equal values of the same type share one."""
        for number, known in enumerate(self.values):
            if type(known) is type(value) and known == value and repr(known) == repr(value):
                return number
        self.values.append(value)
        return len(self.values) - 1
