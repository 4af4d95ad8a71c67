"""How whoever asks wants a price to be divided among the columns of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

from sitr import arguments
from sitr.dataclass import dataclass
from sitr.errors import QuestionError, unknown_name
from sitr.numbers import Number, finite


@dataclass(frozen=True, slots=True)
class Weights:
    """The share of each column, relative to the others. A column without a weight has the weight 1."""

    by: tuple[tuple[str, Fraction], ...]

    def of(self, name: str) -> Fraction:
        """The weight of a column."""
        return dict(self.by).get(name, Fraction(1))


@dataclass(frozen=True, slots=True)
class Targets:
    """The error that each column should have; of cells with at least `rows` rows, if this is given.

    The price decides how far errors are from their targets, and the shares are such that all are equally far.
    """

    by: tuple[tuple[str, Fraction], ...]
    rows: int | None = None


Split: TypeAlias = Weights | Targets


def weights_of(given: Mapping[str, Number], columns: Iterable[str]) -> Weights:
    """These weights, checked against the columns of an answer."""
    return Weights(_checked(given, columns, what="the weight"))


def targets_of(given: Mapping[str, Number], columns: Iterable[str], *, rows: int | None = None) -> Targets:
    """These targets, checked: every column has one."""
    if rows is not None and (type(rows) is not int or rows < 1):
        raise QuestionError(
            wanted="a whole number of rows", given=f"rows={rows!r}", do="Leave rows out, or write rows=1000."
        )
    names = list(columns)
    found = _checked(given, names, what="the target")
    if missing := [name for name in names if name not in given]:
        raise QuestionError(
            given=f"There is no target for {', '.join(missing)}.",
            do="Give the error that each column should have, or use weights.",
        )
    return Targets(found, rows)


def _checked(given: Mapping[str, Number], columns: Iterable[str], *, what: str) -> tuple[tuple[str, Fraction], ...]:
    arguments.mapping(given, name=f"{what.removeprefix('the ')}s", example='{"n": 1, "total": 4}')
    names, found = list(columns), []
    for name, number in given.items():
        if name not in names:
            raise unknown_name(name, names, lacks="The answer has no column")
        size = finite(number)
        if size is None or size <= 0:
            raise QuestionError(
                wanted=f"a number above 0 for {what} of {name}", given=repr(number), do="Write for example 4."
            )
        found.append((name, size))
    return tuple(sorted(found))
